#include "sandbox/apiserver/kinds/definitions.h"

#include <nlohmann/json.hpp>
#include <stdexcept>

#include "compute_domain/base/text.h"
#include "sandbox/apiserver/kinds/custom_version.h"
#include "sandbox/apiserver/rest/object_path.h"

namespace cdom::sandbox::server {

using base::cat;

namespace {

json condition(const std::string& type, const std::string& reason, const std::string& message,
               const base::Clock& clock) {
  return {{"type", type},
          {"status", "True"},
          {"reason", reason},
          {"message", message},
          {"lastTransitionTime", base::to_rfc3339(clock.now())}};
}

void default_names(json& definition) {
  if (!at_path(definition, {"spec", "names"}).is_object()) return;
  json& names = definition["spec"]["names"];
  const std::string& kind = text_at(names, {"kind"});
  if (!names.contains("singular")) names["singular"] = base::to_lower(kind);
  if (!names.contains("listKind")) names["listKind"] = cat(kind, "List");
  if (!definition["spec"].contains("conversion")) {
    definition["spec"]["conversion"] = {{"strategy", "None"}};
  }
}

const std::string& storage_version_of(const json& definition) {
  static const std::string kNone;
  const json& versions = at_path(definition, {"spec", "versions"});
  if (!versions.is_array()) return kNone;
  for (const json& version : versions) {
    if (at_path(version, {"storage"}) == true) return text_at(version, {"name"});
  }
  return kNone;
}

Cause immutable(const json& definition, std::initializer_list<std::string_view> path,
                std::string field) {
  return invalid_value(std::move(field), at_path(definition, path).dump(), "field is immutable");
}

}  // namespace

bool is_definition(const Kind& kind) {
  return kind.bucket == "customresourcedefinitions.apiextensions.k8s.io";
}

void prepare_definition(const base::Clock& clock, const json* old_definition, json& definition) {
  default_names(definition);
  if (old_definition == nullptr) {
    definition["status"] = {
        {"conditions",
         {condition("NamesAccepted", "NoConflicts", "no conflicts found", clock),
          condition("Established", "InitialNamesAccepted", "the initial names have been accepted",
                    clock)}}};
  }
  json& status = definition["status"];
  status["acceptedNames"] = at_path(definition, {"spec", "names"});
  json& stored = status["storedVersions"];
  if (stored.is_null()) stored = json::array();
  const std::string& version = storage_version_of(definition);
  if (!version.empty() && !list_has(stored, version)) stored.push_back(version);
}

std::vector<Cause> definition_causes(const Kinds& kinds, const json& definition,
                                     const json* old_definition) {
  std::vector<Cause> causes;
  const std::string& group = text_at(definition, {"spec", "group"});
  const std::string& plural = text_at(definition, {"spec", "names", "plural"});
  for (const char* field : {"plural", "singular", "kind", "listKind"}) {
    if (text_at(definition, {"spec", "names", field}).empty()) {
      causes.push_back(required_field(cat("spec.names.", field)));
    }
  }
  if (group.find('.') == std::string::npos) {
    causes.push_back(
        invalid_value("spec.group", in_quotes(group), "should be a domain with at least one dot"));
  }
  if (const std::string wanted = cat(plural, ".", group); name_of(definition) != wanted) {
    causes.push_back(invalid_value("metadata.name", in_quotes(name_of(definition)),
                                   "must be spec.names.plural+\".\"+spec.group"));
  }
  const std::string& scope = text_at(definition, {"spec", "scope"});
  if (scope != "Namespaced" && scope != "Cluster") {
    causes.push_back({.reason = "FieldValueNotSupported",
                      .message = cat("Unsupported value: ", in_quotes(scope),
                                     ": supported values: \"Cluster\", \"Namespaced\""),
                      .field = "spec.scope"});
  }
  if (storage_version_of(definition).empty()) {
    causes.push_back(invalid_value("spec.versions", "[]",
                                   "must have exactly one version marked as storage version"));
  }
  const KindRef there = kinds.stored(group, plural);
  if (there && !there->is_custom()) {
    causes.push_back(forbidden_field("spec.names.plural", "is a resource of the cluster itself"));
  }
  if (old_definition != nullptr) {
    const auto keep = [&](std::initializer_list<std::string_view> path, std::string field) {
      if (at_path(definition, path) == at_path(*old_definition, path)) return;
      causes.push_back(immutable(definition, path, std::move(field)));
    };
    keep({"spec", "group"}, "spec.group");
    keep({"spec", "scope"}, "spec.scope");
    keep({"spec", "names", "plural"}, "spec.names.plural");
    keep({"spec", "names", "kind"}, "spec.names.kind");
  }
  if (!causes.empty()) return causes;
  const auto rows = kinds_of_definition(definition);
  if (!rows) causes.push_back(invalid_value("spec.versions", "<omitted>", rows.error().message));
  return causes;
}

void install_definition(Kinds& kinds, const json& definition) {
  auto rows = kinds_of_definition(definition);
  if (!rows) throw std::logic_error("a stored definition does not parse: " + rows.error().message);
  uninstall_definition(kinds, definition);
  for (Kind& row : rows.value()) kinds.add(std::move(row));
}

void uninstall_definition(Kinds& kinds, const json& definition) {
  kinds.remove(text_at(definition, {"spec", "group"}),
               text_at(definition, {"spec", "names", "plural"}));
}

}  // namespace cdom::sandbox::server
