#include "compute_domain/plugin/pod_logs.h"

#include <algorithm>
#include <set>
#include <tuple>

#include "compute_domain/api/names.h"
#include "compute_domain/base/text.h"

namespace cdom::plugin {

namespace {

using base::cat;
using base::ErrorKind;

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

class LogReading {
 public:
  LogReading(const kube::Client& client, const TellPerson& tell) : client_(client), tell_(tell) {}

  void read(const api::PodState& pod) {
    if (silent_nodes_.contains(pod.node)) {
      return tell_(cat("without the logs of pod ", pod.meta.name, ": its node ", pod.node,
                       " has not answered before"));
    }
    for (const api::ContainerSpec& container : pod.container_specs) {
      for (const bool is_previous : {false, true}) {
        if (refusing_namespaces_.contains(pod.meta.ns)) return;
        auto text = client_.read(path_of(pod, container.name, is_previous));
        if (text) {
          logs.push_back(
              {pod.meta.ns, pod.meta.name, container.name, is_previous, *std::move(text)});
          continue;
        }
        tell_failure(pod, container.name, is_previous, text.error());
        if (text.error().kind != ErrorKind::Unavailable) continue;
        // Each request would wait for the same kubelet until it times out.
        if (!pod.node.empty()) silent_nodes_.insert(pod.node);
        return;
      }
    }
  }

  std::vector<PodLog> logs;

 private:
  void tell_failure(const api::PodState& pod, const std::string& container, bool is_previous,
                    const base::Error& error) {
    if (error.kind == ErrorKind::Forbidden) {
      refusing_namespaces_.insert(pod.meta.ns);
      tell_(cat("without logs of namespace ", pod.meta.ns, ": ",
                error.is_unauthenticated ? error.message
                                         : "you lack the right \"get\" on pods/log there"));
    } else if (!is_previous || error.kind == ErrorKind::Unavailable) {
      // Most containers have never started again.
      tell_(cat("without the log of pod ", pod.meta.name, ", container ", container, ": ",
                error.message));
    }
  }

  const kube::Client& client_;
  const TellPerson& tell_;
  std::set<std::string> refusing_namespaces_, silent_nodes_;
};

}  // namespace

std::vector<PodLog> read_logs(const kube::Client& client, const ClusterView& view,
                              const TellPerson& tell) {
  std::vector<const api::PodState*> pods = pods_with_logs(view);
  if (pods.size() > kMostLoggedPods) {
    tell(cat("without the logs of ", pods.size() - kMostLoggedPods, " more pods: it has those of ",
             kMostLoggedPods));
    pods.resize(kMostLoggedPods);
  }
  if (!pods.empty()) {
    tell(cat("reading the logs of ", pods.size(), pods.size() == 1 ? " pod" : " pods",
             "; each node that does not answer takes up to 10 s"));
  }
  LogReading reading(client, tell);
  for (const api::PodState* pod : pods) reading.read(*pod);
  return std::move(reading.logs);
}

}  // namespace cdom::plugin
