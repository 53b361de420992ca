#include "plugin/why/lost_memory.h"

#include <algorithm>

#include "compute_domain/base/text.h"
#include "compute_domain/core/reasons.h"

namespace cdom::plugin {

namespace {

using base::cat;

// A command of more names nobody pastes.
constexpr std::size_t kMostNames = 18;

// When the daemon of that node last ended, as far as the domain's status says it.
std::optional<base::Time> last_failure_on(const DomainFacts& domain, const std::string& node) {
  if (!domain.status) return std::nullopt;
  const auto& nodes = domain.status->nodes;
  const auto it = std::ranges::find(nodes, node, &api::ComputeDomainNodeStatus::name);
  if (it == nodes.end() || !it->last_failure) return std::nullopt;
  return it->last_failure->time;
}

}  // namespace

const api::Occurrence* lost_memory(const Facts& facts, const DomainFacts& domain,
                                   const api::PodState& pod) {
  if (pod.phase != "Running") return nullptr;
  const auto events = facts.events_on(pod.meta.uid);
  const auto event =
      std::ranges::find(events.rbegin(), events.rend(), core::Reason("ImexMemoryLost").name(),
                        &api::Occurrence::reason);
  if (event == events.rend()) return nullptr;
  // The Event comes a moment after the daemon's end, in which a container may have started again.
  const auto failed = last_failure_on(domain, pod.node);
  const std::optional<base::Time> lost = failed ? failed : (*event)->end();
  if (!lost) return nullptr;
  const bool runs_since_before =
      std::ranges::any_of(pod.containers, [&](const api::ContainerState& container) {
        return container.started && *container.started < *lost;
      });
  return runs_since_before ? *event : nullptr;
}

std::vector<const api::PodState*> pods_without_memory(const Facts& facts,
                                                      const DomainFacts& domain) {
  std::vector<const api::PodState*> pods;
  for (const api::ResourceClaim* claim : facts.claims_of(*domain.object)) {
    for (const api::PodState* pod : facts.pods_of(*claim)) {
      if (lost_memory(facts, domain, *pod) == nullptr) continue;
      if (std::ranges::find(pods, pod) == pods.end()) pods.push_back(pod);
    }
  }
  return pods;
}

std::string deletion_of(const std::vector<const api::PodState*>& pods) {
  if (pods.empty()) return "";
  const std::string& ns = pods.front()->meta.ns;
  if (pods.size() > kMostNames) {
    return cat("kubectl get events -n ", ns, " --field-selector reason=ImexMemoryLost");
  }
  std::string command = pods.size() == 1 ? "kubectl delete pod" : "kubectl delete pods";
  for (const api::PodState* pod : pods) command += cat(" ", pod->meta.name);
  return cat(command, " -n ", ns);
}

}  // namespace cdom::plugin
