#include "api/protobuf/message_reader.h"

#include <algorithm>

#include "api/json/json_scanner.h"

namespace cdom::api {

void MessageReader::read(std::string& out) const { assign_as_utf8(out, bytes()); }

std::uint64_t MessageReader::integer() const {
  if (type_ == Type::Varint) return integer_;
  broke();
  return 0;
}

bool MessageReader::take_long_varint(std::uint64_t& value) {
  constexpr std::size_t kMostBytes = 10;
  constexpr unsigned kBits = 7;
  value = 0;
  const std::size_t most = std::min(rest_.size(), kMostBytes);
  for (std::size_t i = 0; i < most; ++i) {
    const auto byte = static_cast<unsigned char>(rest_[i]);
    value |= std::uint64_t{byte & 0x7FU} << (kBits * i);
    if (byte < 0x80U) {
      rest_.remove_prefix(i + 1);
      return true;
    }
  }
  return false;
}

}  // namespace cdom::api
