// Likeness: a piece of bytes, written as what of it is not in a sample.
//
// How it is written: its length; then again and again a byte with two counts, that many new bytes,
// and where the others are found: in the sample, or behind it in the piece itself.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace cdom::base::likeness {

// Sample and piece together at most.
inline constexpr std::size_t kLongest = 20'000;

// Appends `piece` to `out`.
void write(std::string_view sample, std::string_view piece, std::string& out);

// The length of the piece.
std::size_t size_of(std::string_view written);
// Writes its first `count` bytes to `out`; all of them when there are not so many.
void read(std::string_view sample, std::string_view written, std::size_t count, char* out);

}  // namespace cdom::base::likeness
