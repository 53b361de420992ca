// Schema: a CRD's structural schema, parsed once.
//
// parse() refuses what it does not understand: unknown keywords, a schema that is not structural, a
// CEL rule that does not compile; the error names the field of the schema. Immutable once parsed.
#pragma once

#include <map>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "compute_domain/base/result.h"
#include "sandbox/cel/program.h"
#include "sandbox/text/pattern.h"

namespace cdom::sandbox::schema {

enum class Type { Any, Object, Array, String, Integer, Number, Boolean, IntOrString };
enum class ListType { Atomic, Set, Map };

// One entry of x-kubernetes-validations.
struct Rule {
  cel::Program program;
  std::string message;
  std::optional<cel::Program> message_expression;
  std::string reason = "FieldValueInvalid";
  std::string field_path;
  bool optional_old_self = false;

  // A transition rule is checked only where an old value is to compare with.
  [[nodiscard]] bool is_transition() const { return program.reads("oldSelf"); }
};

struct Schema {
  Type type = Type::Any;
  std::string format;
  std::string description;
  bool nullable = false;
  std::shared_ptr<const nlohmann::json> default_value;

  std::map<std::string, Schema> properties;
  std::vector<std::string> required;
  std::shared_ptr<const Schema> additional_properties;
  bool preserve_unknown_fields = false;
  bool embedded_resource = false;
  bool atomic_map = false;

  std::shared_ptr<const Schema> items;
  ListType list_type = ListType::Atomic;
  std::vector<std::string> list_map_keys;

  std::shared_ptr<const nlohmann::json> allowed;  // `enum`, an array
  std::optional<double> minimum, maximum, multiple_of;
  bool exclusive_minimum = false, exclusive_maximum = false;
  std::optional<std::size_t> min_length, max_length, min_items, max_items, min_properties,
      max_properties;
  std::optional<Pattern> pattern;

  // Value validations only, as structural schemas demand.
  std::vector<Schema> all_of, any_of, one_of;
  std::shared_ptr<const Schema> not_;

  std::vector<Rule> rules;
};

// `schema` is a version's schema.openAPIV3Schema.
base::Result<std::shared_ptr<const Schema>> parse(const nlohmann::json& schema);

}  // namespace cdom::sandbox::schema
