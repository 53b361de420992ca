#include "compute_domain/core/seat_health.h"

#include "compute_domain/base/text.h"
#include "core/node/draft.h"
#include "core/node/report/slice.h"

namespace cdom::core {

namespace {

using base::cat;
using State = SeatHealth::State;

bool has_prepared(const Checkpoint& checkpoint, const std::string& group) {
  for (const auto& [uid, claim] : checkpoint.claims) {
    if (claim.group == group && claim.phase == ClaimPhase::Completed) return true;
  }
  return false;
}

// Of a seat whose claim is prepared: it works while the daemon is READY.
void judge_daemon(const NodeWorld& world, const ServedGroup& served, SeatHealth& seat) {
  if (!world.daemon) {
    // A supervisor that ends takes its daemon with it; one that is only slow is back in a moment.
    const bool is_gone = world.elapsed - world.supervisor_silent_since >= world.times.report_hold;
    seat.state = is_gone ? State::Unhealthy : State::Unknown;
    seat.message = cat("the IMEX supervisor does not answer: ", world.supervisor_error);
  } else if (is_ready_for(world.daemon, served)) {
    seat.state = State::Healthy;
  } else {
    seat.state = State::Unhealthy;
    const std::string what = is_running_for(world.daemon, served) ? "the IMEX daemon is not READY"
                                                                  : "the IMEX daemon does not run";
    const std::string& why = world.daemon->message;
    seat.message = why.empty() ? what : cat(what, ": ", why);
  }
}

}  // namespace

std::vector<SeatHealth> seat_health(const NodeWorld& world) {
  const Checkpoint& checkpoint = world.checkpoint;
  if (!checkpoint.clique) return {};
  SeatHealth seat{.pool = world.self.name, .device = {}, .state = State::Healthy, .message = {}};
  if (checkpoint.served && has_prepared(checkpoint, checkpoint.served->group)) {
    judge_daemon(world, *checkpoint.served, seat);
  } else if (!world.fabric.error.empty()) {
    seat.state = State::Unknown;
    seat.message = cat("the fabric cannot be read: ", world.fabric.error);
  }
  std::vector<SeatHealth> seats;
  for (std::string& name : seat_names(checkpoint, world.settings)) {
    seat.device = std::move(name);
    seats.push_back(seat);
  }
  for (const auto& [uid, claim] : checkpoint.claims) {
    const bool is_served = checkpoint.served && claim.group == checkpoint.served->group;
    if (!is_served || claim.phase != ClaimPhase::Completed) continue;
    for (const SeatRef& held : claim.seats) {
      if (held.pool == seat.pool) continue;
      seats.push_back({held.pool, held.device, seat.state, seat.message});
    }
  }
  return seats;
}

}  // namespace cdom::core
