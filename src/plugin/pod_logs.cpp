#include "compute_domain/plugin/pod_logs.h"

#include <algorithm>
#include <set>
#include <tuple>

#include "compute_domain/api/names.h"
#include "compute_domain/base/text.h"

namespace cdom::plugin {

namespace {

using base::cat;

bool is_ready(const api::PodState& pod) {
  const api::PodCondition* ready = pod.condition("Ready");
  return ready != nullptr && ready->status == api::ConditionStatus::True;
}

// Others may run in its namespaces, whose logs are nobody's business here.
bool is_operators_own(const api::PodState& pod) {
  static const std::set<std::string> kApps{"compute-domain-controller", "compute-domain-agent",
                                           "imex-daemon"};
  return kApps.contains(pod.meta.label(api::kAgentAppLabel));
}

// Those of the operator, in the order in which they are worth a look.
std::vector<const api::PodState*> pods_with_logs(const ClusterView& view) {
  const std::string& operators = view.namespaces.operators;
  std::vector<const api::PodState*> pods;
  for (const api::PodState& pod : view.pods) {
    const bool is_there = pod.meta.ns == operators || pod.meta.ns == view.namespaces.nodes;
    if (is_there && is_operators_own(pod)) pods.push_back(&pod);
  }
  std::ranges::stable_sort(pods, {}, [&](const api::PodState* pod) {
    return std::tuple(pod->meta.ns != operators, is_ready(*pod), pod->meta.name);
  });
  return pods;
}

std::string path_of(const api::PodState& pod, const std::string& container, bool is_previous) {
  return cat("/api/v1/namespaces/", pod.meta.ns, "/pods/", pod.meta.name,
             "/log?container=", container, "&tailLines=", kMostLogLines,
             is_previous ? "&previous=true" : "");
}

}  // namespace

PodLogs read_logs(const kube::Client& client, const ClusterView& view) {
  PodLogs found;
  std::vector<const api::PodState*> pods = pods_with_logs(view);
  if (pods.size() > kMostLoggedPods) {
    found.problems.push_back(cat("without the logs of ", pods.size() - kMostLoggedPods,
                                 " more pods: it has those of ", kMostLoggedPods));
    pods.resize(kMostLoggedPods);
  }
  std::set<std::string> refused;  // namespaces
  for (const api::PodState* pod : pods) {
    for (const api::ContainerSpec& container : pod->container_specs) {
      for (const bool is_previous : {false, true}) {
        if (refused.contains(pod->meta.ns)) continue;
        auto text = client.read(path_of(*pod, container.name, is_previous));
        if (text) {
          found.logs.push_back(
              {pod->meta.ns, pod->meta.name, container.name, is_previous, *std::move(text)});
        } else if (text.error().kind == base::ErrorKind::Forbidden) {
          refused.insert(pod->meta.ns);
          found.problems.push_back(cat("without logs of namespace ", pod->meta.ns,
                                       ": you lack the right \"get\" on pods/log there"));
        } else if (!is_previous) {  // most containers have never started again
          found.problems.push_back(cat("without the log of pod ", pod->meta.name, ", container ",
                                       container.name, ": ", text.error().message));
        }
      }
    }
  }
  return found;
}

}  // namespace cdom::plugin
