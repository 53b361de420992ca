#include "sandbox/cel/value.h"

#include <limits>
#include <nlohmann/json.hpp>
#include <optional>

namespace cdom::sandbox::cel {

namespace {

using nlohmann::json;

// long double holds every int64, uint64 and double exactly on the machines we build for.
static_assert(std::numeric_limits<long double>::digits >= 64);

std::optional<long double> amount_of(const Value& value) {
  if (const auto* number = value.get_if<std::int64_t>()) return *number;
  if (const auto* number = value.get_if<std::uint64_t>()) return *number;
  if (const auto* number = value.get_if<double>()) return *number;
  return std::nullopt;
}

}  // namespace

Value::Value(List list) : content_(std::make_shared<const List>(std::move(list))) {}
Value::Value(Map map) : content_(std::make_shared<const Map>(std::move(map))) {}

Value Value::optional_of(Value value) {
  return Value(Content(Optional{std::make_shared<const Value>(std::move(value))}));
}

Value Value::failure(base::Error error) {
  return Value(Content(Failure{std::make_shared<const base::Error>(std::move(error))}));
}

Value Value::from_json(const json& document) {
  switch (document.type()) {
    case json::value_t::boolean:
      return Value(document.get<bool>());
    case json::value_t::number_integer:
      return Value(document.get<std::int64_t>());
    case json::value_t::number_unsigned: {
      const auto number = document.get<std::uint64_t>();
      return number <= static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max())
                 ? Value(static_cast<std::int64_t>(number))
                 : Value(number);
    }
    case json::value_t::number_float:
      return Value(document.get<double>());
    case json::value_t::string:
      return Value(document.get<std::string>());
    case json::value_t::array: {
      List list;
      list.reserve(document.size());
      for (const json& element : document) list.push_back(from_json(element));
      return Value(std::move(list));
    }
    case json::value_t::object: {
      Map map;
      for (const auto& [key, member] : document.items())
        map.entries.emplace(key, from_json(member));
      return Value(std::move(map));
    }
    default:
      return Value();
  }
}

const List* Value::list() const {
  const auto* shared = get_if<std::shared_ptr<const List>>();
  return shared != nullptr ? shared->get() : nullptr;
}

const Map* Value::map() const {
  const auto* shared = get_if<std::shared_ptr<const Map>>();
  return shared != nullptr ? shared->get() : nullptr;
}

std::string_view Value::type_name() const {
  static constexpr std::string_view kNames[] = {"null",     "bool",     "int",    "uint",
                                                "double",   "string",   "list",   "map",
                                                "optional", "quantity", "semver", "error"};
  static_assert(std::size(kNames) == std::variant_size_v<Content>);
  return kNames[content_.index()];
}

std::partial_ordering compare_amounts(const Value& left, const Value& right) {
  const auto left_amount = amount_of(left), right_amount = amount_of(right);
  if (!left_amount || !right_amount) return std::partial_ordering::unordered;
  return *left_amount <=> *right_amount;
}

bool operator==(const Value& left, const Value& right) {
  if (amount_of(left) && amount_of(right)) return std::is_eq(compare_amounts(left, right));
  if (left.content_.index() != right.content_.index()) return false;
  if (const List* list = left.list()) return *list == *right.list();
  if (const Map* map = left.map()) return map->entries == right.map()->entries;
  if (const auto* optional = left.get_if<Optional>()) {
    const auto& other = right.get_if<Optional>()->value;
    if (optional->value == nullptr || other == nullptr) return optional->value == other;
    return *optional->value == *other;
  }
  if (const auto* text = left.text()) return *text == *right.text();
  if (const auto* flag = left.get_if<bool>()) return *flag == *right.get_if<bool>();
  if (const auto* quantity = left.get_if<Quantity>()) {
    return *quantity == *right.get_if<Quantity>();
  }
  if (const auto* version = left.get_if<Semver>()) return *version == *right.get_if<Semver>();
  return left.get_if<std::nullptr_t>() != nullptr;
}

}  // namespace cdom::sandbox::cel
