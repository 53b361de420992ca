#include "sandbox/apiserver/rules/workload_rules.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "compute_domain/base/text.h"
#include "sandbox/apiserver/rest/object_path.h"
#include "sandbox/apiserver/rules/resource_rules.h"

namespace cdom::sandbox::server {

using base::cat;

namespace {

constexpr std::int64_t kDefaultGraceSeconds = 30;

void set_default(json& object, const char* field, json value) {
  if (!object.contains(field) || object[field].is_null()) object[field] = std::move(value);
}

void default_pod_spec(json& spec) {
  set_default(spec, "restartPolicy", "Always");
  set_default(spec, "dnsPolicy", "ClusterFirst");
  set_default(spec, "schedulerName", "default-scheduler");
  set_default(spec, "terminationGracePeriodSeconds", kDefaultGraceSeconds);
  set_default(spec, "securityContext", json::object());
  for (const char* list : {"containers", "initContainers"}) {
    const auto found = spec.find(list);
    if (found == spec.end() || !found->is_array()) continue;
    for (json& container : *found) {
      if (!container.is_object()) continue;
      set_default(container, "resources", json::object());
      set_default(container, "imagePullPolicy", "IfNotPresent");
      set_default(container, "terminationMessagePath", "/dev/termination-log");
      set_default(container, "terminationMessagePolicy", "File");
    }
  }
}

void check_containers(const json& spec, const std::string& field, std::vector<Cause>& causes) {
  const json& containers = at_path(spec, {"containers"});
  if (!containers.is_array() || containers.empty()) {
    causes.push_back(required_field(cat(field, ".containers")));
    return;
  }
  for (std::size_t i = 0; i < containers.size(); ++i) {
    const std::string here = cat(field, ".containers[", i, "]");
    const std::string& name = text_at(containers[i], {"name"});
    if (name.empty()) {
      causes.push_back(required_field(cat(here, ".name")));
    } else if (!base::is_dns_label(name)) {
      causes.push_back(invalid_value(cat(here, ".name"), cat("\"", name, "\""),
                                     "must be a lowercase RFC 1123 label"));
    }
    if (text_at(containers[i], {"image"}).empty()) {
      causes.push_back(required_field(cat(here, ".image")));
    }
  }
}

void check_claims(const json& spec, std::vector<Cause>& causes) {
  const json& claims = at_path(spec, {"resourceClaims"});
  if (!claims.is_array()) return;
  for (std::size_t i = 0; i < claims.size(); ++i) {
    const bool by_name = !text_at(claims[i], {"resourceClaimName"}).empty();
    const bool by_template = !text_at(claims[i], {"resourceClaimTemplateName"}).empty();
    if (by_name == by_template) {
      causes.push_back(invalid_value(cat("spec.resourceClaims[", i, "]"), claims[i].dump(),
                                     by_name ? "at most one of `resourceClaimName` or "
                                               "`resourceClaimTemplateName` may be specified"
                                             : "must specify one of: `resourceClaimName`, "
                                               "`resourceClaimTemplateName`"));
    }
  }
}

// A pod's spec is fixed but for images, activeDeadlineSeconds, terminationGracePeriodSeconds,
// tolerations (which may grow) and scheduling gates (which may shrink).
json fixed_part(json spec) {
  for (const char* field : {"activeDeadlineSeconds", "terminationGracePeriodSeconds", "tolerations",
                            "schedulingGates"}) {
    spec.erase(field);
  }
  for (const char* list : {"containers", "initContainers"}) {
    const auto found = spec.find(list);
    if (found == spec.end() || !found->is_array()) continue;
    for (json& container : *found) {
      if (container.is_object()) container.erase("image");
    }
  }
  return spec;
}

}  // namespace

void default_pod(json& pod) {
  if (pod.contains("spec") && pod["spec"].is_object()) {
    json& spec = pod["spec"];
    default_pod_spec(spec);
    default_resource_requests(spec);
    set_default(spec, "enableServiceLinks", true);
    set_default(spec, "preemptionPolicy", "PreemptLowerPriority");
    set_default(spec, "priority", 0);
    set_default(spec, "serviceAccountName", "default");
    set_default(spec, "serviceAccount", spec["serviceAccountName"]);
    // Added by the admission plugin DefaultTolerationSeconds.
    set_default(spec, "tolerations", json::array());
    for (const char* key : {"node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable"}) {
      bool tolerated = false;
      for (const json& toleration : spec["tolerations"]) {
        const std::string& wanted = text_at(toleration, {"key"});
        const std::string& effect = text_at(toleration, {"effect"});
        tolerated |= (wanted == key || wanted.empty()) && (effect.empty() || effect == "NoExecute");
      }
      if (tolerated) continue;
      spec["tolerations"].push_back({{"effect", "NoExecute"},
                                     {"key", key},
                                     {"operator", "Exists"},
                                     {"tolerationSeconds", 300}});
    }
  }
}

void prepare_created_pod(json& pod) {
  pod["status"] = {{"phase", "Pending"}, {"qosClass", "BestEffort"}};
}

std::vector<Cause> pod_causes(const Call& call, const json& pod, const json* old_pod) {
  std::vector<Cause> causes;
  const json& spec = at_path(pod, {"spec"});
  if (old_pod == nullptr) {
    check_containers(spec, "spec", causes);
    check_claims(spec, causes);
    check_resources(spec, "spec", causes);
    return causes;
  }
  if (call.info.subresource.empty() &&
      fixed_part(spec) != fixed_part(at_path(*old_pod, {"spec"}))) {
    causes.push_back(forbidden_field(
        "spec",
        "pod updates may not change fields other than `spec.containers[*].image`,"
        "`spec.initContainers[*].image`,`spec.activeDeadlineSeconds`,`spec.tolerations` (only "
        "additions to existing tolerations),`spec.terminationGracePeriodSeconds` (allow it to be "
        "set to 1 if it was previously negative)"));
  }
  return causes;
}

void default_job(json& job) {
  if (!job.contains("spec") || !job["spec"].is_object()) return;
  json& spec = job["spec"];
  if (!spec.contains("completions") && !spec.contains("parallelism")) {
    spec["completions"] = 1;
    spec["parallelism"] = 1;
  }
  set_default(spec, "parallelism", 1);
  set_default(spec, "completionMode", "NonIndexed");
  set_default(spec, "backoffLimit",
              spec.contains("backoffLimitPerIndex") ? json(2147483647) : json(6));
  set_default(spec, "suspend", false);
  set_default(spec, "manualSelector", false);
  set_default(spec, "podReplacementPolicy",
              spec.contains("podFailurePolicy") ? "Failed" : "TerminatingOrFailed");
  if (!spec.contains("template") || !spec["template"].is_object()) return;
  json& pod_template = spec["template"];
  if (pod_template.contains("spec") && pod_template["spec"].is_object()) {
    // The pod's default, which is not valid in a Job: who leaves it out is told so.
    default_pod_spec(pod_template["spec"]);
  }
}

void prepare_created_job(json& job) {
  if (!job.contains("spec") || !job["spec"].is_object()) return;
  json& spec = job["spec"];
  if (at_path(spec, {"manualSelector"}) == true) return;
  json& labels = spec["template"]["metadata"]["labels"];
  if (labels.is_null()) labels = json::object();
  labels["batch.kubernetes.io/controller-uid"] = uid_of(job);
  labels["batch.kubernetes.io/job-name"] = name_of(job);
  labels["controller-uid"] = uid_of(job);
  labels["job-name"] = name_of(job);
  spec["selector"] = {{"matchLabels", {{"batch.kubernetes.io/controller-uid", uid_of(job)}}}};
}

std::vector<Cause> job_causes(const json& job, const json* old_job) {
  std::vector<Cause> causes;
  if (old_job != nullptr) {
    for (const char* field : {"completionMode", "selector", "template"}) {
      const json& before = at_path(*old_job, {"spec", field});
      const json& after = at_path(job, {"spec", field});
      if (before == after) continue;
      causes.push_back(invalid_value(cat("spec.", field), after.dump(), "field is immutable"));
    }
    return causes;
  }
  const json& pod_spec = at_path(job, {"spec", "template", "spec"});
  check_containers(pod_spec, "spec.template.spec", causes);
  check_resources(pod_spec, "spec.template.spec", causes);
  const std::string& restart_policy = text_at(pod_spec, {"restartPolicy"});
  if (restart_policy != "Never" && restart_policy != "OnFailure") {
    causes.push_back({.reason = "FieldValueNotSupported",
                      .message = cat("Unsupported value: \"", restart_policy,
                                     "\": supported values: \"OnFailure\", \"Never\""),
                      .field = "spec.template.spec.restartPolicy"});
  }
  if (text_at(job, {"spec", "completionMode"}) == "Indexed" &&
      at_path(job, {"spec", "completions"}).is_null()) {
    causes.push_back(required_field("spec.completions", "when completion mode is Indexed"));
  }
  return causes;
}

std::int64_t grace_period_of(const json& pod, std::optional<std::int64_t> wanted) {
  const json& of_spec = at_path(pod, {"spec", "terminationGracePeriodSeconds"});
  const std::string& phase = text_at(pod, {"status", "phase"});
  if (text_at(pod, {"spec", "nodeName"}).empty() || phase == "Succeeded" || phase == "Failed") {
    return 0;
  }
  if (wanted) return std::max<std::int64_t>(*wanted, 0);
  return of_spec.is_number_integer() ? of_spec.get<std::int64_t>() : kDefaultGraceSeconds;
}

}  // namespace cdom::sandbox::server
