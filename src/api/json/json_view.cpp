#include "json_view.h"

#include <algorithm>
#include <limits>
#include <nlohmann/json.hpp>
#include <vector>

namespace cdom::api {

static_assert(alignof(Json) > 1 && alignof(QuickValue) > 1);

JsonView::Type JsonView::type_of(const Json& json) {
  switch (json.type()) {
    case Json::value_t::null:
      return Type::Null;
    case Json::value_t::boolean:
      return Type::Boolean;
    case Json::value_t::number_float:
      return Type::Float;
    case Json::value_t::string:
      return Type::String;
    case Json::value_t::array:
      return Type::List;
    case Json::value_t::object:
      return Type::Object;
    default:
      break;
  }
  constexpr auto kMost = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
  const bool is_large = json.is_number_unsigned() && json.get<std::uint64_t>() > kMost;
  return is_large ? Type::LargeInteger : Type::Integer;
}

std::string_view JsonView::string_of(const Json& json) {
  return json.get_ref<const std::string&>();
}

bool JsonView::find_in(const Json& json, std::string_view name, JsonView& found) {
  const auto member = json.find(name);
  if (member == json.end()) return false;
  found = *member;
  return true;
}

std::string_view JsonView::type_name() const {
  switch (type()) {
    case Type::Null:
      return "null";
    case Type::Object:
      return "object";
    case Type::List:
      return "list";
    case Type::String:
      return "string";
    case Type::Boolean:
      return "boolean";
    default:
      return "number";
  }
}

bool JsonView::boolean() const { return is_quick() ? quick().boolean : json().get<bool>(); }

std::int64_t JsonView::integer() const {
  return is_quick() ? static_cast<std::int64_t>(quick().integer) : json().get<std::int64_t>();
}

std::uint64_t JsonView::large_integer() const {
  return is_quick() ? quick().integer : json().get<std::uint64_t>();
}

std::string JsonView::written() const {
  return is_quick() ? std::string(quick().text) : text_of(json());
}

void JsonView::each_member(FunctionRef<void(std::string_view, JsonView)> visit) const {
  if (!is_quick()) {
    for (const auto& [name, value] : json().get_ref<const Json::object_t&>()) visit(name, value);
    return;
  }
  // An API server writes them in order.
  bool is_in_order = true;
  const QuickValue* before = nullptr;
  for (const QuickValue* it = quick().inside(); it != quick().behind(); it = it->behind()) {
    is_in_order = is_in_order && (before == nullptr || before->name.text < it->name.text);
    before = it;
  }
  if (is_in_order) {
    for (const QuickValue* it = quick().inside(); it != quick().behind(); it = it->behind()) {
      visit(it->name.text, *it);
    }
    return;
  }
  std::vector<const QuickValue*> members;
  for (const QuickValue* it = quick().inside(); it != quick().behind(); it = it->behind()) {
    members.push_back(it);
  }
  std::ranges::stable_sort(members, {}, [](const QuickValue* value) { return value->name.text; });
  for (auto it = members.begin(); it != members.end(); ++it) {
    const auto next = std::next(it);
    if (next == members.end() || !((*next)->name == (*it)->name)) visit((*it)->name.text, **it);
  }
}

void JsonView::each_item(FunctionRef<bool(JsonView)> visit) const {
  if (!is_quick()) {
    for (const Json& item : json()) {
      if (!visit(item)) return;
    }
    return;
  }
  for (const QuickValue* it = quick().inside(); it != quick().behind(); it = it->behind()) {
    if (!visit(*it)) return;
  }
}

}  // namespace cdom::api
