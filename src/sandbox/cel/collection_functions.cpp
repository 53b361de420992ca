#include <algorithm>

#include "compute_domain/base/text.h"
#include "compute_domain/base/utf8.h"
#include "sandbox/cel/functions.h"

namespace cdom::sandbox::cel {

namespace {

using Evaluated = base::Result<Value>;
using Arguments = std::span<const Value>;

Evaluated size(Arguments arguments) {
  const auto count = [](std::size_t size) { return Value(static_cast<std::int64_t>(size)); };
  if (const std::string* text = arguments[0].text()) return count(base::count_characters(*text));
  if (const List* list = arguments[0].list()) return count(list->size());
  if (const Map* map = arguments[0].map()) return count(map->entries.size());
  return no_such_overload("size", arguments);
}

Evaluated join(Arguments arguments) {
  const List* list = arguments[0].list();
  const std::string* separator = arguments.size() > 1 ? arguments[1].text() : nullptr;
  if (list == nullptr || (arguments.size() > 1 && separator == nullptr) ||
      !std::ranges::all_of(*list, [](const Value& part) { return part.text() != nullptr; })) {
    return no_such_overload("join", arguments);
  }
  std::vector<std::string> parts;
  for (const Value& part : *list) parts.push_back(*part.text());
  return Value(base::join(parts, separator != nullptr ? *separator : ""));
}

// DRA's membership test that also works on an attribute with one value (KEP-4381).
Evaluated includes(Arguments arguments) {
  const List* list = arguments[0].list();
  if (list == nullptr) return Value(arguments[0] == arguments[1]);
  return Value(std::ranges::find(*list, arguments[1]) != list->end());
}

Evaluated has_value(Arguments arguments) {
  const auto* optional = arguments[0].get_if<Optional>();
  if (optional == nullptr) return no_such_overload("hasValue", arguments);
  return Value(optional->value != nullptr);
}

Evaluated value(Arguments arguments) {
  const auto* optional = arguments[0].get_if<Optional>();
  if (optional == nullptr) return no_such_overload("value", arguments);
  if (optional->value != nullptr) return *optional->value;
  return base::Error{base::ErrorKind::Invalid, "optional.none() dereference"};
}

Evaluated optional_of(Arguments arguments) { return Value::optional_of(arguments[0]); }
Evaluated optional_none(Arguments) { return Value::optional_none(); }

constexpr Function kCollectionFunctions[] = {
    {"size", false, 1, size},
    {"size", true, 1, size},
    {"join", true, 1, join},
    {"join", true, 2, join},
    {"includes", true, 2, includes},
    {"hasValue", true, 1, has_value},
    {"value", true, 1, value},
    {"optional.of", false, 1, optional_of},
    {"optional.none", false, 0, optional_none},
};

}  // namespace

std::span<const Function> collection_functions() { return kCollectionFunctions; }

}  // namespace cdom::sandbox::cel
