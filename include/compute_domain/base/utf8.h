// UTF-8 (RFC 3629). Pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace cdom::base {

// What stands for bytes that are of no character: U+FFFD.
inline constexpr std::string_view kReplacementCharacter = "\xEF\xBF\xBD";

// How many bytes the character at the start of `text`, which is not empty, has. 0: it is none, for
// it is cut off, longer than need be, a surrogate, or beyond U+10FFFF.
std::size_t character_size(std::string_view text);
// Whether the byte is of a character that has begun before it.
constexpr bool continues_character(char byte) {
  return (static_cast<unsigned char>(byte) & 0xC0U) == 0x80U;
}
// Of a text that is UTF-8. A terminal shows each of most languages in one column.
std::size_t count_characters(std::string_view text);

// Appends the character of a number of up to 0x10FFFF.
void append_utf8(std::string& out, std::uint32_t number);

}  // namespace cdom::base
