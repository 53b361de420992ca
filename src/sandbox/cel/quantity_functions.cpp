// Kubernetes' CEL libraries for quantities and semantic versions, which share their comparisons.
#include "sandbox/cel/functions.h"

namespace cdom::sandbox::cel {

namespace {

using Evaluated = base::Result<Value>;
using Arguments = std::span<const Value>;

template <class Type>
Evaluated parse(Arguments arguments) {
  if (arguments[0].get_if<Type>() != nullptr) return arguments[0];
  const std::string* text = arguments[0].text();
  if (text == nullptr) return no_such_overload("quantity or semver", arguments);
  auto value = Type::parse(*text);
  if (!value) return value.error();
  return Value(Value::Content(*std::move(value)));
}

template <class Type>
Evaluated is_parsable(Arguments arguments) {
  const std::string* text = arguments[0].text();
  if (text == nullptr) return no_such_overload("isQuantity or isSemver", arguments);
  return Value(Type::parse(*text).has_value());
}

// `outcome` makes the result of the comparison.
template <Value (*outcome)(std::strong_ordering)>
Evaluated compare(Arguments arguments) {
  const auto both = [&]<class Type>(const Type* left) -> std::optional<Value> {
    const auto* right = arguments[1].get_if<Type>();
    if (left == nullptr || right == nullptr) return std::nullopt;
    return outcome(*left <=> *right);
  };
  if (auto value = both(arguments[0].get_if<Quantity>())) return *value;
  if (auto value = both(arguments[0].get_if<Semver>())) return *value;
  return no_such_overload("comparison", arguments);
}

Value as_int(std::strong_ordering order) {
  return Value(std::int64_t{std::is_lt(order) ? -1 : std::is_gt(order) ? 1 : 0});
}
Value as_less(std::strong_ordering order) { return Value(std::is_lt(order)); }
Value as_greater(std::strong_ordering order) { return Value(std::is_gt(order)); }

template <Quantity (*function)(Quantity, Quantity)>
Evaluated arithmetic(Arguments arguments) {
  const auto* left = arguments[0].get_if<Quantity>();
  const auto* right = arguments[1].get_if<Quantity>();
  const auto* number = arguments[1].get_if<std::int64_t>();
  if (left == nullptr || (right == nullptr && number == nullptr)) {
    return no_such_overload("quantity arithmetic", arguments);
  }
  return Value(Value::Content(function(*left, right != nullptr ? *right : Quantity(*number))));
}

Quantity plus(Quantity left, Quantity right) { return left + right; }
Quantity minus(Quantity left, Quantity right) { return left - right; }

template <Evaluated (*function)(const Quantity&)>
Evaluated of_quantity(Arguments arguments) {
  const auto* quantity = arguments[0].get_if<Quantity>();
  if (quantity == nullptr) return no_such_overload("quantity function", arguments);
  return function(*quantity);
}

Evaluated as_integer(const Quantity& quantity) {
  if (quantity.is_integer()) return Value(quantity.value());
  return base::Error{base::ErrorKind::Invalid, "cannot convert value to integer"};
}
Evaluated is_integer(const Quantity& quantity) { return Value(quantity.is_integer()); }
Evaluated as_double(const Quantity& quantity) { return Value(quantity.as_double()); }
Evaluated sign(const Quantity& quantity) { return Value(std::int64_t{quantity.sign()}); }

template <std::size_t which>
Evaluated version_number(Arguments arguments) {
  const auto* version = arguments[0].get_if<Semver>();
  if (version == nullptr) return no_such_overload("semver function", arguments);
  return Value(static_cast<std::int64_t>(version->numbers[which]));
}

constexpr Function kQuantityFunctions[] = {
    {"quantity", false, 1, parse<Quantity>},
    {"isQuantity", false, 1, is_parsable<Quantity>},
    {"semver", false, 1, parse<Semver>},
    {"isSemver", false, 1, is_parsable<Semver>},
    {"compareTo", true, 2, compare<as_int>},
    {"isLessThan", true, 2, compare<as_less>},
    {"isGreaterThan", true, 2, compare<as_greater>},
    {"add", true, 2, arithmetic<plus>},
    {"sub", true, 2, arithmetic<minus>},
    {"asInteger", true, 1, of_quantity<as_integer>},
    {"isInteger", true, 1, of_quantity<is_integer>},
    {"asApproximateFloat", true, 1, of_quantity<as_double>},
    {"sign", true, 1, of_quantity<sign>},
    {"major", true, 1, version_number<0>},
    {"minor", true, 1, version_number<1>},
    {"patch", true, 1, version_number<2>},
};

}  // namespace

std::span<const Function> quantity_functions() { return kQuantityFunctions; }

}  // namespace cdom::sandbox::cel
