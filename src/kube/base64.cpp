#include "kube/base64.h"

#include <cstddef>
#include <cstdint>

namespace cdom::kube {

namespace {

constexpr std::string_view kAlphabet =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

bool is_blank(char c) { return c == '\n' || c == '\r' || c == ' ' || c == '\t'; }

}  // namespace

std::optional<std::string> base64_decoded(std::string_view text) {
  std::string out;
  std::uint32_t bits = 0;
  std::size_t digits = 0;
  std::size_t padding = 0;
  for (const char c : text) {
    if (is_blank(c)) continue;
    if (c == '=') {
      ++padding;
      continue;
    }
    const std::size_t value = kAlphabet.find(c);
    if (value == std::string_view::npos || padding > 0) return std::nullopt;
    bits = (bits << 6U) | static_cast<std::uint32_t>(value);
    if (++digits % 4 == 0) {
      for (const unsigned shift : {16U, 8U, 0U}) out += static_cast<char>((bits >> shift) & 0xFFU);
    }
  }
  // Two digits hold one more byte, three hold two; one holds none.
  const std::size_t rest = digits % 4;
  if (rest == 1 || padding != (4 - rest) % 4) return std::nullopt;
  if (rest == 2) out += static_cast<char>((bits >> 4U) & 0xFFU);
  if (rest == 3) {
    out += static_cast<char>((bits >> 10U) & 0xFFU);
    out += static_cast<char>((bits >> 2U) & 0xFFU);
  }
  return out;
}

std::string base64_encoded(std::string_view bytes) {
  std::string out;
  for (std::size_t at = 0; at < bytes.size(); at += 3) {
    const std::string_view group = bytes.substr(at, 3);
    std::uint32_t bits = 0;
    for (std::size_t i = 0; i < 3; ++i) {
      bits = (bits << 8U) | (i < group.size() ? static_cast<unsigned char>(group[i]) : 0U);
    }
    for (std::size_t i = 0; i < 4; ++i) {
      out += i <= group.size() ? kAlphabet[(bits >> (18U - 6U * i)) & 0x3FU] : '=';
    }
  }
  return out;
}

}  // namespace cdom::kube
