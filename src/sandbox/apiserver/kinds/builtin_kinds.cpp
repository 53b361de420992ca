// The resources that a cluster has before any CustomResourceDefinition: those which this project,
// its manifests and kubectl touch. Names and flags as in Kubernetes 1.36 (registry strategies).
#include "sandbox/apiserver/kinds/kinds.h"

namespace cdom::sandbox::server {

namespace {

constexpr bool kNamespaced = true;
constexpr bool kClusterScoped = false;

Kind row(std::string group, std::string version, std::string kind, std::string resource,
         std::string singular, bool namespaced, std::vector<std::string> short_names = {},
         std::vector<std::string> subresources = {}, std::vector<std::string> categories = {}) {
  return {.group = std::move(group),
          .version = std::move(version),
          .kind = std::move(kind),
          .resource = std::move(resource),
          .singular = std::move(singular),
          .namespaced = namespaced,
          .short_names = std::move(short_names),
          .categories = std::move(categories),
          .subresources = std::move(subresources)};
}

Kind with_generation(Kind kind) {
  kind.has_generation = true;
  return kind;
}

Kind review(std::string group, std::string kind, std::string resource, std::string singular) {
  Kind out = row(std::move(group), "v1", std::move(kind), std::move(resource), std::move(singular),
                 kClusterScoped);
  out.is_review = true;
  return out;
}

std::vector<Kind> core_kinds() {
  Kind event = row("", "v1", "Event", "events", "event", kNamespaced, {"ev"});
  event.create_on_update = true;
  Kind service_account = row("", "v1", "ServiceAccount", "serviceaccounts", "serviceaccount",
                             kNamespaced, {"sa"}, {"token"});
  service_account.unconditional_update = false;
  return {
      row("", "v1", "ConfigMap", "configmaps", "configmap", kNamespaced, {"cm"}),
      std::move(event),
      row("", "v1", "Namespace", "namespaces", "namespace", kClusterScoped, {"ns"},
          {"status", "finalize"}),
      row("", "v1", "Node", "nodes", "node", kClusterScoped, {"no"}, {"status"}),
      with_generation(row("", "v1", "Pod", "pods", "pod", kNamespaced, {"po"},
                          {"status", "log", "binding", "eviction"}, {"all"})),
      row("", "v1", "Secret", "secrets", "secret", kNamespaced),
      std::move(service_account),
      row("", "v1", "Service", "services", "service", kNamespaced, {"svc"}, {"status"}, {"all"}),
  };
}

std::vector<Kind> workload_kinds() {
  std::vector<Kind> out;
  const auto add = [&](const char* group, const char* kind, const char* resource,
                       const char* singular, std::vector<std::string> short_names) {
    out.push_back(with_generation(row(group, "v1", kind, resource, singular, kNamespaced,
                                      std::move(short_names), {"status"}, {"all"})));
  };
  add("apps", "DaemonSet", "daemonsets", "daemonset", {"ds"});
  add("apps", "Deployment", "deployments", "deployment", {"deploy"});
  add("apps", "ReplicaSet", "replicasets", "replicaset", {"rs"});
  add("apps", "StatefulSet", "statefulsets", "statefulset", {"sts"});
  add("batch", "Job", "jobs", "job", {});
  return out;
}

// One resource in v1, v1beta2 and v1beta1, stored as v1.
std::vector<Kind> dra_kinds() {
  std::vector<Kind> out;
  for (const char* version : {"v1", "v1beta2", "v1beta1"}) {
    const std::string group = "resource.k8s.io";
    std::vector<Kind> kinds = {
        with_generation(
            row(group, version, "DeviceClass", "deviceclasses", "deviceclass", kClusterScoped)),
        row(group, version, "ResourceClaim", "resourceclaims", "resourceclaim", kNamespaced, {},
            {"status"}),
        row(group, version, "ResourceClaimTemplate", "resourceclaimtemplates",
            "resourceclaimtemplate", kNamespaced),
        with_generation(row(group, version, "ResourceSlice", "resourceslices", "resourceslice",
                            kClusterScoped)),
    };
    for (Kind& kind : kinds) {
      kind.storage_version = "v1";
      out.push_back(std::move(kind));
    }
  }
  return out;
}

std::vector<Kind> policy_kinds() {
  const std::string rbac = "rbac.authorization.k8s.io";
  const std::string admission = "admissionregistration.k8s.io";
  Kind crd = with_generation(row("apiextensions.k8s.io", "v1", "CustomResourceDefinition",
                                 "customresourcedefinitions", "customresourcedefinition",
                                 kClusterScoped, {"crd", "crds"}, {"status"}, {"api-extensions"}));
  crd.unconditional_update = false;
  Kind policy = with_generation(row(admission, "v1", "ValidatingAdmissionPolicy",
                                    "validatingadmissionpolicies", "validatingadmissionpolicy",
                                    kClusterScoped, {}, {"status"}, {"api-extensions"}));
  policy.unconditional_update = false;
  Kind binding = with_generation(
      row(admission, "v1", "ValidatingAdmissionPolicyBinding", "validatingadmissionpolicybindings",
          "validatingadmissionpolicybinding", kClusterScoped, {}, {}, {"api-extensions"}));
  binding.unconditional_update = false;
  return {
      row(rbac, "v1", "ClusterRole", "clusterroles", "clusterrole", kClusterScoped),
      row(rbac, "v1", "ClusterRoleBinding", "clusterrolebindings", "clusterrolebinding",
          kClusterScoped),
      row(rbac, "v1", "Role", "roles", "role", kNamespaced),
      row(rbac, "v1", "RoleBinding", "rolebindings", "rolebinding", kNamespaced),
      std::move(policy),
      std::move(binding),
      std::move(crd),
  };
}

}  // namespace

std::vector<Kind> builtin_kinds() {
  std::vector<Kind> out = core_kinds();
  const auto append = [&](std::vector<Kind> kinds) {
    for (Kind& kind : kinds) out.push_back(std::move(kind));
  };
  append(workload_kinds());

  Kind event = row("events.k8s.io", "v1", "Event", "events", "event", kNamespaced, {"ev"});
  event.bucket = "events";  // the same objects as core v1, under other field names
  event.create_on_update = true;
  out.push_back(std::move(event));

  append(dra_kinds());

  Kind lease = row("coordination.k8s.io", "v1", "Lease", "leases", "lease", kNamespaced);
  lease.unconditional_update = false;
  lease.create_on_update = true;
  out.push_back(std::move(lease));

  out.push_back(with_generation(row("scheduling.k8s.io", "v1", "PriorityClass", "priorityclasses",
                                    "priorityclass", kClusterScoped, {"pc"})));
  out.push_back(with_generation(row("policy", "v1", "PodDisruptionBudget", "poddisruptionbudgets",
                                    "poddisruptionbudget", kNamespaced, {"pdb"}, {"status"})));
  out.push_back(with_generation(row("networking.k8s.io", "v1", "NetworkPolicy", "networkpolicies",
                                    "networkpolicy", kNamespaced, {"netpol"})));
  append(policy_kinds());
  append({
      review("authentication.k8s.io", "SelfSubjectReview", "selfsubjectreviews",
             "selfsubjectreview"),
      review("authentication.k8s.io", "TokenReview", "tokenreviews", "tokenreview"),
      review("authorization.k8s.io", "SelfSubjectAccessReview", "selfsubjectaccessreviews",
             "selfsubjectaccessreview"),
      review("authorization.k8s.io", "SubjectAccessReview", "subjectaccessreviews",
             "subjectaccessreview"),
  });
  return out;
}

}  // namespace cdom::sandbox::server
