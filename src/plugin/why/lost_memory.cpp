#include "plugin/why/lost_memory.h"

#include <algorithm>
#include <cstddef>

#include "compute_domain/base/text.h"
#include "compute_domain/core/memory_lost.h"
#include "compute_domain/core/reasons.h"

namespace cdom::plugin {

namespace {

using base::cat;

// A command of more names nobody pastes.
constexpr std::size_t kMostNames = 18;

// The last end of a daemon of that node with which memory was lost, as the domain's status has it.
const api::DaemonFailure* last_loss_on(const DomainFacts& domain, const std::string& node) {
  if (!domain.status) return nullptr;
  const auto& nodes = domain.status->nodes;
  const auto it = std::ranges::find(nodes, node, &api::ComputeDomainNodeStatus::name);
  if (it == nodes.end()) return nullptr;
  const auto& loss = core::loss_of(*it);
  return loss ? &*loss : nullptr;
}

const api::Occurrence* last_event_of_loss(const Facts& facts, const api::PodState& pod) {
  const auto events = facts.events_on(pod.meta.uid);
  const auto event =
      std::ranges::find(events.rbegin(), events.rend(), core::Reason("ImexMemoryLost").name(),
                        &api::Occurrence::reason);
  return event == events.rend() ? nullptr : *event;
}

// Whether a container of that name has one of the claims; true where nobody knows.
bool may_import(const api::PodState& pod, const std::string& name,
                const std::vector<const api::ResourceClaim*>& claims) {
  if (pod.container_specs.empty() || !pod.extended_claim.empty()) return true;
  for (const auto* specs : {&pod.container_specs, &pod.init_container_specs}) {
    const auto it = std::ranges::find(*specs, name, &api::ContainerSpec::name);
    if (it == specs->end()) continue;
    return std::ranges::any_of(pod.claims, [&](const api::PodClaimRef& ref) {
      return leads_to_one_of(pod, ref, claims) &&
             std::ranges::find(it->claims, ref.name, &api::ContainerClaim::name) !=
                 it->claims.end();
    });
  }
  return true;
}

// Both times are whole seconds. One that started in the second of the loss was there before it,
// unless it has started again: that may be because of the loss.
bool is_older(const api::ContainerState& container, base::Time loss) {
  if (!container.started) return false;
  return *container.started < loss || (*container.started == loss && container.restarts == 0);
}

bool runs_since_before(const api::PodState& pod, base::Time loss,
                       const std::vector<const api::ResourceClaim*>& claims) {
  const auto has_lost = [&](const api::ContainerState& container) {
    return is_older(container, loss) && may_import(pod, container.name, claims);
  };
  return std::ranges::any_of(pod.containers, has_lost) ||
         std::ranges::any_of(pod.init_containers, has_lost);
}

}  // namespace

std::optional<std::string> lost_memory(const Facts& facts, const DomainFacts& domain,
                                       const api::PodState& pod) {
  if (pod.phase != "Running") return std::nullopt;
  const api::DaemonFailure* loss = last_loss_on(domain, pod.node);
  const api::Occurrence* event = last_event_of_loss(facts, pod);
  if (loss == nullptr && event == nullptr) return std::nullopt;
  // The Event comes a moment after the daemon's end, in which a container may have started again;
  // and the API server forgets it within an hour.
  const std::optional<base::Time> lost = loss != nullptr ? loss->time : event->end();
  const bool has_lost = lost && runs_since_before(pod, *lost, facts.claims_of(*domain.object));
  if (!has_lost) return std::nullopt;
  return event != nullptr ? event->message : cat("on node ", pod.node, ": ", loss->message);
}

std::vector<const api::PodState*> pods_without_memory(const Facts& facts,
                                                      const DomainFacts& domain) {
  std::vector<const api::PodState*> pods;
  for (const api::ResourceClaim* claim : facts.claims_of(*domain.object)) {
    for (const api::PodState* pod : facts.pods_of(*claim)) {
      if (!lost_memory(facts, domain, *pod)) continue;
      if (std::ranges::find(pods, pod) == pods.end()) pods.push_back(pod);
    }
  }
  return pods;
}

std::string deletion_of(const std::vector<const api::PodState*>& pods) {
  if (pods.empty()) return "";
  std::string command = pods.size() == 1 ? "kubectl delete pod" : "kubectl delete pods";
  const std::size_t named = std::min<std::size_t>(pods.size(), kMostNames);
  for (std::size_t i = 0; i < named; ++i) command += cat(" ", pods[i]->meta.name);
  return cat(command, " -n ", pods.front()->meta.ns);
}

std::string deletes_text(const std::vector<const api::PodState*>& pods) {
  if (pods.size() <= kMostNames) return "";
  return cat(": ", kMostNames, " of ", pods.size(), " at a time; then ask again for the next ones");
}

}  // namespace cdom::plugin
