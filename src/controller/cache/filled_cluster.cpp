#include "compute_domain/controller/filled_cluster.h"

#include <algorithm>

#include "compute_domain/base/between.h"

namespace cdom::controller {

namespace {

// Nobody is about to come.
core::Settings without_pause(core::Settings settings) {
  settings.arrivals_pause = {};
  return settings;
}

}  // namespace

FilledCluster::FilledCluster(core::Settings settings, const base::Clock& clock)
    : settings_(without_pause(std::move(settings))), clock_(clock) {}

std::set<std::string> FilledCluster::learn_workloads() {
  using Kind = core::DomainRef::Kind;
  const base::Duration now = clock_.elapsed();
  std::set<std::string> namespaces, with_claims;
  stores_.claims.for_each([&](const auto& claim) {
    const Kind kind = core::domain_ref_of(*claim).kind;
    with_claims.insert(claim->meta.ns);
    workloads_.consumers_seen(*claim, now);
    if (kind == Kind::None || kind == Kind::Named) return;
    if (kind == Kind::Automatic) workloads_.claim_seen(*claim, now);
    namespaces.insert(claim->meta.ns);
  });
  for (const api::Job& job : jobs_) workloads_.job_read(job.meta.ns, job.meta.uid, job);
  // Before the pods: of one that is being deleted they are kept.
  for (const auto& domain : stores_.domains.all()) workloads_.domain_seen(*domain, now);
  for (const std::string& ns : with_claims) {
    std::vector<core::PodFacts> pods;
    std::ranges::copy_if(pods_, std::back_inserter(pods),
                         [&](const core::PodFacts& pod) { return pod.meta.ns == ns; });
    workloads_.pods_read(ns, std::move(pods), /*with_specs=*/true, now);
  }
  return namespaces;
}

core::PlacementPlan FilledCluster::place() {
  core::PlacementPlan placement = core::place(gather_placement(sources()));
  for (const auto& [uid, verdict] : placement.verdicts) {
    memory_.domain_seen(uid, clock_.elapsed());
    memory_.placement_found(uid, verdict);
  }
  for (const core::Action& action : placement.plan.actions) {
    if (const auto* write = std::get_if<core::WriteReservations>(&action)) {
      filled_.of<api::ConfigMap>().put(stored(write->desired));
    }
  }
  return placement;
}

void FilledCluster::learn_agents() {
  const base::Duration now = clock_.elapsed();
  stores_.agents.for_each([&](const auto& pod) {
    if (pod->node.empty()) return;
    const base::Duration lasts =
        pod->ready_changed ? base::between(*pod->ready_changed, clock_.now()) : base::Duration();
    const auto known = memory_.agent(pod->node);
    // While a DaemonSet replaces it a node has two: the one that is ready counts.
    if (known && known->ready) return;
    memory_.agent_seen(pod->node, {.ready = pod->ready, .since = now - lasts});
  });
  // Where there is none at all, they are in another namespace than the one that was looked at.
  if (stores_.agents.size() > 0) memory_.decides(base::Duration::zero());
}

}  // namespace cdom::controller
