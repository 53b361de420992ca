#include <algorithm>
#include <nlohmann/json.hpp>
#include <unordered_map>

#include "compute_domain/base/text.h"
#include "sandbox/schema/formats.h"
#include "sandbox/schema/schema.h"
#include "sandbox/schema/values.h"

namespace cdom::sandbox::schema {

namespace {

using nlohmann::json;

// Stops the parse; caught in parse(), so that it does not leave this file.
struct Refusal {
  std::string message;
};

[[noreturn]] void refuse(const std::string& path, std::string_view what) {
  throw Refusal{base::cat("openAPIV3Schema", path, ": ", what)};
}

// Where a schema stands: within allOf, anyOf, oneOf and not only value validations are allowed.
struct Place {
  std::string path;
  bool is_root = false;
  bool in_junctor = false;
  bool may_have_type = true;  // not in a junctor, but for the one of int-or-string

  [[nodiscard]] Place child(std::string_view step) const {
    return {base::cat(path, ".", step), false, in_junctor, may_have_type};
  }
};

Schema parse_node(const json& node, const Place& place);

std::shared_ptr<const Schema> parse_shared(const json& node, const Place& place) {
  return std::make_shared<const Schema>(parse_node(node, place));
}

Type type_of(const json& value, const Place& place) {
  static const std::unordered_map<std::string, Type> kTypes = {
      {"object", Type::Object},   {"array", Type::Array},   {"string", Type::String},
      {"integer", Type::Integer}, {"number", Type::Number}, {"boolean", Type::Boolean}};
  const auto found = kTypes.find(value.get<std::string>());
  if (found == kTypes.end()) refuse(place.path, base::cat("type ", value.dump(), " is not known"));
  return found->second;
}

std::vector<Schema> parse_junctor(const json& branches, const Schema& schema, const Place& place) {
  std::vector<Schema> parsed;
  for (std::size_t i = 0; i < branches.size(); ++i) {
    const bool may_have_type = schema.type == Type::IntOrString;
    parsed.push_back(
        parse_node(branches[i], {base::cat(place.path, "[", i, "]"), false, true, may_have_type}));
  }
  return parsed;
}

cel::Program compile_rule(const json& expression, const Place& place) {
  auto program = cel::compile(expression.get<std::string>(), {"self", "oldSelf"});
  if (!program) refuse(place.path, program.error().message);
  return *std::move(program);
}

Rule parse_rule(const json& entry, const Place& place) {
  static constexpr std::string_view kReasons[] = {"FieldValueInvalid", "FieldValueForbidden",
                                                  "FieldValueRequired", "FieldValueDuplicate"};
  if (!entry.contains("rule")) refuse(place.path, "a validation needs a rule");
  Rule rule{.program = compile_rule(entry.at("rule"), place.child("rule")),
            .message = {},
            .message_expression = {},
            .field_path = {}};
  for (const auto& [key, value] : entry.items()) {
    if (key == "rule") continue;
    if (key == "message") {
      rule.message = base::trim(value.get<std::string>());
    } else if (key == "messageExpression") {
      rule.message_expression = compile_rule(value, place.child(key));
    } else if (key == "reason") {
      rule.reason = value.get<std::string>();
      if (std::ranges::find(kReasons, rule.reason) == std::end(kReasons)) {
        refuse(place.path, base::cat("reason ", value.dump(), " is not known"));
      }
    } else if (key == "fieldPath") {
      rule.field_path = value.get<std::string>();
    } else if (key == "optionalOldSelf") {
      rule.optional_old_self = value.get<bool>();
    } else {
      refuse(place.path, base::cat("unknown keyword ", key));
    }
  }
  return rule;
}

using Read = void (*)(Schema&, const json&, const Place&);

template <auto member>
void read_flag(Schema& schema, const json& value, const Place&) {
  schema.*member = value.get<bool>();
}
template <auto member>
void read_number(Schema& schema, const json& value, const Place&) {
  schema.*member = value.get<double>();
}
template <auto member>
void read_size(Schema& schema, const json& value, const Place&) {
  schema.*member = value.get<std::size_t>();
}
template <auto member>
void read_junctor(Schema& schema, const json& value, const Place& place) {
  schema.*member = parse_junctor(value, schema, place);
}
void ignore(Schema&, const json&, const Place&) {}

void read_list_type(Schema& schema, const json& value, const Place& place) {
  if (value == "atomic") return;
  if (value != "set" && value != "map") refuse(place.path, "must be atomic, set or map");
  schema.list_type = value == "set" ? ListType::Set : ListType::Map;
}

void read_map_type(Schema& schema, const json& value, const Place& place) {
  if (value != "granular" && value != "atomic") refuse(place.path, "must be granular or atomic");
  schema.atomic_map = value == "atomic";
}

void read_format(Schema& schema, const json& value, const Place& place) {
  schema.format = value.get<std::string>();
  if (!is_known_format(schema.format)) {
    refuse(place.path, base::cat("format ", value.dump(), " is not supported"));
  }
}

void read_pattern(Schema& schema, const json& value, const Place& place) {
  auto pattern = Pattern::compile(value.get<std::string>());
  if (!pattern) refuse(place.path, pattern.error().message);
  schema.pattern = *std::move(pattern);
}

void read_properties(Schema& schema, const json& value, const Place& place) {
  for (const auto& [name, property] : value.items()) {
    schema.properties.emplace(name, parse_node(property, place.child(name)));
  }
}

void read_additional(Schema& schema, const json& value, const Place& place) {
  if (value.is_object()) {
    schema.additional_properties = parse_shared(value, place);
  } else if (value.get<bool>()) {
    Schema anything;
    anything.preserve_unknown_fields = true;
    schema.additional_properties = std::make_shared<const Schema>(std::move(anything));
  }
}

void read_rules(Schema& schema, const json& value, const Place& place) {
  for (std::size_t i = 0; i < value.size(); ++i) {
    Place entry = place;
    entry.path += base::cat("[", i, "]");
    schema.rules.push_back(parse_rule(value[i], entry));
  }
}

// Keywords that only validate values, and so may stand in a junctor.
const std::unordered_map<std::string, Read> kValidations = {
    {"properties", read_properties},
    {"required", [](Schema& s, const json& v, const Place&) { v.get_to(s.required); }},
    {"items", [](Schema& s, const json& v, const Place& p) { s.items = parse_shared(v, p); }},
    {"additionalProperties", read_additional},
    {"enum",
     [](Schema& s, const json& v, const Place&) { s.allowed = std::make_shared<const json>(v); }},
    {"format", read_format},
    {"pattern", read_pattern},
    {"minimum", read_number<&Schema::minimum>},
    {"maximum", read_number<&Schema::maximum>},
    {"multipleOf", read_number<&Schema::multiple_of>},
    {"exclusiveMinimum", read_flag<&Schema::exclusive_minimum>},
    {"exclusiveMaximum", read_flag<&Schema::exclusive_maximum>},
    {"minLength", read_size<&Schema::min_length>},
    {"maxLength", read_size<&Schema::max_length>},
    {"minItems", read_size<&Schema::min_items>},
    {"maxItems", read_size<&Schema::max_items>},
    {"minProperties", read_size<&Schema::min_properties>},
    {"maxProperties", read_size<&Schema::max_properties>},
    {"uniqueItems",
     [](Schema&, const json& v, const Place& p) {
       if (v.get<bool>()) refuse(p.path, "uniqueItems is forbidden; use x-kubernetes-list-type");
     }},
    {"allOf", read_junctor<&Schema::all_of>},
    {"anyOf", read_junctor<&Schema::any_of>},
    {"oneOf", read_junctor<&Schema::one_of>},
    {"not",
     [](Schema& s, const json& v, const Place& p) {
       s.not_ = parse_shared(v, {p.path, false, true, false});
     }},
    {"title", ignore},
    {"example", ignore},
    {"externalDocs", ignore},
};

// Keywords that say what a value is, and so may not.
const std::unordered_map<std::string, Read> kStructure = {
    {"description", [](Schema& s, const json& v, const Place&) { v.get_to(s.description); }},
    {"nullable", read_flag<&Schema::nullable>},
    {"default", [](Schema& s, const json& v,
                   const Place&) { s.default_value = std::make_shared<const json>(v); }},
    {"x-kubernetes-preserve-unknown-fields", read_flag<&Schema::preserve_unknown_fields>},
    {"x-kubernetes-embedded-resource", read_flag<&Schema::embedded_resource>},
    {"x-kubernetes-list-type", read_list_type},
    {"x-kubernetes-list-map-keys",
     [](Schema& s, const json& v, const Place&) { v.get_to(s.list_map_keys); }},
    {"x-kubernetes-map-type", read_map_type},
    {"x-kubernetes-validations", read_rules},
};

void check_list(const Schema& schema, const Place& place) {
  if (schema.type == Type::Array && schema.items == nullptr && !place.in_junctor) {
    refuse(place.path, "an array needs items");
  }
  if (schema.list_type != ListType::Map) {
    if (!schema.list_map_keys.empty()) refuse(place.path, "list-map-keys need list-type map");
    return;
  }
  if (schema.list_map_keys.empty()) refuse(place.path, "list-type map needs list-map-keys");
  for (const std::string& key : schema.list_map_keys) {
    const auto property = schema.items->properties.find(key);
    if (property == schema.items->properties.end()) {
      refuse(place.path, base::cat("list-map-key ", key, " is not a property of the items"));
    }
    const bool is_required =
        std::ranges::find(schema.items->required, key) != schema.items->required.end();
    if (!is_required && property->second.default_value == nullptr) {
      refuse(place.path, base::cat("list-map-key ", key, " must be required or have a default"));
    }
  }
}

void check_structure(const Schema& schema, const Place& place) {
  if (place.in_junctor) return;
  if (place.is_root && schema.type != Type::Object) refuse(place.path, "type must be object");
  if (schema.type == Type::Any && !schema.preserve_unknown_fields) {
    refuse(place.path, "type is required: the schema must be structural");
  }
  if (!schema.properties.empty() && schema.additional_properties != nullptr) {
    refuse(place.path, "properties and additionalProperties exclude each other");
  }
  if (place.is_root && schema.additional_properties != nullptr) {
    refuse(place.path, "additionalProperties is forbidden at the root");
  }
  check_list(schema, place);
  if (schema.default_value != nullptr) {
    std::vector<Cause> causes;
    check_values(*schema.default_value, nullptr, schema, "default", causes);
    if (!causes.empty()) refuse(place.path, base::cat("default: ", causes.front().message));
  }
}

Schema parse_node(const json& node, const Place& place) {
  if (!node.is_object()) refuse(place.path, "must be an object");
  Schema schema;
  // The type comes first: what junctors may hold depends on it.
  if (node.value("x-kubernetes-int-or-string", false)) schema.type = Type::IntOrString;
  if (node.contains("type")) {
    if (!place.may_have_type)
      refuse(place.path, "type is forbidden within allOf, anyOf, oneOf, not");
    schema.type = type_of(node.at("type"), place);
  }
  for (const auto& [keyword, value] : node.items()) {
    if (keyword == "type" || keyword == "x-kubernetes-int-or-string") continue;
    const auto validation = kValidations.find(keyword);
    const auto structure = kStructure.find(keyword);
    if (validation != kValidations.end()) {
      validation->second(schema, value, place.child(keyword));
    } else if (structure == kStructure.end()) {
      refuse(place.path, base::cat("unknown keyword ", keyword));
    } else if (place.in_junctor) {
      refuse(place.path, base::cat(keyword, " is forbidden within allOf, anyOf, oneOf, not"));
    } else {
      structure->second(schema, value, place.child(keyword));
    }
  }
  check_structure(schema, place);
  return schema;
}

}  // namespace

base::Result<std::shared_ptr<const Schema>> parse(const json& schema) {
  try {
    return parse_shared(schema, {"", true, false, true});
  } catch (const Refusal& refusal) {
    return base::Error{base::ErrorKind::Invalid, refusal.message};
  } catch (const json::exception& error) {
    return base::Error{base::ErrorKind::Invalid, base::cat("openAPIV3Schema: ", error.what())};
  }
}

}  // namespace cdom::sandbox::schema
