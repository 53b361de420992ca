#include "plugin/why/domain_links.h"

#include <algorithm>
#include <set>

#include "compute_domain/api/names.h"
#include "compute_domain/base/text.h"
#include "compute_domain/core/membership.h"
#include "compute_domain/core/status.h"
#include "plugin/age.h"

namespace cdom::plugin {

namespace {

using base::cat;

// Gates of Kueue: kueue.x-k8s.io/admission, kueue.x-k8s.io/topology.
constexpr char kQueueGates[] = "kueue.x-k8s.io/";

std::string name_of(const api::ComputeDomain& domain) {
  return cat("ComputeDomain ", api::to_string(api::name_of(domain.meta)));
}

constexpr char kOrOpenNodes[] = "add nodes, or bring back the nodes that take no pods";

std::string nodes_text(std::int64_t count) { return cat(count, count == 1 ? " node" : " nodes"); }
std::string devices_text(std::int64_t count) {
  return cat(count, count == 1 ? " device" : " devices");
}

bool needs_controller(const Scene& scene, const std::string& text, const std::string& for_what) {
  return scene.chain.stops(text,
                           cat("no controller works that ", for_what, ": ", scene.controller.found),
                           scene.controller.remedy, scene.controller.command);
}

// The row of a condition's reason; nullopt: there is no such condition or reason.
std::optional<core::Reason> reason_of(const api::Condition* condition) {
  return condition == nullptr ? std::nullopt : core::Reason::find(condition->reason);
}

std::string patch_num_nodes(const api::ComputeDomain& domain, std::int64_t nodes) {
  return cat("kubectl patch computedomain ", domain.meta.name, " -n ", domain.meta.ns,
             " --type merge -p '{\"spec\":{\"numNodes\":", nodes, "}}'");
}

// "n01: DriverTooOld: the driver is 470", of the nodes that say so.
std::vector<std::string> why_nodes_cannot_serve(const ClusterView& view) {
  std::vector<std::string> texts;
  for (const api::ComputeDomainNode& report : view.reports) {
    const api::Condition* can_serve =
        api::find_condition(report.status.conditions, api::kConditionCanServe);
    if (can_serve == nullptr || can_serve->status == api::ConditionStatus::True) continue;
    texts.push_back(cat(report.meta.name, ": ", can_serve->reason, ": ", can_serve->message));
  }
  return texts;
}

// The domain wants more nodes than there are devices for its pods.
bool cluster_is_too_small(const Scene& scene, const DomainFacts& domain, const std::string& text) {
  const core::SeatCount seats = scene.facts.seat_count();
  const std::int64_t wants = domain.object->spec.num_nodes;
  if (seats.total == 0) {
    const std::vector<std::string> why = why_nodes_cannot_serve(scene.facts.view());
    return scene.chain.stops(
        text,
        cat("no node offers a device, so the scheduler can place no pod of a ComputeDomain: ",
            why.empty() ? "no node has an agent that has reported" : base::list_names(why, 4)),
        why.empty() ? "install the agents on nodes with GPUs, or see why they do not run there"
                    : "mend what the nodes lack",
        "kubectl compute-domain check");
  }
  const std::string closed = core::closed_text(seats);
  const std::int64_t usable = seats.usable();
  return scene.chain.stops(
      text,
      cat(name_of(*domain.object), " wants ", nodes_text(wants), ", and all nodes together offer ",
          devices_text(seats.total),
          seats.one_per_node ? " (a node that isolates by domain offers one)" : "",
          closed.empty() ? "" : cat(", of which pods can have ", usable, ": ", closed)),
      cat("lower spec.numNodes, ", closed.empty() ? "or add nodes" : kOrOpenNodes),
      // 0 would mean as many as come.
      usable > 0 ? patch_num_nodes(*domain.object, usable) : "kubectl get nodes");
}

// Nodes of which somebody has a device, with the domains, but those of `except`: "n01
// (team-a/one)".
std::vector<std::string> holders(const Facts& facts, const api::ComputeDomain* except) {
  std::vector<std::string> texts;
  for (const api::ResourceSlice& slice : facts.view().slices) {
    if (slice.node.empty()) continue;
    std::vector<std::string> domains = facts.domains_on(slice.node);
    if (except != nullptr) std::erase(domains, api::to_string(api::name_of(except->meta)));
    if (!domains.empty()) texts.push_back(cat(slice.node, " (", base::join(domains, ", "), ")"));
  }
  std::ranges::sort(texts);
  return texts;
}

// What the scheduler says of a pod that has no node.
std::string scheduler_words(const std::vector<const api::PodState*>& pods) {
  for (const api::PodState* pod : pods) {
    const api::PodCondition* scheduled = pod->condition("PodScheduled");
    if (scheduled != nullptr && scheduled->status == api::ConditionStatus::False) {
      return scheduled->message;
    }
  }
  return "";
}

// The one node that a nodeSelector names; "": it names none.
std::string wanted_node(const std::vector<const api::PodState*>& pods) {
  for (const api::PodState* pod : pods) {
    const auto it = pod->node_selector.find(kHostNameLabel);
    if (it != pod->node_selector.end()) return it->second;
  }
  return "";
}

bool node_is_taken(const Scene& scene, const std::string& text, const std::string& node,
                   const std::string& scheduler) {
  const std::vector<std::string> domains = scene.facts.domains_on(node);
  std::vector<const api::PodState*> pods;
  for (const api::ResourceClaim* claim : scene.facts.claims_on(node)) {
    std::ranges::copy(scene.facts.pods_of(*claim), std::back_inserter(pods));
  }
  return scene.chain.stops(
      text,
      cat("the pod's nodeSelector wants node ", node, ", whose device ", base::list_names(domains),
          " has", pods.empty() ? "" : cat(" (", pods_text(pods), ")"),
          scheduler.empty() ? "" : cat("; the scheduler says: ", scheduler)),
      "let the other pods end, or let this pod take another node: by default a node serves one "
      "ComputeDomain at a time");
}

}  // namespace

std::string ago(const Facts& facts, const std::optional<base::Time>& time) {
  return time ? cat(" ", age(facts.now(), *time)) : "";
}

std::string pods_text(const std::vector<const api::PodState*>& pods) {
  std::vector<std::string> names;
  names.reserve(pods.size());
  for (const api::PodState* pod : pods) names.push_back(pod->meta.name);
  return cat(pods.size() == 1 ? "pod " : "pods ", base::list_names(names));
}

bool domain_lives(const Scene& scene, const DomainFacts& domain) {
  const api::ComputeDomain& object = *domain.object;
  if (!object.meta.is_deleting()) {
    const std::int64_t nodes = object.spec.num_nodes;
    return scene.chain.holds(
        cat(name_of(object), " wants ",
            nodes == 0 ? std::string("as many nodes as come") : nodes_text(nodes)));
  }
  std::vector<const api::PodState*> pods;
  for (const api::ResourceClaim* claim : scene.facts.claims_of(object)) {
    std::ranges::copy(scene.facts.pods_of(*claim), std::back_inserter(pods));
  }
  const std::string when = ago(scene.facts, object.meta.deletion_time);
  const std::string text =
      cat(name_of(object), " was deleted", when, " and ends when no pod uses it any more");
  if (pods.empty() && scene.controller.is_away()) {
    return needs_controller(scene, text, "would end it");
  }
  const api::Condition* ready = domain.condition(core::kConditionReady);
  const std::string waits = ready != nullptr && ready->reason == core::Reason("Deleting").name()
                                ? cat(": it ", ready->message)
                                : "";
  return scene.chain.stops(
      text,
      cat("somebody deleted ", name_of(object), when,
          pods.empty()
              ? ""
              : cat(" while ", pods_text(pods), pods.size() == 1 ? " uses" : " use", " it"),
          waits, ". Pods that run keep their memory until they end; new ones do not start"),
      cat(pods.empty()
              ? "wait until it is gone"
              : cat("let ", pods_text(pods), " end, or delete ", pods.size() == 1 ? "it" : "them"),
          "; if the job is still needed, create the ComputeDomain again, and then its pods"));
}

bool predecessor_serves(const Scene& scene, const DomainFacts& domain) {
  const api::Condition* ready = domain.condition(core::kConditionReady);
  return scene.chain.stops_for(core::kServedByPredecessor, "the operator has no daemon for it yet",
                               ready == nullptr ? "" : ready->message);
}

bool template_is_missing(const Scene& scene, const DomainFacts& domain) {
  const std::string& name = domain.object->spec.channel->template_name;
  const std::string text = cat("there is no ResourceClaimTemplate ", name, " yet, which ",
                               name_of(*domain.object), " makes");
  if (scene.controller.is_away()) {
    return needs_controller(scene, text, "would create the ResourceClaimTemplate");
  }
  for (const char* type :
       {core::kConditionWrites, core::kConditionPlaced, core::kConditionTemplate}) {
    const api::Condition* condition = domain.condition(type);
    const auto reason = reason_of(condition);
    if (!reason || condition->status != api::ConditionStatus::False) continue;
    return scene.chain.stops_for(*reason, text, condition->message);
  }
  return scene.chain.stops_for("WaitingForController", text, "");
}

const api::PodState* gated(const std::vector<const api::PodState*>& pods) {
  const auto it = std::ranges::find_if(
      pods, [](const api::PodState* pod) { return !pod->gates.empty() && pod->node.empty(); });
  return it == pods.end() ? nullptr : *it;
}

bool gate_is_closed(const Scene& scene, const api::PodState& pod, std::string text) {
  const std::string& gate = pod.gates.front().name;
  const bool is_queued = gate.starts_with(kQueueGates);
  const std::string queued =
      "see why the pod's Workload is not admitted: its queue may have no quota left";
  const std::string other =
      cat("see what has set the gate ", gate, " in spec.schedulingGates, and what it waits for");
  return scene.chain.stops(
      std::move(text),
      cat("the gate ", gate, " holds pod ", pod.meta.name,
          " back: the scheduler does not look at the pod before somebody takes the gate away"),
      is_queued ? queued : other,
      is_queued ? cat("kubectl get workloads -n ", pod.meta.ns)
                : cat("kubectl describe pod ", pod.meta.name, " -n ", pod.meta.ns));
}

bool device_is_missing(const Scene& scene, const DomainFacts& domain,
                       const api::ResourceClaim& claim) {
  const Facts& facts = scene.facts;
  const core::SeatCount seats = facts.seat_count();
  const std::int64_t free = seats.free();
  const std::string closed = core::closed_text(seats);
  const std::string text =
      cat("the scheduler has given claim ", claim.meta.name, " no device: ", free, " of ",
          devices_text(seats.total), free == 1 ? " is free" : " are free",
          closed.empty() ? "" : cat("; ", closed));
  const std::vector<const api::PodState*> pods = facts.pods_of(claim);
  if (const api::PodState* pod = gated(pods)) return gate_is_closed(scene, *pod, text);
  const std::int64_t wants = domain.object->spec.num_nodes;
  if (seats.total == 0 || (seats.one_per_node && wants > seats.usable())) {
    return cluster_is_too_small(scene, domain, text);
  }
  const std::string scheduler = scheduler_words(pods);
  if (const std::string node = wanted_node(pods);
      !node.empty() && !facts.domains_on(node).empty()) {
    return node_is_taken(scene, text, node, scheduler);
  }
  const std::string says = scheduler.empty() ? "" : cat("; the scheduler says: ", scheduler);
  const std::string asked = core::asked_clique(claim.spec);
  if (domain.world.reservation && !asked.empty() && asked != domain.world.reservation->clique) {
    return scene.chain.stops_for("MadeForFormerClique", text, cat("clique ", asked));
  }
  if (free == 0) {
    if (seats.in_use == 0) {
      return scene.chain.stops(text, cat("no pod can have a device: ", closed, says), kOrOpenNodes,
                               "kubectl get nodes");
    }
    const std::vector<std::string> others = holders(facts, domain.object);
    return scene.chain.stops(
        text,
        cat("every device ", closed.empty() ? "" : "that pods can have ", "is in use",
            others.empty() ? cat(", all by ", name_of(*domain.object), " itself")
                           : cat(", among others on ", base::list_names(others, 4)),
            "; by default a node serves one ComputeDomain at a time, with one pod", says),
        cat(others.empty() ? "start no more pods than there are nodes"
                           : "wait until the other pods end, delete them, or add nodes",
            closed.empty() ? "" : ", or bring back the nodes that take no pods"),
        closed.empty() ? "" : "kubectl get nodes");
  }
  return scene.chain.stops(
      text,
      cat("the scheduler cannot use the free ", free == 1 ? "device" : "devices", " for this pod",
          asked.empty() ? "" : cat(", which has to go to clique ", asked), says),
      "check the pod's node selector, affinity, tolerations and its other requests (GPUs, memory) "
      "against the nodes that kubectl compute-domain topology shows as free");
}

bool peers_are_connected(const Scene& scene, const DomainFacts& domain) {
  const api::Condition* ready = domain.condition(core::kConditionReady);
  if (ready == nullptr) {
    const std::string text = cat("nobody has written a status of ", name_of(*domain.object));
    if (scene.controller.is_away()) return needs_controller(scene, text, "would write it");
    return scene.chain.stops_for("WaitingForController", text, "");
  }
  if (ready->status == api::ConditionStatus::True) {
    const std::string text = cat("the ComputeDomain is Ready: ", ready->message);
    // Ready says that each node can be used, and not that all of them share memory.
    const api::Condition* cliques = domain.condition(core::kConditionCliques);
    const auto reason = reason_of(cliques);
    if (!reason || cliques->status != api::ConditionStatus::False) return scene.chain.holds(text);
    return scene.chain.stops_for(*reason, text, cliques->message);
  }
  const std::string text = cat("the ComputeDomain is not Ready: ", ready->message);
  const auto reason = reason_of(ready);
  const core::SeatCount seats = scene.facts.seat_count();
  const bool lacks_nodes = reason && (*reason == core::Reason("WaitingForNodes") ||
                                      *reason == core::Reason("WaitingForPods"));
  if (lacks_nodes && seats.one_per_node && domain.object->spec.num_nodes > seats.usable()) {
    return cluster_is_too_small(scene, domain, text);
  }
  if (!reason) return scene.chain.stops(text, ready->message, "see the message");
  return scene.chain.stops_for(*reason, text, ready->message);
}

}  // namespace cdom::plugin
