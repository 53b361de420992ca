#include "clique_writer.h"

#include <chrono>
#include <optional>

#include "compute_domain/base/log.h"
#include "compute_domain/core/placement.h"

namespace cdom::controller {

namespace {

using base::ErrorKind;

// A proof costs a LIST of all domains, and only a person can correct what nobody can read.
constexpr base::Duration kUnprovedPause = std::chrono::seconds(5);
constexpr base::Duration kUnreadablePause = std::chrono::seconds(30);

bool needs_a_person(ErrorKind kind) {
  return kind == ErrorKind::Invalid || kind == ErrorKind::Forbidden;
}

// It says nothing of the domain: the next one would be asked about in vain, too.
bool hinders_all(ErrorKind kind) {
  return kind == ErrorKind::Unavailable || kind == ErrorKind::Cancelled;
}

}  // namespace

CliqueWriter::Round CliqueWriter::run(const std::string& clique, const Apply::Beat& beat) const {
  core::CliqueWorld world = gather_clique(from_, clique);
  Round round{.plan = core::reconcile_clique(world), .applied = {}};
  const std::size_t known = world.unproven.size();
  const std::set<std::string> proved = prove(round.plan, world, beat);
  if (world.unproven.size() > known) round.plan = core::reconcile_clique(world);
  std::erase_if(round.plan.actions, [&](const core::Action& action) {
    return proved.contains(core::domain_of_proof(action));
  });
  round.applied = apply_(round.plan, beat);
  return round;
}

// Gives the domains that have ended; the others are unproven in the world.
std::set<std::string> CliqueWriter::prove(const core::Plan& plan, core::CliqueWorld& world,
                                          const Apply::Beat& beat) const {
  std::set<std::string> proved;
  std::optional<ListedDomains> domains;
  std::optional<base::Error> lasting;
  for (const core::Action& action : plan.actions) {
    const std::string uid = core::domain_of_proof(action);
    if (uid.empty()) continue;
    if (lasting) {
      note_unproved(uid, *lasting, world);
      continue;
    }
    const Applied applied =
        apply_({.actions = {action}, .look_again = std::nullopt}, domains, beat);
    if (applied.result) {
      proved.insert(uid);
      continue;
    }
    const base::Error& error = applied.result.error();
    note_unproved(uid, error, world);
    if (hinders_all(error.kind)) lasting = error;
  }
  return proved;
}

// In the log, for who operates it: what it says is of one tenant, and the list of many.
void CliqueWriter::note_unproved(const std::string& uid, const base::Error& error,
                                 core::CliqueWorld& world) const {
  const base::Duration pause = needs_a_person(error.kind) ? kUnreadablePause : kUnprovedPause;
  memory_.end_unproved(uid, from_.clock.elapsed(), pause);
  world.unproven.emplace(uid, pause);
  base::log(needs_a_person(error.kind) ? base::LogLevel::Warning : base::LogLevel::Debug,
            "a domain keeps its channel for now", {{"uid", uid}, {"error", error.message}});
}

}  // namespace cdom::controller
