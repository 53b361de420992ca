// The nodes' agents: what they see, tell and start.
#include <algorithm>

#include "compute_domain/core/node_lists.h"
#include "core/model/model.h"
#include "core/model/names.h"
#include "core/model/node_truth.h"

namespace cdom::core::model {

namespace {

using base::cat;

// What a node's agent finds in the list that its watch has shown.
struct Seen {
  const api::NodeListEntry* entry = nullptr;
  Count slot = 0, term = 0;
  bool admits_somebody = false;
};

Seen seen_by(const Intern<StoredList>& lists, Id list, int node) {
  if (list == 0 || !lists.at(list).list) return {};
  const api::NodeListEntry* entry = find_entry(*lists.at(list).list, node_name(node));
  if (entry == nullptr) return {};
  return {entry, static_cast<Count>(entry->slot), static_cast<Count>(entry->term),
          !entry->admits.empty()};
}

// The word that the agent of `node` would publish about a group now.
GroupWord word_of(const State& state, const Intern<StoredList>& lists, int node, int domain) {
  const auto n = static_cast<std::size_t>(node);
  const auto d = static_cast<std::size_t>(domain);
  const NodeTruth& truth = state.nodes[n];
  if (truth.daemon_of == domain + 1) {
    return {GroupWord::kReady, truth.slot, truth.term, truth.prepared[d]};
  }
  const Seen seen = seen_by(lists, truth.seen_list[d], node);
  if (seen.entry != nullptr && !seen.admits_somebody) {
    return {GroupWord::kStopped, seen.slot, seen.term, 0};
  }
  if (truth.has_run[d] != 0) {
    return {GroupWord::kStopped, truth.ran_slot[d], truth.ran_term[d], 0};
  }
  return state.server.reports[n].groups[d];
}

bool operator==(const GroupWord& a, const GroupWord& b) {
  return std::memcmp(&a, &b, sizeof a) == 0;
}

// A report is written whole: the first one of a boot says nothing any more of daemons before it.
void write_boot(State& state, const Intern<StoredList>& lists, int node) {
  const auto n = static_cast<std::size_t>(node);
  ReportObject& report = state.server.reports[n];
  if (report.boot == state.nodes[n].boot) return;
  for (int domain = 0; domain < kDomains; ++domain) {
    report.groups[static_cast<std::size_t>(domain)] = word_of(state, lists, node, domain);
  }
  report.boot = state.nodes[n].boot;
}

}  // namespace

void stop_daemon(NodeTruth& truth) {
  if (truth.daemon_of == 0) return;
  const auto d = static_cast<std::size_t>(truth.daemon_of - 1);
  truth.ran_slot[d] = truth.slot;
  truth.ran_term[d] = truth.term;
  truth.has_run[d] = 1;
  truth.daemon_of = 0;
  truth.slot = truth.term = 0;
}

void unprepare(State& state, std::size_t node, std::size_t domain) {
  NodeTruth& truth = state.nodes[node];
  truth.prepared[domain] = 0;
  if (truth.daemon_of == domain + 1) stop_daemon(truth);
}

void Model::agent_steps(const State& state, std::vector<Transition>& out) const {
  for (std::size_t n = 0; n < static_cast<std::size_t>(bounds_.nodes); ++n) {
    const int node = static_cast<int>(n);
    const NodeTruth& truth = state.nodes[n];
    if (state.server.boots[n] != truth.boot) {
      State next = state;
      next.server.boots[n] = truth.boot;
      out.push_back({cat("kubelet of ", node_name(node), " tells its boot"), next});
    }
    for (std::size_t d = 0; d < static_cast<std::size_t>(bounds_.domains); ++d) {
      const int domain = static_cast<int>(d);
      const ListObject& list = state.server.lists[d];
      const Id shown = list.exists != 0 ? list.content : 0;
      if (truth.seen_list[d] != shown) {
        State next = state;
        next.nodes[n].seen_list[d] = shown;
        out.push_back(
            {cat("agent ", node_name(node), " sees the list of ", domain_name(domain)), next});
      }
      const GroupWord word = word_of(state, lists_, node, domain);
      const ReportObject& report = state.server.reports[n];
      if (!(report.groups[d] == word) || report.boot != truth.boot) {
        State next = state;
        write_boot(next, lists_, node);
        next.server.reports[n].groups[d] = word;
        out.push_back({cat("agent ", node_name(node), " reports on ", domain_name(domain)), next});
      }
      const ClaimObject& claim = state.server.claims[d][n];
      const Seen seen = seen_by(lists_, truth.seen_list[d], node);
      const bool admitted =
          seen.entry != nullptr && claim.phase == ClaimObject::kReserved &&
          std::ranges::any_of(seen.entry->admits,
                              [&](const api::Admission& admission) {
                                return admission.claim_uid ==
                                       claim_uid(domain, node, claim.generation);
                              }) &&
          (seen.entry->boot_id.empty() || seen.entry->boot_id == boot_name(truth.boot));
      const bool may_start = truth.daemon_of == 0 || truth.daemon_of == domain + 1;
      if (!admitted || !may_start || truth.prepared[d] == claim.generation) continue;
      State next = state;
      const GroupWord& published = report.groups[d];
      if (truth.daemon_of == 0 && published.state == GroupWord::kStopped &&
          published.term == seen.term) {
        // Its own word "stopped" would free the slot: it is taken back before anything starts.
        write_boot(next, lists_, node);
        next.server.reports[n].groups[d] = {GroupWord::kNothing, seen.slot, seen.term, 0};
        next.nodes[n].has_run[d] = 0;
        out.push_back(
            {cat("agent ", node_name(node), " takes back its word on ", domain_name(domain)),
             next});
        continue;
      }
      NodeTruth& started = next.nodes[n];
      if (started.daemon_of == 0) {
        started.daemon_of = static_cast<Count>(domain + 1);
        started.slot = seen.slot;
      }
      started.term = seen.term;
      started.prepared[d] = claim.generation;
      out.push_back({cat("agent ", node_name(node), " prepares ", domain_name(domain)), next});
    }
  }
}
}  // namespace cdom::core::model
