// The environment: users, scheduler, kubelets, reboots, and watches that lag.
#include <algorithm>

#include "core/model/model.h"
#include "core/model/names.h"
#include "core/model/node_truth.h"

namespace cdom::core::model {

using base::cat;

void Model::user_steps(const State& state, std::vector<Transition>& out) const {
  for (std::size_t d = 0; d < static_cast<std::size_t>(bounds_.domains); ++d) {
    const DomainObject& domain = state.server.domains[d];
    if (domain.phase == DomainObject::kNever) {
      State next = state;
      next.server.domains[d].phase = DomainObject::kLiving;
      next.server.domains[d].version = 1;
      out.push_back({cat("user creates ", domain_name(static_cast<int>(d))), next});
    }
    if (domain.phase == DomainObject::kLiving) {
      State next = state;
      DomainObject& deleted = next.server.domains[d];
      deleted.phase = domain.has_finalizer != 0 ? DomainObject::kDeleting : DomainObject::kGone;
      ++deleted.version;
      out.push_back({cat("user deletes ", domain_name(static_cast<int>(d))), next, true});
    }
  }
}

void Model::pod_steps(const State& state, bool by_itself_only, std::vector<Transition>& out) const {
  for (std::size_t d = 0; d < static_cast<std::size_t>(bounds_.domains); ++d) {
    for (std::size_t n = 0; n < static_cast<std::size_t>(bounds_.nodes); ++n) {
      const ClaimObject& claim = state.server.claims[d][n];
      const std::string where =
          cat(domain_name(static_cast<int>(d)), " on ", node_name(static_cast<int>(n)));
      const bool seat_taken = std::ranges::any_of(state.server.claims, [&](const auto& claims) {
        return claims[n].phase != ClaimObject::kAbsent;
      });
      if (!by_itself_only && claim.phase == ClaimObject::kAbsent && !seat_taken &&
          claim.generation < bounds_.claims_per_node && state.server.templates[d] == 1) {
        State next = state;
        next.server.claims[d][n].phase = ClaimObject::kReserved;
        ++next.server.claims[d][n].generation;
        out.push_back({cat("scheduler places a pod of ", where), next});
      }
      if (!bounds_.shipping_agent && !by_itself_only && claim.phase == ClaimObject::kReserved) {
        State ended = state;
        ended.server.claims[d][n].phase = ClaimObject::kEnding;
        unprepare(ended, n, d);
        out.push_back({cat("pod ends: ", where), ended, true});
        State forced = state;
        forced.server.claims[d][n].phase = ClaimObject::kAbsent;
        out.push_back({cat("pod is deleted by force: ", where), forced, true});
      }
      if (claim.phase == ClaimObject::kEnding || claim.phase == ClaimObject::kReleased) {
        State next = state;
        next.server.claims[d][n].phase =
            claim.phase == ClaimObject::kEnding ? ClaimObject::kReleased : ClaimObject::kAbsent;
        out.push_back({cat("claim controller releases ", where), next});
      }
      // The agent has proof that the containers of a claim which is gone have ended.
      const Count prepared = state.nodes[n].prepared[d];
      if (!bounds_.shipping_agent && prepared != 0 &&
          (claim.phase == ClaimObject::kAbsent || claim.generation != prepared)) {
        State next = state;
        unprepare(next, n, d);
        out.push_back({cat("agent ends the stale claim of ", where), next});
      }
    }
  }
}

void Model::node_steps(const State& state, std::vector<Transition>& out) const {
  for (std::size_t n = 0; n < static_cast<std::size_t>(bounds_.nodes); ++n) {
    if (state.removals < bounds_.removals && state.server.boots[n] != 0) {
      State next = state;
      next.server.boots[n] = 0;
      ++next.removals;
      out.push_back(
          {cat("administrator deletes the Node ", node_name(static_cast<int>(n))), next, true});
    }
    if (state.reboots >= bounds_.reboots) continue;
    State next = state;
    NodeTruth& truth = next.nodes[n];
    if (bounds_.shipping_agent) {
      reboot_shipping_node(truth);
    } else {
      stop_daemon(truth);
      truth.prepared = {};
    }
    ++truth.boot;
    ++next.reboots;
    out.push_back({cat(node_name(static_cast<int>(n)), " reboots"), next, true});
  }
}

void Model::watch_steps(const State& state, std::vector<Transition>& out) const {
  const auto catch_up = [&](const char* kind, const auto member) {
    if (std::memcmp(&(state.server.*member), &(state.cache.*member),
                    sizeof(state.server.*member)) == 0) {
      return;
    }
    State next = state;
    next.cache.*member = state.server.*member;
    out.push_back({cat("controller sees ", kind), next});
  };
  catch_up("domains", &Objects::domains);
  catch_up("claims", &Objects::claims);
  catch_up("templates", &Objects::templates);
  catch_up("lists", &Objects::lists);
  catch_up("reports", &Objects::reports);
  catch_up("nodes", &Objects::boots);
}
}  // namespace cdom::core::model
