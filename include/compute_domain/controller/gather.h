// gather: the immutable World of a key, from the stores. Reads only; thread-safe.
#pragma once

#include <set>
#include <vector>

#include "compute_domain/controller/key.h"
#include "compute_domain/controller/memory.h"
#include "compute_domain/controller/stores.h"
#include "compute_domain/controller/workloads.h"
#include "compute_domain/core/placement.h"
#include "compute_domain/core/reconcile.h"

namespace cdom::controller {

struct Sources {
  const Stores& stores;
  const Memory& memory;
  const core::Settings& settings;
  const base::Clock& clock;
  const Workloads& workloads;
};

// gather_groups() gathers what the node lists of a domain's groups are decided by, gather_rest()
// adds what the domain itself is decided by, gather_domain() does both.
core::World gather_groups(const Sources& from, const std::string& uid);
void gather_rest(const Sources& from, core::World& world);
core::World gather_domain(const Sources& from, const std::string& uid);
core::CliqueWorld gather_clique(const Sources& from, const std::string& clique);
core::ReportWorld gather_report(const Sources& from, const std::string& node);
core::LabelWorld gather_label(const Sources& from, const std::string& node);
core::AgentLabelWorld gather_agent_label(const Sources& from, const std::string& node);
core::SharedSliceWorld gather_shared_slice(const Sources& from, const std::string& clique);
core::CliqueObjectsWorld gather_clique_objects(const Sources& from, const std::string& uid);
core::WorkloadsWorld gather_workloads(const Sources& from, const std::string& ns);
core::PlacementWorld gather_placement(const Sources& from);

// The seats that nodes with a clique offer.
std::vector<core::CliqueSeats> seats_by_clique(const Sources& from);
// Those that nodes without one offer.
std::vector<core::Seat> seats_outside(const Sources& from);

// All seats that nodes offer, with a clique or without.
core::SeatCount count_seats(const Sources& from);
// The same, counted once for all domains that tell of them.
core::SeatCount seats_of(const Sources& from);

using Claims = std::vector<kube::Store<api::ResourceClaim>::Snapshot>;

// Whether a pod on the node can use the shared claim there, or a node list has admitted it before.
bool is_usable_on(const Sources& from, const api::ResourceClaim& claim, const std::string& node);
// Shared claims of which the node has a pod that can use it.
Claims shared_on(const Sources& from, const std::string& node);
// Those, and the ones allocated on the node.
Claims claims_on(const Sources& from, const std::string& node);

// UIDs of the domains whose statuses tell what happens to a key.
std::set<std::string> domains_concerned(const Sources& from, const Key& key);

// A domain's own key, and then those of its groups.
std::vector<Key> keys_of(const core::World& world);

// The plan of a key, by the core.
core::Plan plan_of(const Sources& from, const Key& key);

}  // namespace cdom::controller
