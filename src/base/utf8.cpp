#include "compute_domain/base/utf8.h"

#include <algorithm>

namespace cdom::base {

std::size_t character_size(std::string_view text) {
  const auto at = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned first = at(0);
  if (first < 0x80) return 1;
  const std::size_t size = first >= 0xC2 && first <= 0xDF   ? 2
                           : first >= 0xE0 && first <= 0xEF ? 3
                           : first >= 0xF0 && first <= 0xF4 ? 4
                                                            : 0;
  if (size == 0 || text.size() < size) return 0;
  // Neither more bytes than needed, nor surrogates, nor beyond U+10FFFF.
  const unsigned least = first == 0xE0 ? 0xA0 : first == 0xF0 ? 0x90 : 0x80;
  const unsigned most = first == 0xED ? 0x9F : first == 0xF4 ? 0x8F : 0xBF;
  if (at(1) < least || at(1) > most) return 0;
  return std::ranges::all_of(text.substr(2, size - 2), continues_character) ? size : 0;
}

std::size_t count_characters(std::string_view text) {
  return text.size() - static_cast<std::size_t>(std::ranges::count_if(text, continues_character));
}

void append_utf8(std::string& out, std::uint32_t number) {
  const auto byte = [&](std::uint32_t bits) { out += static_cast<char>(bits); };
  const auto tail = [&](unsigned shift) { byte(0x80U | (number >> shift & 0x3FU)); };
  if (number < 0x80) {
    byte(number);
  } else if (number < 0x800) {
    byte(0xC0U | number >> 6U);
    tail(0);
  } else if (number < 0x10000) {
    byte(0xE0U | number >> 12U);
    tail(6);
    tail(0);
  } else {
    byte(0xF0U | number >> 18U);
    tail(12);
    tail(6);
    tail(0);
  }
}

}  // namespace cdom::base
