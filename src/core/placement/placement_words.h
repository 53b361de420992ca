// The texts about a placement. Pure.
#pragma once

#include <cstdint>

#include "compute_domain/core/placement.h"

namespace cdom::core {

// A clique, with what of it is not reserved for anybody; less than none when it lacks seats.
struct CliqueState {
  std::string_view clique;
  const CliqueSeats* seats = nullptr;  // null: no node offers one any more
  std::int64_t free = 0;
  std::int64_t left = 0;
  std::int64_t unread = 0;  // of those, at most so many that pods have, which is not read

  [[nodiscard]] std::int64_t total() const;
};

PlacementVerdict no_template();
PlacementVerdict placement_unsupported();
PlacementVerdict num_nodes_missing(const PlacementDomain& domain);
PlacementVerdict reserved(const Reservation& reservation);
// `best`: the clique that has the most left; null when there is none. `largest`: the most seats
// that a clique has.
PlacementVerdict no_clique_fits(const PlacementDomain& domain, const CliqueState* best,
                                const CliqueState* largest);
// The reserved clique has fewer seats for it than it needs; `outlook` says what comes.
PlacementVerdict clique_lacks_seats(std::int64_t lacks, std::int64_t wanted,
                                    const CliqueState& state, const std::string& outlook);

}  // namespace cdom::core
