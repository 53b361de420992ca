#include "placer.h"

#include <algorithm>
#include <utility>

#include "compute_domain/base/log.h"
#include "compute_domain/base/text.h"

namespace cdom::controller {

namespace {

using base::ErrorKind;

// It says nothing of the domain: nothing else can be asked or written now either.
bool is_about_the_server(ErrorKind kind) {
  return kind == ErrorKind::Unavailable || kind == ErrorKind::Cancelled;
}

bool is_refusal(ErrorKind kind) {
  return kind == ErrorKind::Invalid || kind == ErrorKind::Forbidden;
}

// The choices that would have been written, had the API server taken them.
void withdraw_choices(const core::PlacementWorld& world, const std::string& why,
                      std::map<std::string, core::PlacementVerdict>& verdicts) {
  for (auto& [uid, verdict] : verdicts) {
    const bool is_reserved = world.reservations && core::reservation_in(*world.reservations, uid);
    if (!verdict.holds || is_reserved) continue;
    verdict = {false, "ChoiceRefused",
               base::cat("a clique is free for it, and the API server refuses the ConfigMap ",
                         core::kReservationsName, " that keeps it: ", why)};
  }
}

}  // namespace

Placer::Round Placer::run(const Apply::Beat& beat) {
  core::PlacementWorld world = gather_placement(from_);
  world.unproven = paused_domains();
  std::vector<core::Action> proved;
  std::optional<ListedDomains> domains;
  Round round;
  for (;;) {
    core::PlacementPlan placement = core::place(world);
    round.plan = std::move(placement.plan);
    round.verdicts = std::move(placement.verdicts);
    Proofs proofs = prove(round.plan, proved, domains, world.unproven, beat);
    if (!proofs.result) {
      round.applied.result = std::move(proofs.result);
      round.verdicts.clear();
      return round;
    }
    if (proofs.all_hold) break;
  }
  std::erase_if(round.plan.actions,
                [](const core::Action& action) { return !core::domain_of_proof(action).empty(); });
  round.applied = apply_(round.plan, beat);
  look_again_after_pauses(round.plan);
  if (round.applied.result) return round;
  if (is_refusal(round.applied.result.error().kind)) {
    withdraw_choices(world, round.applied.result.error().message, round.verdicts);
  } else {
    round.verdicts.clear();
  }
  return round;
}

Placer::Proofs Placer::prove(const core::Plan& plan, std::vector<core::Action>& proved,
                             std::optional<ListedDomains>& domains, std::set<std::string>& unproven,
                             const Apply::Beat& beat) {
  Proofs proofs;
  for (const core::Action& action : plan.actions) {
    const std::string uid = core::domain_of_proof(action);
    if (uid.empty() || std::ranges::find(proved, action) != proved.end()) continue;
    Applied applied = apply_({.actions = {action}, .look_again = std::nullopt}, domains, beat);
    if (applied.result) {
      proved.push_back(action);
      continue;
    }
    if (is_about_the_server(applied.result.error().kind)) {
      proofs.result = std::move(applied.result);
      return proofs;
    }
    base::log_debug("a domain keeps its clique for now",
                    {{"uid", uid}, {"error", applied.result.error().message}});
    unproven.insert(uid);
    paused_until_[uid] = from_.clock.elapsed() + kProofPause;
    proofs.all_hold = false;
  }
  return proofs;
}

std::set<std::string> Placer::paused_domains() {
  const base::Duration now = from_.clock.elapsed();
  std::erase_if(paused_until_, [&](const auto& paused) { return paused.second <= now; });
  std::set<std::string> uids;
  for (const auto& [uid, until] : paused_until_) uids.insert(uid);
  return uids;
}

void Placer::look_again_after_pauses(core::Plan& plan) const {
  for (const auto& [uid, until] : paused_until_) {
    const base::Duration left = until - from_.clock.elapsed();
    plan.look_again = std::min(plan.look_again.value_or(left), left);
  }
}

}  // namespace cdom::controller
