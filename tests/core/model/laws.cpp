// The laws: of a state, of a state at rest, and of the status that a plan writes.
#include <algorithm>

#include "compute_domain/core/node_lists.h"
#include "core/model/model.h"
#include "core/model/names.h"

namespace cdom::core::model {

using base::cat;

namespace {

// A fact has one Event.
std::string told_twice(const Plan& plan) {
  std::vector<const RecordEvent*> events;
  for (const Action& action : plan.actions) {
    if (const auto* event = std::get_if<RecordEvent>(&action)) events.push_back(event);
  }
  for (const RecordEvent* a : events) {
    for (const RecordEvent* b : events) {
      if (a == b || a->involved != b->involved) continue;
      if (a->message.find(b->message) != std::string::npos) {
        return cat("told twice: ", a->reason, " and ", b->reason, ": ", b->message);
      }
    }
  }
  return {};
}

}  // namespace

// An independent reading of the law "truthful", on the world that the status was decided upon; and
// nothing is believed of a node that has not reported.
void Model::check_status(const World& world, const Plan& plan) {
  if (std::string twice = told_twice(plan); !twice.empty()) broken_by_step_ = std::move(twice);
  for (const Membership& member : memberships_of(world.view, world.nodes, world.lists)) {
    if (member.clique && *member.clique != testing::kClique) {
      broken_by_step_ = cat(member.node, " is taken for a node without a fabric");
    }
  }
  const SetStatus* set = testing::status_in(plan);
  if (set == nullptr || !set->status.ready) return;
  std::size_t members = 0;
  for (const api::ResourceClaim& claim : world.view.claims) {
    if (claim.reserved_for.empty()) continue;
    ++members;
    const auto& groups = world.nodes.at(claim.allocation->node).report->status.groups;
    if (groups.empty() || groups[0].state != api::DaemonState::Ready) {
      broken_by_step_ =
          cat("truthful: Ready although ", claim.allocation->node, " has not said READY");
    }
  }
  if (members == 0) broken_by_step_ = "truthful: Ready without members";
}

std::string Model::violation(const State& state) const {
  for (std::size_t a = 0; a < kNodes; ++a) {
    for (std::size_t b = a + 1; b < kNodes; ++b) {
      const NodeTruth& x = state.nodes[a];
      const NodeTruth& y = state.nodes[b];
      if (x.daemon_of != 0 && x.daemon_of == y.daemon_of && x.slot == y.slot) {
        return cat("two daemons of ", domain_name(x.daemon_of - 1), " run in slot ", int{x.slot});
      }
    }
  }
  for (std::size_t d = 0; d < kDomains; ++d) {
    if (state.server.lists[d].exists == 0) continue;
    const StoredList& stored = lists_.at(state.server.lists[d].content);
    std::array<int, kSlots> users{};
    for (const api::NodeListEntry& entry : stored.list->entries) {
      if (entry.slot < 0 || entry.slot >= kSlots) return "a slot outside of the table";
      if (++users[static_cast<std::size_t>(entry.slot)] > 1) return "one slot for two nodes";
    }
    // Stable: a running daemon's slot is its node's slot in the list.
    for (std::size_t n = 0; n < kNodes; ++n) {
      const NodeTruth& truth = state.nodes[n];
      if (truth.daemon_of != d + 1) continue;
      const api::NodeListEntry* entry = find_entry(*stored.list, node_name(static_cast<int>(n)));
      if (entry == nullptr || entry->slot != truth.slot) {
        return cat("stable: the daemon on ", node_name(static_cast<int>(n)), " runs in slot ",
                   int{truth.slot}, ", the list says otherwise");
      }
    }
  }
  return broken_by_step_;
}

std::string Model::unsettled(const State& state) {
  for (std::size_t n = 0; n < kNodes; ++n) {
    const NodeTruth& truth = state.nodes[n];
    if (truth.daemon_of == 0) continue;
    const std::size_t d = truth.daemon_of - 1U;
    const bool is_wanted = state.server.claims[d][n].phase == ClaimObject::kReserved;
    if (!is_wanted && truth.prepared[d] == 0) {
      return cat("the daemon of ", domain_name(static_cast<int>(d)), " on ",
                 node_name(static_cast<int>(n)), " runs for no claim");
    }
  }
  for (std::size_t d = 0; d < kDomains; ++d) {
    const std::string name = domain_name(static_cast<int>(d));
    const DomainObject& domain = state.server.domains[d];
    bool has_claims = false;
    for (const ClaimObject& claim : state.server.claims[d]) {
      has_claims = has_claims || claim.phase != ClaimObject::kAbsent;
    }
    const bool has_children = state.server.templates[d] == 1 || state.server.lists[d].exists != 0;
    if (domain.phase == DomainObject::kDeleting && !has_claims) return cat(name, " is never gone");
    if ((domain.phase == DomainObject::kGone || domain.phase == DomainObject::kNever) &&
        has_children) {
      return cat("no orphans: ", name, " is gone and has children");
    }
    if (domain.phase != DomainObject::kLiving) continue;
    if (domain.has_finalizer == 0 || state.server.templates[d] != 1)
      return cat(name, " has no template");
    if (domain.status == 0) return cat(name, " has no status");
    // Every member that has a slot runs, and Ready says so.
    std::size_t wanting = 0, running = 0;
    for (std::size_t n = 0; n < kNodes; ++n) {
      if (state.server.claims[d][n].phase != ClaimObject::kReserved) continue;
      ++wanting;
      if (state.nodes[n].daemon_of == d + 1) ++running;
    }
    const bool ready = statuses_.at(domain.status).ready;
    if (ready != (wanting > 0 && running == wanting)) {
      return cat(name, ready ? " is Ready" : " is NotReady", " with ", running, " of ", wanting,
                 " daemons");
    }
    if (running < std::min<std::size_t>(wanting, kSlots)) {
      bool waits_for_another = false;  // a daemon of the other domain whose pod still runs
      for (const NodeTruth& truth : state.nodes) {
        waits_for_another = waits_for_another || (truth.daemon_of != 0 && truth.daemon_of != d + 1);
      }
      if (!waits_for_another) return cat(name, " has a slot free and a member without");
    }
  }
  return {};
}
}  // namespace cdom::core::model
