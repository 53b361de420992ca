#include "yaml_scalar.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <nlohmann/json.hpp>
#include <string>

namespace cdom::api {

namespace {

constexpr std::array<std::string_view, 5> kNull = {"", "~", "null", "Null", "NULL"};
constexpr std::array<std::string_view, 11> kTrue = {"y",    "Y",    "yes", "Yes", "YES", "true",
                                                    "True", "TRUE", "on",  "On",  "ON"};
constexpr std::array<std::string_view, 11> kFalse = {"n",     "N",     "no",  "No",  "NO", "false",
                                                     "False", "FALSE", "off", "Off", "OFF"};
constexpr std::array<std::string_view, 12> kNotInJson = {".nan",  ".NaN",  ".NAN",  ".inf",
                                                         ".Inf",  ".INF",  "+.inf", "+.Inf",
                                                         "+.INF", "-.inf", "-.Inf", "-.INF"};

template <std::size_t N>
bool is_in(const std::array<std::string_view, N>& words, std::string_view text) {
  return std::ranges::find(words, text) != words.end();
}

bool is_digit(char c) { return c >= '0' && c <= '9'; }

// Takes 0x, 0o, 0b or the 0 of an octal number off `digits`.
int take_base(std::string_view& digits) {
  if (digits.size() < 2 || digits[0] != '0') return 10;
  const char letter = digits[1];
  const int base = letter == 'x' || letter == 'X' ? 16 : letter == 'b' || letter == 'B' ? 2 : 8;
  digits.remove_prefix(base == 8 && letter != 'o' && letter != 'O' ? 1 : 2);
  return base;
}

std::optional<Json> integer(std::string_view text) {
  const bool is_negative = text.starts_with('-');
  if (is_negative || text.starts_with('+')) text.remove_prefix(1);
  const int base = take_base(text);
  std::uint64_t magnitude = 0;
  const auto [end, error] =
      std::from_chars(text.data(), text.data() + text.size(), magnitude, base);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  if (!is_negative) return Json(magnitude);
  constexpr std::uint64_t kMost = std::uint64_t{1} << 63;
  if (magnitude > kMost) return std::nullopt;
  return Json(static_cast<std::int64_t>(std::uint64_t{0} - magnitude));
}

// [-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?
bool is_float(std::string_view text) {
  const auto skip_digits = [&] {
    const auto end = std::ranges::find_if_not(text, is_digit);
    const auto count = static_cast<std::size_t>(end - text.begin());
    text.remove_prefix(count);
    return count;
  };
  const auto skip_sign = [&] {
    if (text.starts_with('-') || text.starts_with('+')) text.remove_prefix(1);
  };
  skip_sign();
  const std::size_t whole = skip_digits();
  std::size_t fraction = 0;
  if (text.starts_with('.')) {
    text.remove_prefix(1);
    fraction = skip_digits();
  }
  if (whole + fraction == 0) return false;
  if (!text.starts_with('e') && !text.starts_with('E')) return text.empty();
  text.remove_prefix(1);
  skip_sign();
  return skip_digits() > 0 && text.empty();
}

std::optional<Json> number(std::string_view text) {
  if (text.starts_with('+')) text.remove_prefix(1);
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  // Go writes a whole number without a fraction, and so it is an integer for the API server.
  constexpr double kMostExact = 9007199254740992.0;  // 2^53
  if (std::trunc(value) == value && std::abs(value) < kMostExact) {
    return Json(static_cast<std::int64_t>(value));
  }
  return Json(value);
}

}  // namespace

std::optional<Json> resolve_plain_scalar(std::string_view text) {
  if (is_in(kNull, text)) return Json(nullptr);
  if (is_in(kTrue, text)) return Json(true);
  if (is_in(kFalse, text)) return Json(false);
  if (is_in(kNotInJson, text)) return std::nullopt;
  if (is_digit(text[0]) || text[0] == '-' || text[0] == '+' || text[0] == '.') {
    std::string plain(text);
    std::erase(plain, '_');
    if (auto value = integer(plain)) return value;
    if (is_float(plain)) {
      if (auto value = number(plain)) return value;
    }
  }
  return Json(text);
}

}  // namespace cdom::api
