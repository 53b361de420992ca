// Placer: carries out the one plan of all domains that want one clique.
//
// How it goes: it decides, has each move and each end of a reservation proved, and writes the
// reservations. A proof that fails, because a cache is behind, withdraws what it was for, and that
// domain keeps its reservation for a while; the others get theirs. For one thread at a time.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "compute_domain/controller/apply.h"
#include "compute_domain/controller/gather.h"
#include "compute_domain/core/placement.h"

namespace cdom::controller {

class Placer {
 public:
  // A domain of which a proof has failed is left as it is for this long: a proof costs LISTs.
  static constexpr base::Duration kProofPause = std::chrono::seconds(5);

  Placer(const Sources& from, const Apply& apply) : from_(from), apply_(apply) {}

  struct Round {
    core::Plan plan;  // that was carried out, or tried
    Applied applied;
    // What holds now, by UID of the domain; for a choice that the API server refuses, its refusal.
    std::map<std::string, core::PlacementVerdict> verdicts;
  };
  Round run(const Apply::Beat& beat);

 private:
  struct Proofs {
    base::Result<void> result;
    bool all_hold = true;
  };
  Proofs prove(const core::Plan& plan, std::vector<core::Action>& proved,
               std::optional<ListedDomains>& domains, std::set<std::string>& unproven,
               const Apply::Beat& beat);
  [[nodiscard]] std::set<std::string> paused_domains();
  void look_again_after_pauses(core::Plan& plan) const;

  const Sources& from_;
  const Apply& apply_;
  std::map<std::string, base::Duration> paused_until_;  // by UID of the domain
};

}  // namespace cdom::controller
