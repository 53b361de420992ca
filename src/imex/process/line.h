// Line: a verb and its fields, as one line of text.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

namespace cdom::imex {

struct Line {
  std::string verb;
  std::map<std::string, std::string, std::less<>> fields;

  // Nothing is written for a value that is the default: "", 0 or false.
  Line& with(std::string_view key, std::string_view value);
  Line& with_number(std::string_view key, std::int64_t value);

  [[nodiscard]] std::string text(std::string_view key) const;
  [[nodiscard]] std::int64_t number(std::string_view key, std::int64_t otherwise = 0) const;
  [[nodiscard]] bool has(std::string_view key) const { return fields.find(key) != fields.end(); }
};

// With the line break.
std::string encode_line(const Line& line);
// Total: what makes no sense is left out.
Line decode_line(std::string_view text);

}  // namespace cdom::imex
