#include "sandbox/apiserver/rest/strategy.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "sandbox/apiserver/kinds/custom_version.h"
#include "sandbox/apiserver/kinds/definitions.h"
#include "sandbox/apiserver/rest/object_path.h"
#include "sandbox/apiserver/rules/admission.h"
#include "sandbox/apiserver/rules/claim_rules.h"
#include "sandbox/apiserver/rules/resource_rules.h"
#include "sandbox/apiserver/rules/slice_rules.h"
#include "sandbox/apiserver/rules/workload_rules.h"
#include "sandbox/schema/validate.h"

namespace cdom::sandbox::server {

namespace {

bool keeps_status_on_create(const Kind& kind) { return kind.bucket == "nodes"; }

// Whether /status writes nothing of the metadata (metav1.ResetObjectMetaForStatus).
bool status_resets_metadata(const Kind& kind) {
  return kind.is_custom() || kind.bucket == "resourceclaims.resource.k8s.io" ||
         kind.bucket == "customresourcedefinitions.apiextensions.k8s.io";
}

void take_from(const json& source, json& object, const char* field) {
  const auto found = source.find(field);
  if (found == source.end()) {
    object.erase(field);
  } else {
    object[field] = *found;
  }
}

// On /status everything is as it was but the status and, for some kinds, labels and annotations.
void keep_all_but_status(const Kind& kind, const json& old_object, json& object) {
  json next = old_object;
  take_from(object, next, "status");
  json& metadata = next["metadata"];
  take_from(object["metadata"], metadata, "managedFields");
  if (!status_resets_metadata(kind)) {
    take_from(object["metadata"], metadata, "labels");
    take_from(object["metadata"], metadata, "annotations");
    take_from(object["metadata"], metadata, "finalizers");
  }
  object = std::move(next);
}

// What generation counts: everything but metadata and, where it has its own endpoint, status.
bool is_same_request(const Kind& kind, const json& a, const json& b) {
  const bool has_status = kind.has_subresource("status");
  const auto counts = [&](const std::string& member) {
    return member != "metadata" && (member != "status" || !has_status);
  };
  const auto has_all_of = [&](const json& one, const json& other) {
    const auto items = other.items();
    return std::all_of(items.begin(), items.end(), [&](const auto& item) {
      if (!counts(item.key())) return true;
      const auto found = one.find(item.key());
      return found != one.end() && *found == item.value();
    });
  };
  return has_all_of(a, b) && has_all_of(b, a);
}

void count_generation(const Kind& kind, const json& old_object, json& object) {
  if (!kind.is_custom() && !kind.has_generation) return;
  const std::int64_t before = old_object.at("metadata").value("generation", std::int64_t{0});
  object["metadata"]["generation"] =
      is_same_request(kind, old_object, object) ? before : before + 1;
}

void prepare_namespace(json& object) {
  object["spec"]["finalizers"] = {"kubernetes"};
  object["status"] = {{"phase", "Active"}};
  object["metadata"]["labels"]["kubernetes.io/metadata.name"] = name_of(object);
}

void apply_kind_defaults(Call& call, json& object) {
  const std::string& bucket = call.kind->bucket;
  if (call.kind->is_custom()) {
    schema::apply_defaults(object, *call.kind->custom->schema);
  } else if (bucket == "pods") {
    default_pod(object);
  } else if (bucket == "jobs.batch") {
    default_job(object);
  } else if (call.kind->group == "resource.k8s.io") {
    default_claim(*call.kind, object);
  }
}

// A policy that this server cannot evaluate is refused, not passed over.
std::vector<Cause> policy_causes(const json& policy) {
  const auto loaded = AdmissionPolicies::load({policy}, {});
  if (loaded) return {};
  return {invalid_value("spec", "<omitted>", loaded.error().message)};
}

}  // namespace

void prepare_create(Call& call, json& object) {
  const Kind& kind = *call.kind;
  if (kind.has_subresource("status") && !keeps_status_on_create(kind)) object.erase("status");
  apply_kind_defaults(call, object);
  if (kind.bucket == "namespaces") prepare_namespace(object);
  if (kind.bucket == "pods") prepare_created_pod(object);
  if (kind.bucket == "jobs.batch") prepare_created_job(object);
  if (is_definition(kind)) prepare_definition(call.state.clock, nullptr, object);
}

void prepare_update(Call& call, const json& old_object, json& object) {
  const Kind& kind = *call.kind;
  if (call.info.subresource == "status") {
    keep_all_but_status(kind, old_object, object);
    if (kind.bucket == "resourceclaims.resource.k8s.io") {
      drop_deallocated_devices(old_object, object);
    }
  } else if (kind.has_subresource("status")) {
    take_from(old_object, object, "status");
  }
  if (kind.bucket == "namespaces" && call.info.subresource != "finalize") {
    object["spec"]["finalizers"] = at_path(old_object, {"spec", "finalizers"});
  }
  apply_kind_defaults(call, object);
  if (is_definition(kind)) prepare_definition(call.state.clock, &old_object, object);
  count_generation(kind, old_object, object);
}

std::vector<Cause> strategy_causes(const Call& call, const json& object, const json* old_object) {
  const Kind& kind = *call.kind;
  if (kind.is_custom()) return schema::validate(object, old_object, *kind.custom->schema);
  if (kind.bucket == "pods") return pod_causes(call, object, old_object);
  if (kind.bucket == "jobs.batch") return job_causes(object, old_object);
  if (kind.bucket == "resourceclaims.resource.k8s.io") {
    return claim_causes(call, object, old_object);
  }
  if (kind.bucket == "resourceclaimtemplates.resource.k8s.io") {
    return claim_template_causes(call, object, old_object);
  }
  if (is_definition(kind)) return definition_causes(call.state.kinds, object, old_object);
  if (kind.bucket == "validatingadmissionpolicies.admissionregistration.k8s.io") {
    return policy_causes(object);
  }
  if (kind.bucket == "deviceclasses.resource.k8s.io") return class_causes(object);
  if (kind.bucket == "resourceslices.resource.k8s.io") return slice_causes(object, old_object);
  return {};
}

std::vector<std::string> reset_fields(const Call& call) {
  if (call.info.subresource == "status") return {"metadata", "spec"};
  if (call.kind->has_subresource("status")) return {"status"};
  return {};
}

}  // namespace cdom::sandbox::server
