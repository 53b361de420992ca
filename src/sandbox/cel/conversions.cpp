#include <array>
#include <charconv>
#include <cmath>

#include "compute_domain/base/text.h"
#include "sandbox/cel/functions.h"

namespace cdom::sandbox::cel {

namespace {

using Evaluated = base::Result<Value>;
using Arguments = std::span<const Value>;

using base::invalid;

template <class Number>
Evaluated parsed(const std::string& text, std::string_view type) {
  Number number{};
  const char* end = text.data() + text.size();
  const auto [at, failed] = std::from_chars(text.data(), end, number);
  if (failed != std::errc() || at != end || text.empty()) {
    return invalid(base::cat("type conversion error from '", text, "' to ", type));
  }
  return Value(number);
}

// Whether a double, cut to its integer part, lies in [least, bound).
bool is_between(double number, double least, double bound) {
  return std::trunc(number) >= least && number < bound;
}

Evaluated to_int(Arguments arguments) {
  const Value& value = arguments[0];
  if (value.get_if<std::int64_t>() != nullptr) return value;
  if (const std::string* text = value.text()) return parsed<std::int64_t>(*text, "int");
  if (const auto* number = value.get_if<double>()) {
    if (is_between(*number, -0x1p63, 0x1p63)) return Value(static_cast<std::int64_t>(*number));
    return invalid("integer overflow");
  }
  if (const auto* number = value.get_if<std::uint64_t>()) {
    if (*number >> 63 == 0) return Value(static_cast<std::int64_t>(*number));
    return invalid("integer overflow");
  }
  return no_such_overload("int", arguments);
}

Evaluated to_uint(Arguments arguments) {
  const Value& value = arguments[0];
  if (value.get_if<std::uint64_t>() != nullptr) return value;
  if (const std::string* text = value.text()) return parsed<std::uint64_t>(*text, "uint");
  if (const auto* number = value.get_if<double>()) {
    if (is_between(*number, 0, 0x1p64)) return Value(static_cast<std::uint64_t>(*number));
    return invalid("unsigned integer overflow");
  }
  if (const auto* number = value.get_if<std::int64_t>()) {
    if (*number >= 0) return Value(static_cast<std::uint64_t>(*number));
    return invalid("unsigned integer overflow");
  }
  return no_such_overload("uint", arguments);
}

Evaluated to_double(Arguments arguments) {
  const Value& value = arguments[0];
  if (value.get_if<double>() != nullptr) return value;
  if (const std::string* text = value.text()) return parsed<double>(*text, "double");
  if (const auto* number = value.get_if<std::int64_t>()) return Value(static_cast<double>(*number));
  if (const auto* number = value.get_if<std::uint64_t>()) {
    return Value(static_cast<double>(*number));
  }
  return no_such_overload("double", arguments);
}

Evaluated to_text(Arguments arguments) {
  const Value& value = arguments[0];
  if (value.text() != nullptr) return value;
  if (const auto* flag = value.get_if<bool>()) return Value(*flag ? "true" : "false");
  if (const auto* number = value.get_if<std::int64_t>()) return Value(std::to_string(*number));
  if (const auto* number = value.get_if<std::uint64_t>()) return Value(std::to_string(*number));
  if (const auto* number = value.get_if<double>()) {
    std::array<char, 32> out{};
    const auto [end, failed] = std::to_chars(out.data(), out.data() + out.size(), *number);
    if (failed == std::errc()) return Value(std::string(out.data(), end));
  }
  return no_such_overload("string", arguments);
}

Evaluated to_bool(Arguments arguments) {
  if (arguments[0].get_if<bool>() != nullptr) return arguments[0];
  const std::string* text = arguments[0].text();
  if (text == nullptr) return no_such_overload("bool", arguments);
  for (const std::string_view yes : {"true", "1", "t", "T", "TRUE", "True"}) {
    if (*text == yes) return Value(true);
  }
  for (const std::string_view no : {"false", "0", "f", "F", "FALSE", "False"}) {
    if (*text == no) return Value(false);
  }
  return invalid(base::cat("type conversion error from '", *text, "' to bool"));
}

// CEL's escape from static types, which this engine does not have.
Evaluated dyn(Arguments arguments) { return arguments[0]; }

constexpr Function kConversions[] = {
    {"int", false, 1, to_int},     {"uint", false, 1, to_uint}, {"double", false, 1, to_double},
    {"string", false, 1, to_text}, {"bool", false, 1, to_bool}, {"dyn", false, 1, dyn},
};

}  // namespace

std::span<const Function> conversions() { return kConversions; }

}  // namespace cdom::sandbox::cel
