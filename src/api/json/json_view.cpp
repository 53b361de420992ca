#include "json_view.h"

#include <simdjson.h>

#include <algorithm>
#include <bit>
#include <limits>
#include <nlohmann/json.hpp>

namespace cdom::api {

namespace {

using Type = JsonView::Type;
namespace dom = simdjson::dom;
using simdjson::dom::element;
using simdjson::dom::element_type;

Type type_of(const Json& json) {
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

Type type_of(const element& value) {
  switch (value.type()) {
    case element_type::NULL_VALUE:
      return Type::Null;
    case element_type::BOOL:
      return Type::Boolean;
    case element_type::INT64:
      return Type::Integer;
    case element_type::UINT64:  // which it only uses for what a signed one does not hold
      return Type::LargeInteger;
    case element_type::DOUBLE:
      return Type::Float;
    case element_type::STRING:
      return Type::String;
    case element_type::ARRAY:
      return Type::List;
    case element_type::OBJECT:
      break;
  }
  return Type::Object;
}

}  // namespace

JsonView::Type JsonView::type() const {
  return json_ != nullptr ? type_of(*json_) : type_of(std::bit_cast<element>(place_));
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

std::string_view JsonView::string() const {
  if (json_ != nullptr) return json_->get_ref<const std::string&>();
  return std::bit_cast<element>(place_).get_string().value_unsafe();
}

bool JsonView::boolean() const {
  if (json_ != nullptr) return json_->get<bool>();
  return std::bit_cast<element>(place_).get_bool().value_unsafe();
}

std::int64_t JsonView::integer() const {
  if (json_ != nullptr) return json_->get<std::int64_t>();
  return std::bit_cast<element>(place_).get_int64().value_unsafe();
}

std::uint64_t JsonView::large_integer() const {
  if (json_ != nullptr) return json_->get<std::uint64_t>();
  return std::bit_cast<element>(place_).get_uint64().value_unsafe();
}

std::string_view JsonView::raw_text() const {
  if (json_ != nullptr) return json_->get_ref<const std::string&>();
  const auto found =
      std::ranges::lower_bound(*raw_texts_, place_.index, {}, &RawTexts::value_type::first);
  const bool is_there = found != raw_texts_->end() && found->first == place_.index;
  return is_there ? found->second : std::string_view{};
}

std::string JsonView::written() const {
  if (json_ != nullptr) return text_of(*json_);
  return simdjson::to_string(std::bit_cast<element>(place_));
}

std::optional<JsonView> JsonView::member(std::string_view name) const {
  if (json_ != nullptr) {
    const auto found = json_->find(name);
    return found == json_->end() ? std::nullopt : std::optional(JsonView(*found));
  }
  std::optional<JsonView> last;
  const dom::object object = std::bit_cast<element>(place_).get_object().value_unsafe();
  for (auto it = object.begin(); it != object.end(); ++it) {
    if (it.key_equals(name)) last = JsonView(std::bit_cast<Place>(it.value()), *raw_texts_);
  }
  return last;
}

void JsonView::each_member(FunctionRef<void(std::string_view, JsonView)> visit) const {
  if (json_ != nullptr) {
    for (const auto& [name, value] : json_->get_ref<const Json::object_t&>()) visit(name, value);
    return;
  }
  std::vector<std::pair<std::string_view, element>> members;
  const dom::object object = std::bit_cast<element>(place_).get_object().value_unsafe();
  for (const auto [key, value] : object) {
    members.emplace_back(key, value);
  }
  // As an API server writes them they are in order.
  constexpr auto kName = &std::pair<std::string_view, element>::first;
  if (!std::ranges::is_sorted(members, {}, kName)) std::ranges::stable_sort(members, {}, kName);
  for (auto it = members.begin(); it != members.end(); ++it) {
    const auto next = std::next(it);
    if (next != members.end() && next->first == it->first) continue;
    visit(it->first, JsonView(std::bit_cast<Place>(it->second), *raw_texts_));
  }
}

void JsonView::each_item(FunctionRef<bool(JsonView)> visit) const {
  if (json_ != nullptr) {
    for (const Json& item : *json_) {
      if (!visit(item)) return;
    }
    return;
  }
  const dom::array list = std::bit_cast<element>(place_).get_array().value_unsafe();
  for (const element item : list) {
    if (!visit(JsonView(std::bit_cast<Place>(item), *raw_texts_))) return;
  }
}

}  // namespace cdom::api
