#include "core/workloads/workload_words.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "compute_domain/base/text.h"

namespace cdom::core {

namespace {

using base::cat;

bool is_letter(char c) { return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z'); }

bool is_plain_kind(std::string_view kind) {
  return !kind.empty() && is_letter(kind.front()) &&
         std::ranges::all_of(kind, [](char c) { return is_letter(c) || (c >= '0' && c <= '9'); });
}

// Kinds of Kubernetes itself that make pods.
bool is_of_kubernetes(std::string_view group, std::string_view kind) {
  constexpr std::array<std::string_view, 4> kApps{"DaemonSet", "Deployment", "ReplicaSet",
                                                  "StatefulSet"};
  if (group == "batch") return kind == "Job" || kind == "CronJob";
  if (group == "apps") return std::ranges::find(kApps, kind) != kApps.end();
  return group.empty() && kind == "ReplicationController";
}

// Groups of custom resources; those of Kubernetes itself are "policy" or "….k8s.io".
bool is_of_others(std::string_view group) {
  const bool is_kubernetes = group.ends_with(".k8s.io") && !group.ends_with(".x-k8s.io");
  return group.find('.') != std::string_view::npos && !is_kubernetes &&
         base::is_dns_subdomain(group);
}

}  // namespace

std::string how_to_end(const api::Workload& workload, const std::string& api_version,
                       const std::string& ns) {
  if (!is_plain_kind(workload.kind) || !base::is_dns_subdomain(workload.name)) return "";
  const std::size_t slash = api_version.find('/');
  const std::string group = slash == std::string::npos ? "" : api_version.substr(0, slash);
  const std::string version = api_version.substr(slash == std::string::npos ? 0 : slash + 1);
  const auto command = [&](const std::string& resource) {
    return cat("kubectl delete ", resource, " ", workload.name, " -n ", ns);
  };
  const std::string kind = base::to_lower(workload.kind);
  if (is_of_others(group)) {
    return base::is_dns_label(version) ? command(cat(kind, ".", version, ".", group)) : "";
  }
  const bool is_known = api_version.empty() ? is_of_kubernetes("batch", workload.kind) ||
                                                  is_of_kubernetes("apps", workload.kind)
                                            : is_of_kubernetes(group, workload.kind);
  if (!is_known) return "";
  // Its Deployment would make another one at once.
  if (workload.kind == "ReplicaSet") {
    return cat("delete or scale down what owns ReplicaSet ", workload.name);
  }
  return command(kind);
}

}  // namespace cdom::core
