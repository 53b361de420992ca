#include "api/protobuf/message_reader.h"

#include <algorithm>

#include "api/json/json_scanner.h"

namespace cdom::api {

bool MessageReader::next() {
  if (is_broken_ || rest_.empty()) return false;
  std::uint64_t tag = 0;
  if (!take_varint(tag)) return broke();
  constexpr unsigned kBitsOfType = 3;
  number_ = tag >> kBitsOfType;
  if (number_ == 0) return broke();
  type_ = static_cast<Type>(tag & 7U);
  switch (type_) {
    case Type::Varint:
      return take_varint(integer_) || broke();
    case Type::Bytes: {
      std::uint64_t size = 0;
      return (take_varint(size) && take_bytes(size)) || broke();
    }
    case Type::Fixed64:
      return take_bytes(8) || broke();
    case Type::Fixed32:
      return take_bytes(4) || broke();
  }
  // A group, which Kubernetes has nowhere.
  return broke();
}

std::string_view MessageReader::bytes() const {
  if (type_ == Type::Bytes) return bytes_;
  broke();
  return {};
}

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

bool MessageReader::take_bytes(std::uint64_t size) {
  if (size > rest_.size()) return false;
  bytes_ = rest_.substr(0, size);
  rest_.remove_prefix(size);
  return true;
}

bool MessageReader::broke() const {
  is_broken_ = true;
  return false;
}

}  // namespace cdom::api
