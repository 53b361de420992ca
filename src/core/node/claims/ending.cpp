#include "core/node/claims/ending.h"

#include <algorithm>

#include "compute_domain/base/text.h"
#include "compute_domain/core/reconcile_node.h"
#include "core/node/claims/admission.h"

namespace cdom::core {

namespace {

using base::cat;

bool is_wanted(const NodeWorld& world, const std::string& uid) {
  return std::ranges::any_of(world.prepares,
                             [&](const WantedClaim& wanted) { return wanted.claim.uid == uid; });
}

const ClaimReading* find_reading(const NodeWorld& world, const std::string& uid) {
  const auto it = world.readings.find(uid);
  return it == world.readings.end() ? nullptr : &it->second;
}

bool is_last_of_served(const Checkpoint& checkpoint, const PreparedClaim& claim) {
  return checkpoint.served && checkpoint.served->group == claim.group && !claim.admin_access &&
         !is_standing(checkpoint, claim.group) &&
         std::ranges::none_of(checkpoint.claims, [&](const auto& entry) {
           return entry.first != claim.claim.uid && entry.second.group == claim.group &&
                  !entry.second.admin_access;
         });
}

// Whether the served group's daemon is known to have ended; stops it where it has not.
bool daemon_has_ended(NodeDraft& draft, const std::string& uid) {
  const auto& daemon = draft.world.daemon;
  if (!daemon && draft.world.supervisor_has_ended) {
    if (const Setback* setback = draft.held_back(kDaemonSetback)) {
      draft.wait(uid, setback->error);
      return false;
    }
    // Nor may a successor of its supervisor start it again: the slot is about to be free.
    draft.stop_daemon();
    return true;
  }
  if (!daemon) {
    draft.wait(uid, cat("the IMEX supervisor does not answer: ", draft.world.supervisor_error));
    return false;
  }
  if (!may_run_for(daemon, *draft.checkpoint.served)) return true;
  if (const Setback* setback = draft.held_back(kDaemonSetback)) {
    draft.wait(uid, setback->error);
    return false;
  }
  if (!daemon->stopping) {
    draft.add(RemoveCdi{uid});
    draft.stop_daemon();
  }
  const std::string stuck = why_not_ending(*daemon);
  draft.wait(
      uid, stuck.empty() ? cat("the daemon of IMEX group ", daemon->group, " is stopping") : stuck);
  return false;
}

// Without a fabric there is no daemon, but a last claim there is.
bool is_last_without_fabric(const Checkpoint& checkpoint, const PreparedClaim& claim) {
  return claim.channels.count == 0 && !claim.admin_access && !claim.devices.empty() &&
         std::ranges::count_if(checkpoint.claims, [&](const auto& entry) {
           return entry.second.group == claim.group && !entry.second.admin_access;
         }) == 1;
}

void remember_stopped_without_fabric(NodeDraft& draft, const std::string& group) {
  const SeenList* seen = find_seen_list(draft.world, group);
  const api::NodeListEntry* entry = seen == nullptr ? nullptr : own_entry(draft.world, *seen);
  draft.checkpoint.stopped[group] = {.group = group,
                                     .clique = draft.checkpoint.clique.value_or(""),
                                     .slot = -1,
                                     .term = entry == nullptr ? 0 : entry->term};
}

// The channels of a claim that was taken over are not known, so it counts as having some. Without a
// fabric there is nothing to keep.
bool has_channels(const PreparedClaim& claim) {
  return claim.channels.count > 0 || claim.devices.empty();
}

bool uses(const RunningPod& pod, const PreparedClaim& claim) {
  return claim.pods.contains(pod.uid) ||
         (pod.ns == claim.claim.ns && pod.claims.contains(claim.claim.name));
}

void begin_ending(NodeDraft& draft, const std::string& uid) {
  const auto it = draft.checkpoint.claims.find(uid);
  if (it == draft.checkpoint.claims.end() || it->second.phase == ClaimPhase::Ending) return;
  PreparedClaim& claim = it->second;
  claim.phase = ClaimPhase::Ending;
  claim.later_phase.clear();
  if (has_channels(claim)) {
    for (const auto& [pod_uid, pod] : draft.world.running_pods) {
      if (uses(pod, claim)) claim.held_by[pod_uid] = pod.grace_seconds;
    }
  }
  draft.save_checkpoint();
}

std::string pods_text(const NodeWorld& world, const PreparedClaim& claim) {
  std::vector<std::string> names;
  for (const auto& [pod_uid, grace] : claim.held_by) {
    const auto it = world.running_pods.find(pod_uid);
    const bool is_named = it != world.running_pods.end() && !it->second.name.empty();
    names.push_back(is_named ? cat(it->second.ns, "/", it->second.name) : cat("UID ", pod_uid));
  }
  return cat(names.size() == 1 ? "pod " : "pods ", base::list_names(names));
}

// Lets go of the pods that have ended; whether others are left.
bool is_held(NodeDraft& draft, PreparedClaim& claim) {
  const std::size_t gone = std::erase_if(claim.held_by, [&](const auto& entry) {
    return !draft.world.running_pods.contains(entry.first);
  });
  if (gone > 0) draft.save_checkpoint();
  return !claim.held_by.empty();
}

void go_on_ending(NodeDraft& draft, const std::string& uid) {
  PreparedClaim& claim = draft.checkpoint.claims.at(uid);
  if (is_held(draft, claim)) {
    const auto since = draft.world.held_since.find(uid);
    if (since != draft.world.held_since.end()) {
      const base::Duration notice = since->second + draft.world.times.pending_notice;
      if (notice > draft.world.elapsed) draft.look_again_at(notice);
    }
    return draft.wait(
        uid, cat("kubelet has not reported that ", pods_text(draft.world, claim), " has ended"));
  }
  if (const Setback* setback = draft.held_back(uid)) return draft.wait(uid, setback->error);
  const bool last = is_last_of_served(draft.checkpoint, claim);
  if (last && !daemon_has_ended(draft, uid)) return;
  draft.add(RemoveCdi{uid});
  if (last) remember_stopped(draft.checkpoint);
  if (is_last_without_fabric(draft.checkpoint, claim)) {
    remember_stopped_without_fabric(draft, claim.group);
  }
  draft.checkpoint.claims.erase(uid);
  draft.save_checkpoint();
}

// Whether a daemon runs here, after the checkpoint was lost, that can be taken over with the claim,
// as its file tells, as soon as the node lists are there.
bool awaits_takeover(const NodeDraft& draft, const std::string& uid) {
  const NodeWorld& world = draft.world;
  const auto& daemon = world.daemon;
  const bool has_file = std::ranges::find(world.held, uid, [](const HeldClaim& held) {
                          return held.claim.uid;
                        }) != world.held.end();
  return (has_file || !world.knows_held) && !world.lists_synced && !draft.checkpoint.served &&
         daemon && daemon->running && !daemon->host_managed &&
         !draft.checkpoint.stopped.contains(daemon->group);
}

bool is_named_in(const Published<api::ComputeDomainNode>& report, const std::string& uid) {
  return std::ranges::any_of(report.objects, [&](const api::ComputeDomainNode& object) {
    return std::ranges::any_of(object.status.groups, [&](const api::ImexGroupReport& group) {
      return std::ranges::find(group.claims, uid) != group.claims.end();
    });
  });
}

// Whether the daemon of a lost checkpoint would be taken over for a claim that has ended. Not of
// one whose pod may still run, as after a deletion by force: kubelet's API has no name for claims
// that are made from templates, so any pod of the namespace may be that one.
bool has_to_be_let_go(const NodeDraft& draft, const ClaimRef& claim) {
  const NodeWorld& world = draft.world;
  const bool may_run = std::ranges::any_of(world.running_pods, [&](const auto& entry) {
    return entry.second.ns.empty() || entry.second.ns == claim.ns;
  });
  if (may_run || !may_run_unknown(draft)) return false;
  return !world.has_read_report || is_named_in(world.report, claim.uid);
}

// Its file may be there all the same, and is the last word about a claim of a lost checkpoint.
void end_unknown(NodeDraft& draft, const WantedClaim& wanted) {
  const NodeWorld& world = draft.world;
  const std::string& uid = wanted.claim.uid;
  const base::Duration patience_ends = wanted.since + world.times.takeover_patience;
  if (awaits_takeover(draft, uid) && world.elapsed < patience_ends) {
    draft.look_again_at(patience_ends);
    return draft.wait(uid, cat("this node runs the daemon of IMEX group ", world.daemon->group,
                               ", and the node lists are not read yet that say for which claims"));
  }
  if (const Setback* setback = draft.held_back(uid)) return draft.wait(uid, setback->error);
  draft.add(RemoveCdi{uid});
  if (has_to_be_let_go(draft, wanted.claim) && draft.checkpoint.let_go.insert(uid).second) {
    draft.save_checkpoint();
  }
  draft.add(AnswerUnprepared{uid});
}

// How long an answer about a claim that nobody admits holds. No list ever admits one with admin
// access: there is no cause to doubt it, and it keeps nothing running that others wait for.
base::Duration look_up_interval(const NodeTimes& times, const PreparedClaim& claim,
                                const ClaimReading& reading) {
  if (claim.admin_access) return reading.gone_since ? times.doubt_look_up : times.stale_grace;
  const bool is_no_answer = reading.error && reading.error->kind != base::ErrorKind::NotFound;
  return is_no_answer ? times.retry_look_up : times.doubt_look_up;
}

// A claim of a lost checkpoint whose name is not known: kubelet alone can end it, or say that it
// has forgotten it. Nobody can be asked about it.
bool is_forgotten(NodeDraft& draft, const std::string& uid) {
  const auto since = draft.world.unnamed_since.find(uid);
  if (since == draft.world.unnamed_since.end()) return false;
  const base::Duration ends = since->second + draft.world.times.stale_grace;
  if (draft.world.elapsed < ends) draft.look_again_at(ends);
  return draft.world.elapsed >= ends;
}

bool is_held_for_long(const NodeWorld& world, const std::string& uid, const PreparedClaim& claim) {
  const auto since = world.held_since.find(uid);
  return !claim.held_by.empty() && since != world.held_since.end() &&
         world.elapsed - since->second >= world.times.pending_notice;
}

// The clique's group has claims of many domains, and each domain shows its message.
std::string claims_text(const NodeDraft& draft, std::string_view group,
                        const std::vector<std::string>& claims) {
  if (!is_standing(draft.checkpoint, group)) {
    return cat("ResourceClaim ", base::list_names(claims));
  }
  return cat(claims.size(), claims.size() == 1 ? " ResourceClaim" : " ResourceClaims");
}

}  // namespace

void stop_what_has_ended(NodeDraft& draft) {
  const auto& daemon = draft.world.daemon;
  const auto& served = draft.checkpoint.served;
  if (!daemon || daemon->host_managed || daemon->stopping) return;
  // What is served now waits for the end of what runs, and takes the place of what may start.
  if (served && (served->group == daemon->group || !daemon->running)) return;
  if (!draft.checkpoint.stopped.contains(daemon->group)) return;
  if (!daemon->running && !base::may_start_by_itself(*daemon)) return;
  if (draft.held_back(kDaemonSetback) == nullptr) draft.stop_daemon();
}

void remember_stopped(Checkpoint& checkpoint) {
  const ServedImexGroup& served = *checkpoint.served;
  checkpoint.stopped[served.group] = {.group = served.group,
                                      .clique = checkpoint.clique.value_or(""),
                                      .slot = served.slot,
                                      .term = served.term};
  checkpoint.served.reset();
}

void end_claims(NodeDraft& draft) {
  std::vector<std::string> asked;
  for (const WantedClaim& wanted : draft.world.unprepares) {
    const std::string& uid = wanted.claim.uid;
    if (draft.checkpoint.claims.contains(uid)) {
      begin_ending(draft, uid);
      asked.push_back(uid);
    } else {
      end_unknown(draft, wanted);
    }
  }
  std::vector<std::string> ending;
  for (const auto& [uid, claim] : draft.checkpoint.claims) {
    if (claim.phase == ClaimPhase::Ending) ending.push_back(uid);
  }
  // Only who starts and stops the daemon knows whether it has ended.
  if (is_newest_agent(draft.world)) {
    for (const std::string& uid : ending) go_on_ending(draft, uid);
  }
  for (const std::string& uid : asked) {
    const auto it = draft.checkpoint.claims.find(uid);
    // Kubelet goes on with the pod only when it has its answer, and only then ends it.
    if (it == draft.checkpoint.claims.end() || !it->second.held_by.empty()) {
      draft.add(AnswerUnprepared{uid});
    }
  }
}

void resume_held(NodeDraft& draft, const std::string& uid, std::set<std::string> pods) {
  PreparedClaim& claim = draft.checkpoint.claims.at(uid);
  // Its containers have it, those that still end, too.
  claim.phase = ClaimPhase::Completed;
  for (const auto& [pod, grace] : claim.held_by) pods.insert(pod);
  claim.pods = std::move(pods);
  claim.held_by.clear();
  draft.save_checkpoint();
}

void doubt_claims(NodeDraft& draft) {
  const NodeWorld& world = draft.world;
  if (!world.lists_synced) return;
  std::vector<std::string> stale;
  for (const auto& [uid, claim] : draft.checkpoint.claims) {
    if (claim.phase == ClaimPhase::Ending || is_wanted(world, uid)) continue;
    if (admission_of(world, uid)) continue;
    if (claim.claim.name.empty()) {
      if (is_forgotten(draft, uid)) stale.push_back(uid);
      continue;
    }
    const ClaimReading* reading = find_reading(world, uid);
    const base::Duration due =
        reading == nullptr ? world.elapsed
                           : reading->asked + look_up_interval(world.times, claim, *reading);
    if (world.elapsed >= due) draft.add(LookUpClaim{claim.claim});
    draft.look_again_at(std::max(due, world.elapsed + world.times.retry_look_up));
    if (reading == nullptr || !reading->gone_since) continue;
    const base::Duration ends = *reading->gone_since + world.times.stale_grace;
    if (world.elapsed < ends) draft.look_again_at(ends);
    if (world.elapsed >= ends && !world.known_to_kubelet.contains(uid)) stale.push_back(uid);
  }
  for (const std::string& uid : stale) begin_ending(draft, uid);
}

std::string doubts_about(const NodeDraft& draft, std::string_view group) {
  std::vector<std::string> gone, held;
  for (const auto& [uid, claim] : draft.checkpoint.claims) {
    if (claim.group != group || is_wanted(draft.world, uid)) continue;
    if (is_held_for_long(draft.world, uid, claim)) {
      held.push_back(is_standing(draft.checkpoint, group)
                         ? to_string(claim.claim)
                         : cat(to_string(claim.claim), " (", pods_text(draft.world, claim), ")"));
    }
    const ClaimReading* reading = find_reading(draft.world, uid);
    // One with admin access is another tenant's, and keeps nothing of the group.
    if (claim.held_by.empty() && !claim.admin_access && reading != nullptr && reading->gone_since) {
      gone.push_back(to_string(claim.claim));
    }
  }
  std::vector<std::string> sentences;
  if (!gone.empty()) {
    sentences.push_back(
        cat(claims_text(draft, group, gone), gone.size() == 1 ? " has" : " have",
            " ended in the API but not on this node: containers of its pod may still run; the "
            "channel stays until kubelet unprepares it"));
  }
  if (!held.empty()) {
    sentences.push_back(
        cat(claims_text(draft, group, held), held.size() == 1 ? " is" : " are",
            " unprepared, but kubelet has not reported that ",
            held.size() == 1 ? "its pod has" : "their pods have",
            " ended (deleted by force?); the channel stays until then: if that lasts, stop the "
            "containers on the node"));
  }
  return base::join(sentences, "; ");
}

bool is_worth_keeping(const Checkpoint& checkpoint) {
  return !checkpoint.claims.empty() || checkpoint.served || !checkpoint.stopped.empty() ||
         !checkpoint.let_go.empty() || !checkpoint.later.empty();
}

}  // namespace cdom::core
