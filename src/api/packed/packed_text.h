// PackedText: how a text stands among packed bytes.
//
// What such objects say is mostly one of a few words, said before in the same object, a UUID or a
// hash: such a text takes one or two bytes, or half of its length.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace cdom::api::packed {

// How a text begins: the lower two bits of a number say what it is, and the number above them goes
// with that.
enum class Text : std::uint8_t {
  Literal,  // of so many bytes, which follow
  Word,     // the known word of that number
  Earlier,  // the same as the one that begins at that byte of the object
  Digits,   // hexadecimal ones, two in a byte; then the rest of the text, as a Literal
};

// The number of a word that is known; -1 for another text.
int word_of(std::string_view text);
std::string_view word(std::uint64_t number);

// What a text may begin with that is written in half of its length.
struct Uuid {
  static constexpr std::size_t kLength = 36, kBytes = 16;
};
struct Hash {
  static constexpr std::size_t kLength = 16, kBytes = 8;
};

// Writes the digits that `text` begins with to `bytes`; false when it begins with something else.
template <class Digits>
bool put_digits(std::string_view text, char* bytes);
// The other way round.
template <class Digits>
void get_digits(const char* bytes, char* text);

}  // namespace cdom::api::packed
