// Whole numbers on a command line.
#pragma once

#include <charconv>
#include <concepts>
#include <limits>
#include <string>

#include "compute_domain/base/text.h"

namespace cdom::cli {

template <std::integral T>
inline constexpr T kLeast = std::numeric_limits<T>::min();
template <std::integral T>
inline constexpr T kMost = std::numeric_limits<T>::max();

// Stores it, or gives what is wrong with the text; `because` ends the sentence about a number that
// is outside.
template <std::integral T>
std::string read_number(const std::string& text, T least, T most, T& field,
                        const std::string& because = "") {
  const bool is_negative = text.starts_with('-');
  if (text.size() == is_negative ||
      text.find_first_not_of("0123456789", is_negative) != std::string::npos) {
    return base::cat("\"", text, "\" is not a whole number from ", least, " to ", most);
  }
  T number{};
  const auto error = std::from_chars(text.data(), text.data() + text.size(), number).ec;
  if (error != std::errc() || number < least || number > most) {
    return base::cat(text, " is not from ", least, " to ", most, because);
  }
  field = number;
  return "";
}

}  // namespace cdom::cli
