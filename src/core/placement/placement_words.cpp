#include "core/placement/placement_words.h"

#include <algorithm>

#include "compute_domain/base/text.h"
#include "compute_domain/core/status.h"

namespace cdom::core {

namespace {

using base::cat;

std::string seats_text(std::int64_t count) { return cat(count, count == 1 ? " seat" : " seats"); }

// "12 free of 18: n03, n07 NotReady; 3 in use; 1 kept for placed domains". No domain is named: it
// may be of a namespace that the reader has no business in.
std::string account_of(const CliqueState& state) {
  std::vector<std::string> not_ready, unschedulable;
  std::int64_t in_use = 0;
  if (state.seats != nullptr) {
    for (const Seat& seat : state.seats->seats) {
      if (seat.state == Seat::State::NotReady) not_ready.push_back(seat.node);
      if (seat.state == Seat::State::Unschedulable) unschedulable.push_back(seat.node);
      if (seat.state == Seat::State::InUse) ++in_use;
    }
  }
  std::ranges::sort(not_ready);
  std::ranges::sort(unschedulable);
  const std::int64_t left = std::max<std::int64_t>(state.left, 0);
  std::vector<std::string> parts;
  if (!not_ready.empty()) parts.push_back(cat(base::list_names(not_ready), " NotReady"));
  if (!unschedulable.empty()) {
    parts.push_back(cat(base::list_names(unschedulable), " unschedulable"));
  }
  if (in_use > 0) parts.push_back(cat(in_use, " in use"));
  if (state.free > left) parts.push_back(cat(state.free - left, " kept for placed domains"));
  return cat(left, " free of ", state.total(), parts.empty() ? "" : ": ", base::join(parts, "; "));
}

}  // namespace

std::int64_t CliqueState::total() const { return seats == nullptr ? 0 : std::ssize(seats->seats); }

PlacementVerdict no_template() {
  return {false, "NoTemplate",
          "spec.placement is for pods that use the template of spec.channel, and there is none: "
          "delete the ComputeDomain and create it with spec.channel"};
}

PlacementVerdict placement_unsupported() {
  return {false, "PlacementUnsupported",
          "the claims of its pods were there before a clique could be chosen for them: delete the "
          "workload, write a ComputeDomain with spec.placement, and name its template in the pods"};
}

PlacementVerdict num_nodes_missing(const PlacementDomain& domain) {
  return {false, "NumNodesMissing",
          cat("spec.placement.clique=Single requires spec.numNodes: kubectl patch computedomain ",
              domain.name.name, " -n ", domain.name.ns,
              R"( --type merge -p '{"spec":{"numNodes":N}}')")};
}

PlacementVerdict reserved(const Reservation& reservation) {
  return {true, "CliqueChosen",
          cat(seats_text(reservation.seats), " of clique ", reservation.clique,
              reservation.seats == 1 ? " is" : " are", " kept for it")};
}

PlacementVerdict no_clique_fits(const PlacementDomain& domain, const CliqueState* best,
                                const CliqueState* largest) {
  const std::string needs = cat("needs ", seats_text(domain.num_nodes), ", ");
  if (best == nullptr || largest == nullptr) {
    return {false, "NoCliqueFits",
            cat(needs, "and no node offers one that is in an NVLink clique")};
  }
  if (largest->total() < domain.num_nodes) {
    return {false, "NoCliqueIsLargeEnough",
            cat(needs, "and the largest clique, ", largest->clique, ", has ", largest->total(),
                ": lower spec.numNodes, or create it with spec.placement.clique Any")};
  }
  return {false, "NoCliqueFits",
          cat(needs, "the best clique, ", best->clique, ", has ", account_of(*best))};
}

PlacementVerdict clique_lacks_seats(std::int64_t lacks, std::int64_t wanted,
                                    const CliqueState& state, const std::string& outlook) {
  return {false, "CliqueLacksSeats",
          cat("clique ", state.clique, " lacks ", lacks, " of the ", seats_text(wanted),
              " for it, and has ", account_of(state), "; ", outlook)};
}

}  // namespace cdom::core
