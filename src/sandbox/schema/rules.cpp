#include "sandbox/schema/rules.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "compute_domain/base/text.h"
#include "sandbox/schema/cel_value.h"
#include "sandbox/schema/correlation.h"

namespace cdom::sandbox::schema {

namespace {

using nlohmann::json;

std::string message_of(const Rule& rule, const cel::Bindings& bindings) {
  if (rule.message_expression) {
    const auto value = rule.message_expression->evaluate(bindings);
    const std::string* text = value ? value->text() : nullptr;
    // An expression that fails, is empty or has line breaks yields to the fixed message.
    if (text != nullptr && !base::trim(*text).empty() && text->find('\n') == std::string::npos) {
      return *text;
    }
  }
  if (!rule.message.empty()) return rule.message;
  return base::cat("failed rule: ", base::trim(rule.program.expression()));
}

std::string field_of(const Rule& rule, const std::string& path) {
  std::string field = path + rule.field_path;
  if (field.starts_with('.')) field.erase(0, 1);
  return field.empty() ? "<nil>" : field;
}

Cause cause_of(const Rule& rule, const json& value, const std::string& path,
               const std::string& message) {
  const std::string shown = value.is_structured() ? std::string() : base::cat(value.dump(), ": ");
  std::string text = base::cat("Invalid value: ", shown, message);
  if (rule.reason == "FieldValueForbidden") text = base::cat("Forbidden: ", message);
  if (rule.reason == "FieldValueRequired") text = base::cat("Required value: ", message);
  if (rule.reason == "FieldValueDuplicate") text = base::cat("Duplicate value: ", value.dump());
  return {rule.reason, std::move(text), field_of(rule, path)};
}

// What a rule that fails to evaluate gets, with its message or else itself.
Cause cause_of_error(const Rule& rule, const json& value, const std::string& path,
                     const base::Error& error) {
  const std::string_view told = rule.message.empty() ? rule.program.expression() : rule.message;
  return {"FieldValueInvalid",
          base::cat("Invalid value: \"", value.type_name(), "\": ", error.message,
                    " evaluating rule: ", told),
          field_of(rule, path)};
}

class RuleCheck {
 public:
  explicit RuleCheck(std::vector<Cause>& causes) : causes_(causes) {}

  void check(const json& value, const json* old_value, const Schema& schema, bool is_resource,
             const std::string& path) {
    if (value.is_null()) return;
    if (!schema.rules.empty()) check_here(value, old_value, schema, is_resource, path);
    if (value.is_array() && schema.items != nullptr && has_rules(*schema.items)) {
      const OldItems old_items(old_value, schema);
      for (std::size_t i = 0; i < value.size(); ++i) {
        check(value[i], old_items.of(value[i]), *schema.items, schema.items->embedded_resource,
              base::cat(path, "[", i, "]"));
      }
    }
    if (value.is_object()) check_members(value, old_value, schema, path);
  }

 private:
  void check_members(const json& object, const json* old_object, const Schema& schema,
                     const std::string& path) {
    for (const auto& [name, member] : object.items()) {
      const json* before = schema.atomic_map ? nullptr : old_member(old_object, name);
      const auto property = schema.properties.find(name);
      if (property != schema.properties.end()) {
        check(member, before, property->second, property->second.embedded_resource,
              path.empty() ? name : base::cat(path, ".", name));
      } else if (schema.additional_properties != nullptr) {
        check(member, before, *schema.additional_properties, false,
              base::cat(path, "[", name, "]"));
      }
    }
  }

  void check_here(const json& value, const json* old_value, const Schema& schema, bool is_resource,
                  const std::string& path) {
    cel::Bindings bindings{{"self", cel_value(value, schema, is_resource)}};
    for (const Rule& rule : schema.rules) {
      const bool has_old = old_value != nullptr && !old_value->is_null();
      if (rule.is_transition() && !has_old && !rule.optional_old_self) continue;
      if (!rule.is_transition() && has_old && *old_value == value) continue;
      if (rule.is_transition()) {
        const auto old_self = [&] { return cel_value(*old_value, schema, is_resource); };
        bindings["oldSelf"] = !rule.optional_old_self ? old_self()
                              : has_old               ? cel::Value::optional_of(old_self())
                                                      : cel::Value::optional_none();
      }
      const auto holds = rule.program.evaluate_bool(bindings);
      if (holds && *holds) continue;
      causes_.push_back(holds ? cause_of(rule, value, path, message_of(rule, bindings))
                              : cause_of_error(rule, value, path, holds.error()));
    }
  }

  std::vector<Cause>& causes_;
};

}  // namespace

bool has_rules(const Schema& schema) {
  return !schema.rules.empty() || (schema.items != nullptr && has_rules(*schema.items)) ||
         (schema.additional_properties != nullptr && has_rules(*schema.additional_properties)) ||
         std::ranges::any_of(schema.properties,
                             [](const auto& property) { return has_rules(property.second); });
}

void check_rules(const json& object, const json* old_object, const Schema& schema,
                 std::vector<Cause>& causes) {
  RuleCheck(causes).check(object, old_object, schema, true, "");
}

}  // namespace cdom::sandbox::schema
