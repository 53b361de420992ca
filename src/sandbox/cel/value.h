// Value: what a CEL expression reads and yields.
//
// Immutable and cheap to copy (lists and maps are shared), so threads may share it. Maps have
// string keys, which is all that Kubernetes objects have.
#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "compute_domain/base/result.h"
#include "sandbox/cel/semver.h"
#include "sandbox/text/quantity.h"

namespace cdom::sandbox::cel {

class Value;
using List = std::vector<Value>;
struct Map;

// An optional as of CEL's optional library; null when there is nothing in it.
struct Optional {
  std::shared_ptr<const Value> value;
};

// A value that could not be computed: whoever reads it gets the error (an admission policy's
// variable that nobody reads may fail).
struct Failure {
  std::shared_ptr<const base::Error> error;
};

class Value {
 public:
  using Content = std::variant<std::nullptr_t, bool, std::int64_t, std::uint64_t, double,
                               std::string, std::shared_ptr<const List>, std::shared_ptr<const Map>,
                               Optional, Quantity, Semver, Failure>;

  Value() = default;  // null
  explicit Value(Content content) : content_(std::move(content)) {}
  explicit Value(bool value) : content_(value) {}
  explicit Value(std::int64_t value) : content_(value) {}
  explicit Value(std::uint64_t value) : content_(value) {}
  explicit Value(double value) : content_(value) {}
  explicit Value(std::string value) : content_(std::move(value)) {}
  explicit Value(const char* value) : content_(std::string(value)) {}
  explicit Value(List list);
  explicit Value(Map map);

  static Value optional_of(Value value);
  static Value optional_none() { return Value(Content(Optional{})); }
  static Value failure(base::Error error);

  // Integers become int (uint beyond int's range), other numbers double.
  static Value from_json(const nlohmann::json& json);

  // The content when it is a T, else nullptr.
  template <class T>
  [[nodiscard]] const T* get_if() const {
    return std::get_if<T>(&content_);
  }
  // The same for the shared ones.
  [[nodiscard]] const List* list() const;
  [[nodiscard]] const Map* map() const;
  [[nodiscard]] const std::string* text() const { return get_if<std::string>(); }

  // CEL's name of the type: "int", "string", "map", …
  [[nodiscard]] std::string_view type_name() const;

  // CEL's equality: numbers compare by amount across types; values of other types that differ in
  // type are unequal.
  friend bool operator==(const Value& left, const Value& right);

 private:
  Content content_ = nullptr;
};

// How two numbers of any type compare by amount; unordered when one is no number (or is NaN).
std::partial_ordering compare_amounts(const Value& left, const Value& right);

struct Map {
  std::map<std::string, Value, std::less<>> entries;
  // A key that is absent reads as an empty map (`device.attributes['any.domain']`).
  bool absent_is_empty_map = false;
};

}  // namespace cdom::sandbox::cel
