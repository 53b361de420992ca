#include "http/client/stream/frame_splitter.h"

namespace cdom::http {

namespace {

constexpr std::size_t kBytesOfLength = 4;

std::size_t length_at_start_of(std::string_view bytes) {
  std::size_t length = 0;
  for (const char byte : bytes.substr(0, kBytesOfLength)) {
    length = length << 8U | static_cast<unsigned char>(byte);
  }
  return length;
}

}  // namespace

void FrameSplitter::add(std::string_view piece) {
  bytes_.erase(0, begin_);
  begin_ = 0;
  bytes_ += piece;
}

std::optional<std::string_view> FrameSplitter::next() {
  const std::string_view left = std::string_view(bytes_).substr(begin_);
  if (left.size() < kBytesOfLength) return std::nullopt;
  const std::size_t length = length_at_start_of(left);
  if (left.size() - kBytesOfLength < length) return std::nullopt;
  begin_ += kBytesOfLength + length;
  return left.substr(kBytesOfLength, length);
}

std::string FrameSplitter::rest() {
  std::string rest = bytes_.substr(begin_);
  *this = {};
  return rest;
}

std::size_t FrameSplitter::carried() const {
  const std::string_view left = std::string_view(bytes_).substr(begin_);
  return left.size() < kBytesOfLength ? left.size() : kBytesOfLength + length_at_start_of(left);
}

}  // namespace cdom::http
