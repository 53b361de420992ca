#include "sandbox/apiserver/rules/admission.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "compute_domain/base/text.h"
#include "sandbox/apiserver/rules/admission_match.h"
#include "sandbox/cel/program.h"

namespace cdom::sandbox {

namespace {

using nlohmann::json;

const std::vector<std::string>& expression_variables() {
  static const std::vector<std::string> kVariables = {"object", "oldObject", "request",
                                                      "namespaceObject", "variables"};
  return kVariables;
}

struct NamedProgram {
  std::string name;
  cel::Program program;
};

struct Validation {
  cel::Program program;
  std::string message;
  std::optional<cel::Program> message_expression;
  std::string reason;
};

struct Binding {
  std::string name;
  AdmissionMatch match;
};

int code_of(std::string_view reason) {
  if (reason == "Unauthorized") return 401;
  if (reason == "Forbidden") return 403;
  if (reason == "RequestEntityTooLarge") return 413;
  return 422;
}

cel::Value request_value(const AdmissionRequest& request) {
  const auto resource = [&](const char* field, const std::string& value) {
    return json{{"group", request.group}, {"version", request.version}, {field, value}};
  };
  json user = {{"username", request.user}, {"groups", request.user_groups}};
  if (!request.user_uid.empty()) user["uid"] = request.user_uid;
  if (request.user_extra != nullptr && !request.user_extra->empty()) {
    user["extra"] = *request.user_extra;
  }
  return cel::Value::from_json({{"kind", resource("kind", request.kind)},
                                {"resource", resource("resource", request.resource)},
                                {"requestKind", resource("kind", request.kind)},
                                {"requestResource", resource("resource", request.resource)},
                                {"subResource", request.subresource},
                                {"requestSubResource", request.subresource},
                                {"name", request.name},
                                {"namespace", request.namespace_},
                                {"operation", request.operation},
                                {"userInfo", user},
                                {"dryRun", request.dry_run}});
}

cel::Bindings bindings_of(const AdmissionRequest& request) {
  const auto value_of = [](const json* object) {
    return object != nullptr ? cel::Value::from_json(*object) : cel::Value();
  };
  return {{"object", value_of(request.object)},
          {"oldObject", value_of(request.old_object)},
          {"namespaceObject", value_of(request.namespace_object)},
          {"request", request_value(request)},
          {"variables", cel::Value(cel::Map{})}};
}

// Stops the load; caught in load().
struct Refusal {
  std::string message;
};

cel::Program compile(const json& expression) {
  auto program = cel::compile(expression.get<std::string>(), expression_variables());
  if (!program) throw Refusal{program.error().message};
  return *std::move(program);
}

AdmissionMatch match_of(const json& constraints) {
  auto match = AdmissionMatch::parse(constraints);
  if (!match) throw Refusal{match.error().message};
  return *std::move(match);
}

std::vector<NamedProgram> named_programs(const json& spec, const char* field) {
  std::vector<NamedProgram> programs;
  for (const json& entry : spec.value(field, json::array())) {
    programs.push_back({entry.at("name"), compile(entry.at("expression"))});
  }
  return programs;
}

Validation validation_of(const json& entry) {
  Validation validation{compile(entry.at("expression")), entry.value("message", ""), std::nullopt,
                        entry.value("reason", "Invalid")};
  if (entry.contains("messageExpression")) {
    validation.message_expression = compile(entry.at("messageExpression"));
  }
  return validation;
}

// A failed check of a policy: what is put after "denied request: ".
struct Failed {
  std::string reason;
  std::string message;
};

std::string message_of(const Validation& validation, const cel::Bindings& bindings) {
  if (validation.message_expression) {
    const auto value = validation.message_expression->evaluate(bindings);
    const std::string* text = value ? value->text() : nullptr;
    if (text != nullptr && !base::trim(*text).empty()) return std::string(base::trim(*text));
  }
  if (!validation.message.empty()) return std::string(base::trim(validation.message));
  return base::cat("failed expression: ", base::trim(validation.program.expression()));
}

cel::Value failed_variable(std::string_view name, const base::Error& error) {
  return cel::Value::failure(
      {base::ErrorKind::Invalid,
       base::cat("composited variable \"", name, "\" fails to evaluate: ", error.message)});
}

Failed error_in(const cel::Program& program, const base::Error& error) {
  return {"Invalid",
          base::cat("expression '", program.expression(), "' resulted in error: ", error.message)};
}

}  // namespace

struct AdmissionPolicies::Policy {
  std::string name;
  bool fails_closed = true;
  AdmissionMatch match;
  std::vector<NamedProgram> conditions;
  std::vector<NamedProgram> variables;
  std::vector<Validation> validations;
  std::vector<Binding> bindings;

  static Policy parse(const json& object) {
    const json& spec = object.at("spec");
    if (spec.contains("paramKind")) throw Refusal{"spec.paramKind is not supported"};
    Policy policy;
    policy.name = object.at("metadata").at("name");
    policy.fails_closed = spec.value("failurePolicy", "Fail") == "Fail";
    policy.match = match_of(spec.value("matchConstraints", json()));
    policy.conditions = named_programs(spec, "matchConditions");
    policy.variables = named_programs(spec, "variables");
    for (const json& entry : spec.value("validations", json::array())) {
      policy.validations.push_back(validation_of(entry));
    }
    return policy;
  }

  void bind(const json& object) {
    const json& spec = object.at("spec");
    if (spec.value("policyName", "") != name) return;
    if (spec.contains("paramRef")) throw Refusal{"spec.paramRef is not supported"};
    const auto actions = spec.value("validationActions", std::vector<std::string>{"Deny"});
    // Warn and Audit deny nothing.
    if (std::ranges::find(actions, "Deny") == actions.end()) return;
    bindings.push_back(
        {object.at("metadata").at("name"), match_of(spec.value("matchResources", json()))});
  }

  // A condition that is false exempts the request, also when another one fails.
  [[nodiscard]] bool applies(const cel::Bindings& values, std::optional<Failed>& failed) const {
    for (const NamedProgram& condition : conditions) {
      const auto holds = condition.program.evaluate_bool(values);
      if (holds && !*holds) {
        failed.reset();
        return false;
      }
      if (!holds && !failed) failed = error_in(condition.program, holds.error());
    }
    return !failed;
  }

  [[nodiscard]] std::optional<Failed> check(cel::Bindings values) const {
    std::optional<Failed> failed;
    if (!applies(values, failed)) return fails_closed ? failed : std::nullopt;

    cel::Map known;
    for (const NamedProgram& variable : variables) {
      auto value = variable.program.evaluate(values);
      known.entries.insert_or_assign(
          variable.name, value ? *std::move(value) : failed_variable(variable.name, value.error()));
      values["variables"] = cel::Value(known);
    }
    for (const Validation& validation : validations) {
      const auto holds = validation.program.evaluate_bool(values);
      if (holds && *holds) continue;
      if (holds) return Failed{validation.reason, message_of(validation, values)};
      if (fails_closed) return error_in(validation.program, holds.error());
    }
    return std::nullopt;
  }
};

base::Result<AdmissionPolicies> AdmissionPolicies::load(const std::vector<json>& policies,
                                                        const std::vector<json>& bindings) {
  AdmissionPolicies loaded;
  for (const json& object : policies) {
    const std::string name = object.value("/metadata/name"_json_pointer, "");
    try {
      auto policy = std::make_shared<Policy>(Policy::parse(object));
      for (const json& binding : bindings) policy->bind(binding);
      loaded.policies_.push_back(std::move(policy));
    } catch (const Refusal& refusal) {
      return base::Error{base::ErrorKind::Invalid,
                         base::cat("ValidatingAdmissionPolicy \"", name, "\": ", refusal.message)};
    } catch (const json::exception& error) {
      return base::Error{base::ErrorKind::Invalid,
                         base::cat("ValidatingAdmissionPolicy \"", name, "\": ", error.what())};
    }
  }
  return loaded;
}

std::optional<Denial> AdmissionPolicies::review(const AdmissionRequest& request) const {
  std::optional<cel::Bindings> values;  // made for the first policy that is about the request
  for (const auto& policy : policies_) {
    if (!policy->match.matches(request)) continue;
    const auto binding = std::ranges::find_if(
        policy->bindings, [&](const Binding& bound) { return bound.match.matches(request); });
    if (binding == policy->bindings.end()) continue;
    if (!values) values = bindings_of(request);
    const std::optional<Failed> failed = policy->check(*values);
    if (!failed) continue;
    const std::string resource =
        request.group.empty() ? request.resource : base::cat(request.resource, ".", request.group);
    const std::string cause =
        base::cat("ValidatingAdmissionPolicy '", policy->name, "' with binding '", binding->name,
                  "' denied request: ", failed->message);
    return Denial{code_of(failed->reason), failed->reason, cause,
                  base::cat(resource, " \"", request.name, "\" is forbidden: ", cause)};
  }
  return std::nullopt;
}

}  // namespace cdom::sandbox
