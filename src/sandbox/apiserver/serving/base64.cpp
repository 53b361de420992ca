#include "sandbox/apiserver/serving/base64.h"

#include <cstdint>

namespace cdom::sandbox::server {

namespace {
constexpr std::string_view kAlphabet =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
}

std::string base64url(std::string_view bytes) {
  std::string out;
  std::uint32_t bits = 0;
  int held = 0;
  for (const char byte : bytes) {
    bits = (bits << 8) | static_cast<unsigned char>(byte);
    for (held += 8; held >= 6; held -= 6) out += kAlphabet[(bits >> (held - 6)) & 63];
  }
  if (held > 0) out += kAlphabet[(bits << (6 - held)) & 63];
  return out;
}

std::optional<std::string> from_base64url(std::string_view text) {
  std::string out;
  std::uint32_t bits = 0;
  int held = 0;
  for (const char letter : text) {
    const auto value = kAlphabet.find(letter);
    if (value == std::string_view::npos) return std::nullopt;
    bits = (bits << 6) | static_cast<std::uint32_t>(value);
    held += 6;
    if (held >= 8) {
      held -= 8;
      out += static_cast<char>((bits >> held) & 0xff);
    }
  }
  return out;
}

}  // namespace cdom::sandbox::server
