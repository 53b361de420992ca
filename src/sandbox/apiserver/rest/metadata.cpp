#include "sandbox/apiserver/rest/metadata.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "compute_domain/base/text.h"
#include "sandbox/apiserver/rest/object_path.h"

namespace cdom::sandbox::server {

using base::cat;

namespace {

// Set by the server alone, and kept over updates.
constexpr const char* kServerFields[] = {"creationTimestamp", "deletionTimestamp",
                                         "deletionGracePeriodSeconds", "generation", "selfLink"};

constexpr std::string_view kSubdomainRule =
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or "
    "'.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used "
    "for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')";
constexpr std::string_view kLabelRule =
    "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and "
    "must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used "
    "for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')";
constexpr std::string_view kLabelValueRule =
    "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', "
    "and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or "
    "'12345', regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')";
constexpr std::size_t kAnnotationsLimit = 256u << 10;

bool is_path_segment_name(const Kind& kind) { return kind.group == "rbac.authorization.k8s.io"; }

void check_name(const Kind& kind, const json& object, std::vector<Cause>& causes) {
  const std::string& name = name_of(object);
  if (name.empty()) {
    causes.push_back(required_field("metadata.name", "name or generateName is required"));
  } else if (is_path_segment_name(kind)) {
    if (name == "." || name == ".." || name.find_first_of("/%") != std::string::npos) {
      causes.push_back(
          invalid_value("metadata.name", in_quotes(name), "may not contain '/' or '%'"));
    }
  } else if (kind.resource == "namespaces" || kind.resource == "services") {
    if (!base::is_dns_label(name)) {
      causes.push_back(invalid_value("metadata.name", in_quotes(name), kLabelRule));
    }
  } else if (!base::is_dns_subdomain(name)) {
    causes.push_back(invalid_value("metadata.name", in_quotes(name), kSubdomainRule));
  }
}

void check_labels(const json& object, std::vector<Cause>& causes) {
  const json& labels = at_path(object, {"metadata", "labels"});
  if (labels.is_null()) return;
  for (const auto& [key, value] : labels.items()) {
    const std::string& text = value.get_ref<const std::string&>();
    if (!base::is_label_value(text)) {
      causes.push_back(invalid_value("metadata.labels", in_quotes(text), kLabelValueRule));
    }
  }
}

void check_annotations(const json& object, std::vector<Cause>& causes) {
  const json& annotations = at_path(object, {"metadata", "annotations"});
  if (annotations.is_null()) return;
  std::size_t size = 0;
  for (const auto& [key, value] : annotations.items()) {
    size += key.size() + value.get_ref<const std::string&>().size();
  }
  if (size > kAnnotationsLimit) {
    causes.push_back(
        {.reason = "FieldValueTooLong",
         .message = cat("Too long: may not be more than ", kAnnotationsLimit, " bytes"),
         .field = "metadata.annotations"});
  }
}

void check_owners(const json& object, std::vector<Cause>& causes) {
  const json& owners = at_path(object, {"metadata", "ownerReferences"});
  if (owners.is_null()) return;
  std::vector<std::string> controllers;
  for (std::size_t i = 0; i < owners.size(); ++i) {
    for (const char* field : {"apiVersion", "kind", "name", "uid"}) {
      if (text_at(owners[i], {field}).empty()) {
        causes.push_back(invalid_value(cat("metadata.ownerReferences[", i, "].", field), "\"\"",
                                       cat(field, " must not be empty")));
      }
    }
    if (at_path(owners[i], {"controller"}) == true) {
      controllers.push_back(text_at(owners[i], {"name"}));
    }
  }
  if (controllers.size() > 1) {
    causes.push_back(invalid_value("metadata.ownerReferences", owners.dump(),
                                   cat("Only one reference can have Controller set to true. Found "
                                       "\"true\" in references for ",
                                       base::join(controllers, " and "))));
  }
}

void check_finalizers(const json& object, const json* old_object, std::vector<Cause>& causes) {
  const json& finalizers = at_path(object, {"metadata", "finalizers"});
  if (finalizers.is_null()) return;
  for (const json& finalizer : finalizers) {
    if (!finalizer.is_string() || finalizer.get_ref<const std::string&>().empty()) {
      causes.push_back(
          invalid_value("metadata.finalizers", finalizer.dump(), "name part must be non-empty"));
    }
  }
  if (old_object == nullptr || !is_being_deleted(*old_object)) return;
  const json& before = at_path(*old_object, {"metadata", "finalizers"});
  std::vector<std::string> added;
  for (const json& finalizer : finalizers) {
    if (finalizer.is_string() && !list_has(before, finalizer.get_ref<const std::string&>())) {
      added.push_back(in_quotes(finalizer.get_ref<const std::string&>()));
    }
  }
  if (!added.empty()) {
    causes.push_back(forbidden_field(
        "metadata.finalizers",
        cat("no new finalizers can be added if the object is being deleted, found new finalizers "
            "[]string{",
            base::join(added, ", "), "}")));
  }
}

}  // namespace

void prepare_created_metadata(Call& call, json& object) {
  json& metadata = object["metadata"];
  for (const char* field : kServerFields) metadata.erase(field);
  if (!text_at(metadata, {"resourceVersion"}).empty()) {
    throw StatusError(bad_request("resourceVersion should not be set on objects to be created"));
  }
  metadata.erase("resourceVersion");
  metadata["uid"] = call.state.random.uuid();
  metadata["creationTimestamp"] = base::to_rfc3339(call.state.clock.now());
  if (call.kind->is_custom() || call.kind->has_generation) metadata["generation"] = 1;
  drop_repeated_owners(call, object);
}

std::string generate_name(base::Random& random, std::string_view prefix) {
  constexpr std::string_view kLetters = "bcdfghjklmnpqrstvwxz2456789";
  std::string name(prefix.substr(0, 58));
  for (int i = 0; i < 5; ++i) name += kLetters[random.below(kLetters.size())];
  return name;
}

void keep_server_metadata(const json& old_object, json& object) {
  const json& before = old_object.at("metadata");
  json& metadata = object["metadata"];
  for (const char* field : kServerFields) {
    metadata.erase(field);
    if (const auto found = before.find(field); found != before.end()) metadata[field] = *found;
  }
  if (!metadata.contains("uid")) metadata["uid"] = before.at("uid");
  if (!metadata.contains("name")) metadata["name"] = before.at("name");
  metadata["resourceVersion"] = before.at("resourceVersion");
}

void check_update_preconditions(const Call& call, const json& old_object, const json& body) {
  const Kind& kind = *call.kind;
  const std::string& name = name_of(old_object);
  const std::string& version = text_at(body, {"metadata", "resourceVersion"});
  const std::string& current = text_at(old_object, {"metadata", "resourceVersion"});
  if (version.empty() && (kind.is_custom() || !kind.unconditional_update)) {
    throw StatusError(invalid(
        kind, name,
        {invalid_value("metadata.resourceVersion", "0", "must be specified for an update")}));
  }
  if (const std::string& uid = uid_of(body); !uid.empty() && uid != uid_of(old_object)) {
    throw StatusError(conflict(kind, name,
                               cat("Precondition failed: UID in precondition: ", uid,
                                   ", UID in object meta: ", uid_of(old_object))));
  }
  if (!version.empty() && version != current) throw StatusError(stale(kind, name));
}

std::vector<Cause> metadata_causes(const Kind& kind, const json& object, const json* old_object) {
  std::vector<Cause> causes;
  if (old_object == nullptr) {
    check_name(kind, object, causes);
  } else if (uid_of(object) != uid_of(*old_object)) {
    causes.push_back(
        invalid_value("metadata.uid", in_quotes(uid_of(object)), "field is immutable"));
  }
  check_labels(object, causes);
  check_annotations(object, causes);
  check_owners(object, causes);
  check_finalizers(object, old_object, causes);
  return causes;
}

void drop_repeated_owners(Call& call, json& object) {
  json& metadata = object["metadata"];
  const auto owners = metadata.find("ownerReferences");
  if (owners == metadata.end()) return;
  std::set<std::string> seen;
  json kept = json::array();
  for (json& owner : *owners) {
    if (seen.insert(owner.dump()).second) kept.push_back(std::move(owner));
  }
  if (kept.size() != owners->size()) {
    call.warnings.push_back(
        "metadata.ownerReferences contains duplicate entries; API server dedups owner references "
        "in 1.20+, and may reject such requests as early as 1.24; please fix your requests");
  }
  *owners = std::move(kept);
}

}  // namespace cdom::sandbox::server
