#include "core/node/report/losses.h"

#include <algorithm>
#include <set>

#include "compute_domain/base/text.h"
#include "compute_domain/core/memory_lost.h"

namespace cdom::core {

namespace {

using api::DaemonState;
using base::cat;

// Whether its pods may use the group's daemon. Kubelet unprepares a claim when its pods have ended,
// but for those that it still runs.
bool may_import(const PreparedClaim& claim, const ServedImexGroup& served) {
  return claim.phase != ClaimPhase::Started && keeps_running(claim, served.group);
}

// Of this boot.
const api::ImexGroupReport* said_of(const NodeWorld& world, const ServedImexGroup& served) {
  if (world.report.objects.empty()) return nullptr;
  const api::ComputeDomainNodeReport& report = world.report.objects.front().status;
  return report.boot_id == world.self.boot_id ? api::find_group(report, served.group) : nullptr;
}

bool is_among(const std::vector<std::string>& uids, const PreparedClaim& claim) {
  return std::ranges::find(uids, claim.claim.uid) != uids.end();
}

bool is_of_hosts(const NodeWorld& world) {
  return world.report.objects.front().status.host_managed;
}

// Under one instance it may be the host's in the report and the node's own by now.
bool names_the_running(const api::ImexGroupReport* said, const NodeWorld& world) {
  return world.daemon && said != nullptr && !said->instance.empty() &&
         said->instance == world.daemon->instance &&
         is_of_hosts(world) == world.daemon->host_managed;
}

// An agent of before 0.2 remembers no daemon, nor does a checkpoint that was lost: what was
// reported of the claim holds. Whether that says anything.
bool take_daemon_from_report(PreparedClaim& claim, const NodeWorld& world,
                             const api::ImexGroupReport* said) {
  if (said == nullptr || said->instance.empty() || !is_among(said->claims, claim)) return false;
  if (is_of_hosts(world)) {
    claim.daemon = kHostsDaemon;
    claim.lost_memory = false;
    return true;
  }
  const bool is_lost = said->state == DaemonState::Failed && tells_of_loss(said->message);
  // It hangs, so it may have been READY, and no other is known with which the claim can have been
  // prepared.
  const bool is_the_first = names_the_running(said, world) && world.daemon->running &&
                            world.daemon->phase == base::DaemonPhase::Failed &&
                            said->restarts == 0 && !is_among(said->lost_claims, claim);
  if (said->state != DaemonState::Ready && !is_lost && !is_the_first) return false;
  claim.daemon = said->instance;
  claim.lost_memory = is_lost;
  return true;
}

// An agent of before 0.2 has been here in between where the report names a daemon that no claim
// remembers: the end of the one before is noted before any report names another, and which one is
// READY before a report says so.
bool is_of_earlier_agent(const PreparedClaim& claim, const NodeWorld& world,
                         const ServedImexGroup& served, const api::ImexGroupReport* said) {
  const bool is_running = names_the_running(said, world);
  if (!claim.lost_memory) return is_running && claim.daemon != remembered_name(*world.daemon);
  // Of a daemon that has ended too, if only the report is later than the loss.
  return said != nullptr && said->state == DaemonState::Ready &&
         (is_running || !is_untold(world, served, said)) && claim.daemon != said->instance;
}

// Such an agent may have told of a later loss, or the checkpoint was lost. Whether it is noted now.
bool take_loss_from_report(ServedImexGroup& served, const NodeWorld& world,
                           const api::ImexGroupReport* said) {
  if (said == nullptr) return false;
  const auto& told = loss_of(*said);
  if (!told || is_to_come(told->time, world.now)) return false;
  // Nor does it replace one that is still to be told, of a clock that was set back since.
  if (served.loss && told->time <= served.loss->time) return false;
  const auto& claims = said->last_loss ? said->lost_claims : said->claims;
  if (claims.empty()) return false;
  served.loss = MemoryLoss{
      .time = told->time, .message = told->message, .claims = {claims.begin(), claims.end()}};
  return true;
}

// Whether it is proven that this daemon runs no more.
bool has_ended(const NodeWorld& world, const std::string& instance) {
  if (instance.empty() || instance == kHostsDaemon) return false;
  if (!world.daemon) return world.supervisor_has_ended;
  return world.daemon->instance != instance || !world.daemon->running;
}

// From now on its containers that start use this one. Whether that is news.
bool take_daemon(PreparedClaim& claim, const SeenDaemon& daemon) {
  const std::string name = remembered_name(daemon);
  if (!claim.lost_memory && claim.daemon == name) return false;
  claim.daemon = name;
  claim.lost_memory = false;
  return true;
}

// Whether a claim is left of those that lost memory with the noted loss.
bool is_any_here(const Checkpoint& checkpoint, const ServedImexGroup& served) {
  return std::ranges::any_of(served.loss->claims, [&](const std::string& uid) {
    const auto it = checkpoint.claims.find(uid);
    return it != checkpoint.claims.end() && may_import(it->second, served);
  });
}

// Nobody has to know of a loss any more who does not know of it yet.
bool is_of_nobody(const NodeDraft& draft, const ServedImexGroup& served,
                  const api::ImexGroupReport* said) {
  return is_untold(draft.world, served, said) && !is_any_here(draft.checkpoint, served);
}

base::Time time_of_end(const NodeWorld& world) {
  const base::Time time = world.daemon
                              ? world.daemon->since_time
                              : world.now - (world.elapsed - world.supervisor_silent_since);
  return std::chrono::floor<std::chrono::seconds>(time);
}

std::string how_they_ended(const NodeWorld& world, const ServedImexGroup& served,
                           const std::set<std::string>& ended) {
  if (!world.daemon) return world.supervisor_error;
  if (ended.contains(world.daemon->instance)) return said_of_end(*world.daemon, served);
  return cat("the IMEX daemon that was READY has ended with its supervisor",
             world.daemon->running ? ", and another one has taken its place" : "");
}

// No earlier than a failure that is reported: that one would look as if it came after the loss. A
// clock may have been set back a little.
base::Time no_earlier_than_reported(base::Time time, const NodeWorld& world,
                                    const api::ImexGroupReport* said) {
  if (said == nullptr || !said->last_failure) return time;
  const base::Time reported = said->last_failure->time;
  return is_to_come(reported, world.now) ? time : std::max(time, reported);
}

// Those of a loss that nobody knows of yet are told with the new one.
void note_loss(ServedImexGroup& served, const NodeWorld& world, const api::ImexGroupReport* said,
               std::set<std::string> claims, const std::string& how) {
  base::Time time = no_earlier_than_reported(time_of_end(world), world, said);
  if (is_untold(world, served, said)) {
    claims.insert(served.loss->claims.begin(), served.loss->claims.end());
  }
  if (served.loss && !is_later_loss(time, served.loss->time, world.now)) {
    time = served.loss->time + std::chrono::seconds(1);
  }
  served.loss = MemoryLoss{.time = time,
                           .message = cat(shortened_cause(how), "; ", kMemoryLost),
                           .claims = std::move(claims)};
}

}  // namespace

std::string remembered_name(const SeenDaemon& daemon) {
  return daemon.host_managed ? kHostsDaemon : daemon.instance;
}

void note_losses(NodeDraft& draft) {
  const NodeWorld& world = draft.world;
  auto& served = draft.checkpoint.served;
  // An agent before this one may have told of a loss that looks like news here. Nothing can be told
  // before that is known, and the claims keep their daemon.
  if (!served || !world.has_read_report) return;
  const api::ImexGroupReport* said = said_of(world, *served);
  const bool is_ready =
      is_running_for(world.daemon, *served) && world.daemon->phase == base::DaemonPhase::Ready;
  bool has_news = take_loss_from_report(*served, world, said);
  std::set<std::string> lost, ended;
  for (auto& [uid, claim] : draft.checkpoint.claims) {
    if (!may_import(claim, *served)) continue;
    if (is_of_earlier_agent(claim, world, *served, said)) {
      has_news |= !claim.daemon.empty();
      claim.daemon.clear();
    }
    if (claim.daemon.empty()) has_news |= take_daemon_from_report(claim, world, said);
    if (!claim.lost_memory && has_ended(world, claim.daemon)) {
      claim.lost_memory = has_news = true;
      lost.insert(uid);
      ended.insert(claim.daemon);
    }
    if (is_ready) has_news |= take_daemon(claim, *world.daemon);
  }
  if (is_of_nobody(draft, *served, said)) {
    served->loss.reset();
    take_loss_from_report(*served, world, said);  // that one has been told
    has_news = true;
  }
  if (!lost.empty()) {
    note_loss(*served, world, said, std::move(lost), how_they_ended(world, *served, ended));
  }
  if (has_news) draft.save_checkpoint();
}

std::string shortened_cause(std::string cause) {
  return base::shortened(std::move(cause), api::ReportBounds::kMessage / 2);
}

std::string said_of_end(const SeenDaemon& daemon, const ServedImexGroup& served) {
  return cat(daemon.message.empty() ? "the IMEX daemon has ended" : daemon.message,
             // Not one whose start was refused.
             starts_again_for(daemon, served) ? " (it is started again)" : "");
}

bool have_lost_memory(const NodeDraft& draft, const ServedImexGroup& served) {
  return std::ranges::any_of(draft.checkpoint.claims, [&](const auto& entry) {
    return entry.second.lost_memory && may_import(entry.second, served);
  });
}

bool is_untold(const NodeWorld& world, const ServedImexGroup& served,
               const api::ImexGroupReport* said) {
  if (!served.loss) return false;
  return said == nullptr || lacks_loss(*said, served.loss->time, world.now);
}

}  // namespace cdom::core
