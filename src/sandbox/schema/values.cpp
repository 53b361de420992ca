#include "sandbox/schema/values.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <set>

#include "compute_domain/base/text.h"
#include "compute_domain/base/utf8.h"
#include "sandbox/schema/correlation.h"
#include "sandbox/schema/formats.h"

namespace cdom::sandbox::schema {

namespace {

using nlohmann::json;

bool is_integer(const json& value) {
  return value.is_number_integer() ||
         (value.is_number_float() && std::trunc(value.get<double>()) == value.get<double>());
}

bool has_type(const json& value, Type type) {
  switch (type) {
    case Type::Any:
      return true;
    case Type::Object:
      return value.is_object();
    case Type::Array:
      return value.is_array();
    case Type::String:
      return value.is_string();
    case Type::Integer:
      return is_integer(value);
    case Type::Number:
      return value.is_number();
    case Type::Boolean:
      return value.is_boolean();
    case Type::IntOrString:
      return is_integer(value) || value.is_string();
  }
  return false;
}

std::string_view name_of(Type type) {
  constexpr std::string_view kNames[] = {"any",     "object", "array",   "string",
                                         "integer", "number", "boolean", "integer,string"};
  return kNames[static_cast<std::size_t>(type)];
}

std::string type_name(const json& value) {
  if (is_integer(value)) return "integer";
  return value.type_name();
}

// A number as Go prints it: without the fraction that it does not have.
std::string text_of(double number) {
  return std::trunc(number) == number && std::abs(number) < 1e15
             ? std::to_string(static_cast<std::int64_t>(number))
             : json(number).dump();
}

// Collects what is wrong at one path, in the words of kube-openapi's validator.
class Check {
 public:
  Check(const json& value, const std::string& path, std::vector<Cause>& causes)
      : value_(value), path_(path), causes_(causes) {}

  void fail(std::string reason, std::string message) const {
    causes_.push_back({std::move(reason), std::move(message), path_});
  }
  template <class... Piece>
  void invalid(const Piece&... what) const {
    fail("FieldValueInvalid",
         base::cat("Invalid value: ", value_.dump(), ": ", path_, " in body ", what...));
  }
  template <class... Piece>
  void size_invalid(std::size_t size, const Piece&... what) const {
    fail("FieldValueInvalid",
         base::cat("Invalid value: ", size, ": ", path_, " in body ", what...));
  }
  void too_many(std::size_t size, std::size_t most) const {
    fail("FieldValueTooMany",
         base::cat("Too many: ", size, ": must have at most ", most, " items"));
  }
  void type_invalid(std::string_view wanted, const std::string& have) const {
    fail("FieldValueTypeInvalid",
         base::cat("Invalid value: \"", have, "\": ", path_, " in body must be of type ", wanted,
                   ": \"", have, "\""));
  }
  void format_invalid(const std::string& format) const {
    if (value_.is_string()) return type_invalid(format, value_.get<std::string>());
    causes_.push_back({"FieldValueInvalid",
                       base::cat("Invalid value: \"\": Checked value must be of type integer with "
                                 "format ",
                                 format, " in ", path_),
                       "<nil>"});
  }

 private:
  const json& value_;
  const std::string& path_;
  std::vector<Cause>& causes_;
};

void check_number(const json& value, const Schema& schema, const Check& check) {
  const auto number = value.get<double>();
  if (const auto& least = schema.minimum) {
    if (number < *least || (schema.exclusive_minimum && number == *least)) {
      check.invalid("should be greater than ", schema.exclusive_minimum ? "" : "or equal to ",
                    text_of(*least));
    }
  }
  if (const auto& most = schema.maximum) {
    if (number > *most || (schema.exclusive_maximum && number == *most)) {
      check.invalid("should be less than ", schema.exclusive_maximum ? "" : "or equal to ",
                    text_of(*most));
    }
  }
  if (schema.multiple_of && std::remainder(number, *schema.multiple_of) != 0) {
    check.invalid("should be a multiple of ", text_of(*schema.multiple_of));
  }
}

void check_string(const json& value, const Schema& schema, const Check& check) {
  const auto& text = value.get_ref<const std::string&>();
  const std::size_t characters = base::count_characters(text);
  if (schema.max_length && characters > *schema.max_length) {
    check.fail("FieldValueTooLong",
               base::cat("Too long: may not be more than ", *schema.max_length, " bytes"));
  }
  if (schema.min_length && characters < *schema.min_length) {
    check.invalid("should be at least ", *schema.min_length, " chars long");
  }
  if (schema.pattern && !schema.pattern->is_found_in(text)) {
    check.invalid("should match '", schema.pattern->text(), "'");
  }
}

void check_enum(const json& value, const Schema& schema, const Check& check) {
  if (std::ranges::find(*schema.allowed, value) != schema.allowed->end()) return;
  std::vector<std::string> supported;
  for (const json& allowed : *schema.allowed) supported.push_back(allowed.dump());
  check.fail("FieldValueNotSupported",
             base::cat("Unsupported value: ", value.dump(),
                       ": supported values: ", base::join(supported, ", ")));
}

// The places of the items that equal an earlier one, by its keys in a map list.
std::vector<std::size_t> duplicates_in(const json& list, const Schema& schema) {
  std::set<json> seen;
  std::vector<std::size_t> places;
  for (std::size_t i = 0; i < list.size(); ++i) {
    json identity = schema.list_type == ListType::Map ? keys_of(list[i], schema) : list[i];
    if (!seen.insert(std::move(identity)).second) places.push_back(i);
  }
  return places;
}

void check_uniqueness(const json& list, const json* old_list, const Schema& schema,
                      const std::string& path, std::vector<Cause>& causes) {
  if (schema.list_type == ListType::Atomic) return;
  if (old_list != nullptr && old_list->is_array() && !duplicates_in(*old_list, schema).empty()) {
    return;
  }
  for (const std::size_t at : duplicates_in(list, schema)) {
    const json shown = schema.list_type == ListType::Map ? keys_of(list[at], schema) : list[at];
    causes.push_back({"FieldValueDuplicate", base::cat("Duplicate value: ", shown.dump()),
                      base::cat(path, "[", at, "]")});
  }
}

void check_list(const json& list, const json* old_list, const Schema& schema,
                const std::string& path, std::vector<Cause>& causes) {
  const Check check(list, path, causes);
  if (schema.max_items && list.size() > *schema.max_items) {
    check.too_many(list.size(), *schema.max_items);
  }
  if (schema.min_items && list.size() < *schema.min_items) {
    check.size_invalid(list.size(), "should have at least ", *schema.min_items, " items");
  }
  if (schema.items != nullptr) {
    const OldItems old_items(old_list, schema);
    for (std::size_t i = 0; i < list.size(); ++i) {
      check_values(list[i], old_items.of(list[i]), *schema.items, base::cat(path, "[", i, "]"),
                   causes);
    }
  }
  check_uniqueness(list, old_list, schema, path, causes);
}

void check_object(const json& object, const json* old_object, const Schema& schema,
                  const std::string& path, std::vector<Cause>& causes) {
  const Check check(object, path, causes);
  const auto path_of = [&](const std::string& name) {
    return path.empty() ? name : base::cat(path, ".", name);
  };
  for (const std::string& name : schema.required) {
    if (!object.contains(name)) {
      causes.push_back({"FieldValueRequired", "Required value", path_of(name)});
    }
  }
  if (schema.max_properties && object.size() > *schema.max_properties) {
    check.too_many(object.size(), *schema.max_properties);
  }
  if (schema.min_properties && object.size() < *schema.min_properties) {
    check.size_invalid(object.size(), "should have at least ", *schema.min_properties,
                       " properties");
  }
  for (const auto& [name, member] : object.items()) {
    const auto property = schema.properties.find(name);
    const Schema* member_schema = property != schema.properties.end()
                                      ? &property->second
                                      : schema.additional_properties.get();
    if (member_schema == nullptr) continue;
    check_values(member, old_member(old_object, name), *member_schema, path_of(name), causes);
  }
}

// The causes of each branch, in their order.
std::vector<std::vector<Cause>> causes_of(const std::vector<Schema>& branches, const json& value,
                                          const std::string& path) {
  std::vector<std::vector<Cause>> out;
  for (const Schema& branch : branches) {
    check_values(value, nullptr, branch, path, out.emplace_back());
  }
  return out;
}

// kube-openapi words these without the field and the value, and adds what the first branch says.
void check_junctors(const json& value, const Schema& schema, const std::string& path,
                    std::vector<Cause>& causes) {
  const auto fail = [&](std::string_view what) {
    causes.push_back({"FieldValueInvalid",
                      base::cat("Invalid value: \"\": \"", path, "\" must ", what), "<nil>"});
  };
  const auto add = [&](const std::vector<Cause>& branch) {
    causes.insert(causes.end(), branch.begin(), branch.end());
  };
  const auto is_valid = [](const std::vector<Cause>& branch) { return branch.empty(); };

  const auto all = causes_of(schema.all_of, value, path);
  std::ranges::for_each(all, add);
  if (!std::ranges::all_of(all, is_valid)) {
    fail(base::cat("validate all the schemas (allOf)",
                   std::ranges::none_of(all, is_valid) ? ". None validated" : ""));
  }
  const auto any = causes_of(schema.any_of, value, path);
  if (!any.empty() && std::ranges::none_of(any, is_valid)) {
    fail("validate at least one schema (anyOf)");
    add(any.front());
  }
  const auto one = causes_of(schema.one_of, value, path);
  const auto valid = std::ranges::count_if(one, is_valid);
  if (!one.empty() && valid == 0) {
    fail("validate one and only one schema (oneOf). Found none valid");
    add(one.front());
  } else if (valid > 1) {
    fail(base::cat("validate one and only one schema (oneOf). Found ", valid,
                   " valid alternatives"));
  }
  if (schema.not_ != nullptr) {
    std::vector<Cause> found;
    check_values(value, nullptr, *schema.not_, path, found);
    if (found.empty()) fail("not validate the schema (not)");
  }
}

void check_content(const json& value, const json* old_value, const Schema& schema,
                   const std::string& path, std::vector<Cause>& causes) {
  const Check check(value, path, causes);
  if (!schema.format.empty() && !has_format(value, schema.format)) {
    check.format_invalid(schema.format);
  }
  if (value.is_number()) check_number(value, schema, check);
  if (value.is_string()) check_string(value, schema, check);
  if (value.is_array()) check_list(value, old_value, schema, path, causes);
  if (value.is_object()) check_object(value, old_value, schema, path, causes);
}

}  // namespace

void check_values(const json& value, const json* old_value, const Schema& schema,
                  const std::string& path, std::vector<Cause>& causes) {
  if (old_value != nullptr && *old_value == value) return;
  const Check check(value, path, causes);
  if (value.is_null() && schema.nullable) return;
  const bool is_of_type = has_type(value, schema.type);
  if (!is_of_type) check.type_invalid(name_of(schema.type), type_name(value));
  if (schema.allowed != nullptr) check_enum(value, schema, check);
  if (is_of_type) check_content(value, old_value, schema, path, causes);
  check_junctors(value, schema, path, causes);
}

}  // namespace cdom::sandbox::schema
