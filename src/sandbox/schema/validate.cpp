#include "sandbox/schema/validate.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "sandbox/schema/rules.h"
#include "sandbox/schema/values.h"

namespace cdom::sandbox::schema {

namespace {

// After these a rule might meet a value that its schema excludes.
bool blocks_rules(const Cause& cause) {
  constexpr std::string_view kReasons[] = {"FieldValueTypeInvalid", "FieldValueRequired",
                                           "FieldValueNotSupported", "FieldValueTooLong",
                                           "FieldValueTooMany"};
  return std::ranges::find(kReasons, cause.reason) != std::end(kReasons);
}

}  // namespace

std::vector<Cause> validate(const nlohmann::json& object, const nlohmann::json* old_object,
                            const Schema& schema) {
  std::vector<Cause> causes;
  check_values(object, old_object, schema, "", causes);
  if (!has_rules(schema)) return causes;
  if (std::ranges::any_of(causes, blocks_rules)) {
    causes.push_back({"FieldValueInvalid",
                      "Invalid value: null: some validation rules were not checked because the "
                      "object was invalid; correct the existing errors to complete validation",
                      "<nil>"});
    return causes;
  }
  check_rules(object, old_object, schema, causes);
  return causes;
}

}  // namespace cdom::sandbox::schema
