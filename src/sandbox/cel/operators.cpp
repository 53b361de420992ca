#include <algorithm>
#include <cmath>
#include <optional>

#include "compute_domain/base/text.h"
#include "sandbox/cel/functions.h"

namespace cdom::sandbox::cel {

namespace {

using Evaluated = base::Result<Value>;
using Arguments = std::span<const Value>;

using base::invalid;

enum class Arithmetic { Add, Subtract, Multiply, Divide, Remainder };

template <Arithmetic op, class Integer>
Evaluated compute_integer(Integer left, Integer right) {
  Integer out = 0;
  if constexpr (op == Arithmetic::Divide || op == Arithmetic::Remainder) {
    if (right == 0)
      return invalid(op == Arithmetic::Divide ? "division by zero" : "modulus by zero");
    // The one quotient that does not fit: the least int by -1.
    if (std::is_signed_v<Integer> && right == static_cast<Integer>(-1)) {
      if (op == Arithmetic::Remainder) return Value(Integer{0});
      if (__builtin_sub_overflow(Integer{0}, left, &out)) return invalid("integer overflow");
      return Value(out);
    }
    return Value(op == Arithmetic::Divide ? left / right : left % right);
  } else {
    const bool overflows = op == Arithmetic::Add        ? __builtin_add_overflow(left, right, &out)
                           : op == Arithmetic::Subtract ? __builtin_sub_overflow(left, right, &out)
                                                        : __builtin_mul_overflow(left, right, &out);
    if (overflows) return invalid("integer overflow");
    return Value(out);
  }
}

template <Arithmetic op>
std::optional<double> compute_double(double left, double right) {
  switch (op) {
    case Arithmetic::Add:
      return left + right;
    case Arithmetic::Subtract:
      return left - right;
    case Arithmetic::Multiply:
      return left * right;
    case Arithmetic::Divide:
      return left / right;
    case Arithmetic::Remainder:
      return std::nullopt;
  }
  return std::nullopt;
}

constexpr std::string_view sign_of(Arithmetic op) {
  constexpr std::string_view kSigns[] = {"+", "-", "*", "/", "%"};
  return kSigns[static_cast<std::size_t>(op)];
}

template <Arithmetic op>
Evaluated arithmetic(Arguments arguments) {
  const Value& left = arguments[0];
  const Value& right = arguments[1];
  if (const auto* a = left.get_if<std::int64_t>(), *b = right.get_if<std::int64_t>(); a && b) {
    return compute_integer<op>(*a, *b);
  }
  if (const auto* a = left.get_if<std::uint64_t>(), *b = right.get_if<std::uint64_t>(); a && b) {
    return compute_integer<op>(*a, *b);
  }
  if (const auto* a = left.get_if<double>(), *b = right.get_if<double>(); a && b) {
    if (const auto value = compute_double<op>(*a, *b)) return Value(*value);
  }
  return no_such_overload(sign_of(op), arguments);
}

Evaluated add(Arguments arguments) {
  const Value& left = arguments[0];
  const Value& right = arguments[1];
  if (left.text() && right.text()) return Value(*left.text() + *right.text());
  if (left.list() && right.list()) {
    List out = *left.list();
    out.insert(out.end(), right.list()->begin(), right.list()->end());
    return Value(std::move(out));
  }
  return arithmetic<Arithmetic::Add>(arguments);
}

Evaluated negate(Arguments arguments) {
  if (const auto* number = arguments[0].get_if<std::int64_t>()) {
    return compute_integer<Arithmetic::Subtract, std::int64_t>(0, *number);
  }
  if (const auto* number = arguments[0].get_if<double>()) return Value(-*number);
  return no_such_overload("-", arguments);
}

Evaluated logical_not(Arguments arguments) {
  if (const auto* flag = arguments[0].get_if<bool>()) return Value(!*flag);
  return no_such_overload("!", arguments);
}

Evaluated equal(Arguments arguments) { return Value(arguments[0] == arguments[1]); }
Evaluated not_equal(Arguments arguments) { return Value(!(arguments[0] == arguments[1])); }

// Numbers of any type, strings and bools; `holds` decides on the outcome.
template <bool (*holds)(std::partial_ordering)>
Evaluated compare(Arguments arguments) {
  const Value& left = arguments[0];
  const Value& right = arguments[1];
  if (left.text() && right.text()) return Value(holds(*left.text() <=> *right.text()));
  if (const auto* a = left.get_if<bool>(), *b = right.get_if<bool>(); a && b) {
    return Value(holds(*a <=> *b));
  }
  const auto order = compare_amounts(left, right);
  const auto is_nan = [](const Value& value) {
    return value.get_if<double>() != nullptr && std::isnan(*value.get_if<double>());
  };
  if (order == std::partial_ordering::unordered && !is_nan(left) && !is_nan(right)) {
    return no_such_overload("<", arguments);
  }
  return Value(holds(order));
}

Evaluated in(Arguments arguments) {
  if (const List* list = arguments[1].list()) {
    return Value(std::ranges::find(*list, arguments[0]) != list->end());
  }
  if (const Map* map = arguments[1].map()) {
    const std::string* key = arguments[0].text();
    return Value(key != nullptr && map->entries.contains(*key));
  }
  return no_such_overload("in", arguments);
}

constexpr Function kOperators[] = {
    {"+", false, 2, add},
    {"-", false, 2, arithmetic<Arithmetic::Subtract>},
    {"*", false, 2, arithmetic<Arithmetic::Multiply>},
    {"/", false, 2, arithmetic<Arithmetic::Divide>},
    {"%", false, 2, arithmetic<Arithmetic::Remainder>},
    {"-", false, 1, negate},
    {"!", false, 1, logical_not},
    {"==", false, 2, equal},
    {"!=", false, 2, not_equal},
    {"<", false, 2, compare<std::is_lt>},
    {"<=", false, 2, compare<std::is_lteq>},
    {">", false, 2, compare<std::is_gt>},
    {">=", false, 2, compare<std::is_gteq>},
    {"in", false, 2, in},
};

}  // namespace

std::span<const Function> operators() { return kOperators; }

}  // namespace cdom::sandbox::cel
