#include "core/node/claims/prepare.h"

#include <algorithm>
#include <optional>
#include <tuple>
#include <variant>

#include "compute_domain/api/names.h"
#include "compute_domain/base/text.h"
#include "core/node/claims/admission.h"
#include "core/node/claims/claim_wish.h"
#include "core/node/claims/ending.h"
#include "core/node/daemon/pause.h"
#include "core/node/daemon/recovery.h"
#include "core/node/report/losses.h"

namespace cdom::core {

namespace {

using base::cat;

constexpr std::int64_t kAllChannels = 2048;  // of the reference driver's plugin

std::string named(const ClaimRef& claim) { return cat("ResourceClaim ", to_string(claim)); }

void refuse(NodeDraft& draft, const ClaimRef& claim, const Refusal& refusal) {
  draft.add(AnswerFailed{claim.uid, refusal.error, refusal.permanent, refusal.error});
}

// Waits, but not for longer than kubelet does.
void wait_or_give_up(NodeDraft& draft, const WantedClaim& wanted, const std::string& reason) {
  const base::Duration end = wanted.since + draft.world.times.prepare_patience;
  if (draft.world.elapsed >= end) {
    const std::string spent = base::short_duration(draft.world.times.prepare_patience);
    draft.add(AnswerFailed{wanted.claim.uid,
                           cat(named(wanted.claim), " is not ready after ", spent, ": ", reason),
                           false, reason});
    return;
  }
  draft.wait(wanted.claim.uid, reason);
  draft.look_again_at(end);
}

// The claim as the API server has it, asked since kubelet wanted it; nullopt: not known yet.
std::optional<ClaimReading> fresh_reading(NodeDraft& draft, const WantedClaim& wanted) {
  const auto it = draft.world.readings.find(wanted.claim.uid);
  if (it == draft.world.readings.end() || it->second.asked < wanted.since) {
    draft.add(LookUpClaim{wanted.claim});
    draft.asking.insert(wanted.claim.uid);
    wait_or_give_up(draft, wanted, cat(named(wanted.claim), " is being read"));
    return std::nullopt;
  }
  const ClaimReading& reading = it->second;
  if (!reading.error) return reading;
  if (reading.error->kind == base::ErrorKind::NotFound) {
    refuse(draft, wanted.claim, {cat(named(wanted.claim), " does not exist")});
    return std::nullopt;
  }
  const base::Duration again = reading.asked + draft.world.times.retry_look_up;
  if (draft.world.elapsed >= again) draft.add(LookUpClaim{wanted.claim});
  draft.look_again_at(again);
  wait_or_give_up(draft, wanted,
                  cat(named(wanted.claim), " cannot be read: ", reading.error->message));
  return std::nullopt;
}

void wait_for_admission(NodeDraft& draft, const WantedClaim& wanted, const ClaimWish& wish) {
  const NodeWorld& world = draft.world;
  const base::Duration patience_ends = wanted.since + world.times.admission_patience;
  if (world.elapsed < patience_ends) {
    draft.look_again_at(patience_ends);
    draft.asking.insert(wanted.claim.uid);
    return draft.wait(wanted.claim.uid,
                      cat("no node list admits ", named(wanted.claim), " on this node yet"));
  }
  const auto it = world.domains.find(wanted.claim.ns);
  if (it == world.domains.end() || it->second.asked < patience_ends) {
    draft.add(LookUpDomains{wanted.claim.ns});
    draft.asking.insert(wanted.claim.uid);
    return draft.wait(wanted.claim.uid,
                      cat("no node list admits ", named(wanted.claim), "; asking why"));
  }
  const NoAdmission none = why_not_admitted(world, wanted.claim, wish.domain_uid, it->second);
  // Kubelet asks again only 90 s after a refusal; another controller leads after 15 s.
  if (none.may_come) return wait_or_give_up(draft, wanted, none.reason);
  refuse(draft, wanted.claim, {none.reason});
}

// What a later version has written of a claim that is prepared once more.
std::string later_of(const Checkpoint& checkpoint, const std::string& uid) {
  const auto it = checkpoint.claims.find(uid);
  return it == checkpoint.claims.end() ? "" : it->second.later;
}

// One that was taken over has been prepared before.
ClaimPhase phase_to_begin(const Checkpoint& checkpoint, const std::string& uid) {
  const auto it = checkpoint.claims.find(uid);
  const bool is_known = it != checkpoint.claims.end() && !it->second.admin_access;
  return is_known && it->second.phase == ClaimPhase::Completed ? ClaimPhase::Completed
                                                               : ClaimPhase::Started;
}

// With admin access a claim looks at what runs here and changes nothing of it.
void begin_admin_access(NodeDraft& draft, const WantedClaim& wanted, const ClaimWish& wish,
                        std::set<std::string> pods) {
  const auto host = std::ranges::find_if(draft.checkpoint.claims, [](const auto& entry) {
    // The channels of a claim that was taken over are not all known before kubelet asks again.
    return !entry.second.admin_access && entry.second.phase == ClaimPhase::Completed &&
           !entry.second.devices.empty();
  });
  if (host == draft.checkpoint.claims.end()) {
    return refuse(draft, wanted.claim,
                  {cat(named(wanted.claim),
                       " has admin access, which gives the channel of the IMEX group that runs on "
                       "the node, and no IMEX group runs here")});
  }
  const std::string& uid = wanted.claim.uid;
  draft.checkpoint.claims[uid] = {.claim = wanted.claim,
                                  .phase = ClaimPhase::Started,
                                  .group = host->second.group,
                                  .channels = host->second.channels,
                                  .devices = wish.devices,
                                  .admin_access = true,
                                  .pods = std::move(pods),
                                  .later = later_of(draft.checkpoint, uid)};
  draft.save_checkpoint();
}

// The claims of `group`, for a reader in the namespace `ns`: claims of other namespaces are only
// counted.
std::string claims_of_group(const Checkpoint& checkpoint, const std::string& group,
                            const std::string& ns) {
  std::vector<std::string> named_here;
  int elsewhere = 0;
  for (const auto& [uid, claim] : checkpoint.claims) {
    if (claim.group != group || claim.admin_access) continue;
    if (claim.claim.ns == ns) {
      named_here.push_back(to_string(claim.claim));
    } else {
      ++elsewhere;
    }
  }
  std::vector<std::string> parts;
  if (!named_here.empty()) parts.push_back(cat("ResourceClaim ", base::list_names(named_here)));
  if (elsewhere > 0) {
    parts.push_back(cat(elsewhere, elsewhere == 1 ? " ResourceClaim" : " ResourceClaims",
                        " of other namespaces"));
  }
  return base::join(parts, " and ");
}

// Why the daemon that runs ahead of another group's claims has not made way yet.
std::string why_not_left(NodeDraft& draft) {
  const NodeWorld& world = draft.world;
  if (!world.daemon && !world.supervisor_has_ended) {
    return cat("the IMEX supervisor does not answer: ", world.supervisor_error);
  }
  if (const Setback* setback = draft.held_back(kDaemonSetback)) return setback->error;
  return "this node is stopping the IMEX daemon of another ComputeDomain, which had started before "
         "any pod here needed it";
}

// Who keeps the node's only IMEX session, other than `group`; "" when nobody does.
std::string other_group_here(NodeDraft& draft, const std::string& group, const std::string& ns) {
  const NodeWorld& world = draft.world;
  std::string other;
  if (draft.checkpoint.served && draft.checkpoint.served->group != group) {
    other = draft.checkpoint.served->group;
  } else if (world.daemon && world.daemon->running && world.daemon->group != group) {
    other = world.daemon->group;
  }
  if (other.empty()) return "";
  if (is_ahead(draft.checkpoint) && draft.checkpoint.served->group == other) {
    return why_not_left(draft);
  }
  const std::string claims = claims_of_group(draft.checkpoint, other, ns);
  const std::string stuck = world.daemon ? why_not_ending(*world.daemon) : "";
  return cat(
      "this node still runs the IMEX daemon of another ComputeDomain",
      claims.empty() ? std::string(", whose claims are not known here") : cat(", for ", claims),
      "; ", stuck.empty() ? "it ends with them" : stuck);
}

std::set<std::string> pods_of(const api::ResourceClaim& claim) {
  std::set<std::string> uids;
  for (const api::ClaimConsumer& consumer : claim.reserved_for) {
    if (consumer.resource == "pods") uids.insert(consumer.uid);
  }
  return uids;
}

void begin_admitted(NodeDraft& draft, const WantedClaim& wanted, const ClaimWish& wish,
                    const AdmittedBy& admitted, std::set<std::string> pods) {
  const api::NodeList& list = *admitted.list->stored.list;
  const bool has_fabric = list.slots > 0;
  PreparedClaim claim{.claim = wanted.claim,
                      .phase = phase_to_begin(draft.checkpoint, wanted.claim.uid),
                      .group = list.group,
                      .channels = {},
                      .devices = wish.devices,
                      .admin_access = false,
                      .pods = std::move(pods),
                      .later = later_of(draft.checkpoint, wanted.claim.uid)};
  if (const auto known = draft.checkpoint.claims.find(wanted.claim.uid);
      known != draft.checkpoint.claims.end()) {
    claim.daemon = known->second.daemon;
    claim.lost_memory = known->second.lost_memory;
  }
  if (has_fabric) {
    if (std::string other = other_group_here(draft, list.group, wanted.claim.ns); !other.empty()) {
      return wait_or_give_up(draft, wanted, other);
    }
    if (admitted.entry->slot < 0 || admitted.entry->slot >= list.slots) {
      return wait_or_give_up(
          draft, wanted,
          cat("the node list of IMEX group ", list.group, " gives this node slot ",
              admitted.entry->slot, " of ", list.slots, "; the controller has to correct it"));
    }
    claim.channels = wish.allocation_mode == api::AllocationMode::All
                         ? ChannelRange{0, kAllChannels}
                         : ChannelRange{admitted.channel, 1};
    if (!draft.checkpoint.served) {
      draft.checkpoint.served = served_by(list, *admitted.entry);
    } else {
      draft.checkpoint.served->term = std::max(draft.checkpoint.served->term, admitted.entry->term);
    }
  }
  draft.checkpoint.stopped.erase(list.group);
  draft.checkpoint.claims[wanted.claim.uid] = std::move(claim);
  draft.save_checkpoint();
}

// The label by which the scheduler placed the pod does not prove what the node's GPUs say.
std::string why_not_of_clique(const NodeDraft& draft, const ClaimRef& claim,
                              const ClaimWish& wish) {
  const std::string here = draft.checkpoint.clique.value_or("");
  return cat(named(claim), " is shared in clique ", *wish.shared_clique, ", and this node is of ",
             here.empty() ? std::string("none") : cat("clique ", here), ": correct the label ",
             api::kNodeCliqueLabel, " of Node ", draft.world.self.name,
             ", and create the pod again");
}

void wait_for_its_end(NodeDraft& draft, const WantedClaim& wanted) {
  wait_or_give_up(draft, wanted, cat(named(wanted.claim), " is still being unprepared"));
}

bool are_same_devices(const std::vector<DeviceRef>& some, const std::vector<DeviceRef>& others) {
  return std::ranges::equal(some, others, [](const DeviceRef& one, const DeviceRef& other) {
    return std::tie(one.request, one.pool, one.device) ==
           std::tie(other.request, other.pool, other.device);
  });
}

bool is_as_it_was(const PreparedClaim& claim, const ClaimWish& wish, const AdmittedBy& admitted) {
  const bool has_its_channel =
      claim.channels.count != 1 || claim.channels.first == admitted.channel;
  return are_same_devices(claim.devices, wish.devices) &&
         claim.group == admitted.list->stored.list->group && has_its_channel;
}

// A claim with admin access looks at what runs here, which may be another group by now.
bool looks_at_what_has_ended(const NodeDraft& draft, const PreparedClaim& claim) {
  const auto& served = draft.checkpoint.served;
  return claim.admin_access && (!served || served->group != claim.group);
}

void begin(NodeDraft& draft, const WantedClaim& wanted) {
  const auto known = draft.checkpoint.claims.find(wanted.claim.uid);
  if (known != draft.checkpoint.claims.end()) {
    const bool redo = known->second.devices.empty() ||  // taken over without its devices
                      looks_at_what_has_ended(draft, known->second);
    const bool is_ending = known->second.phase == ClaimPhase::Ending;
    if (is_ending && known->second.held_by.empty()) return wait_for_its_end(draft, wanted);
    if (!redo && !is_ending) return;
  } else if (const std::string paused = why_driver_paused(draft.world); !paused.empty()) {
    return wait_or_give_up(draft, wanted, paused);
  }
  const auto reading = fresh_reading(draft, wanted);
  if (!reading) return;
  auto wish = wish_of(wanted.claim, *reading->claim, draft.world.self.name);
  if (const auto* refusal = std::get_if<Refusal>(&wish)) {
    return refuse(draft, wanted.claim, *refusal);
  }
  const ClaimWish& asked = std::get<ClaimWish>(wish);
  const bool is_held =
      known != draft.checkpoint.claims.end() && known->second.phase == ClaimPhase::Ending;
  if (is_held && asked.admin_access) return wait_for_its_end(draft, wanted);
  if (asked.admin_access) {
    return begin_admin_access(draft, wanted, asked, pods_of(*reading->claim));
  }
  if (asked.allocation_mode == api::AllocationMode::All && draft.checkpoint.by_channel) {
    return refuse(draft, wanted.claim,
                  {cat(named(wanted.claim),
                       " asks for all channels (allocationMode: All), and this node isolates "
                       "domains by channel: the others belong to other domains; use Single"),
                   true});
  }
  if (asked.shared_clique && asked.shared_clique != draft.checkpoint.clique) {
    return wait_or_give_up(draft, wanted, why_not_of_clique(draft, wanted.claim, asked));
  }
  const auto admitted = admission_of(draft.world, wanted.claim.uid);
  if (!admitted) return wait_for_admission(draft, wanted, asked);
  if (is_held) {
    // The scheduler may have allocated it again since, for another domain or another device.
    if (!is_as_it_was(known->second, asked, *admitted)) return wait_for_its_end(draft, wanted);
    return resume_held(draft, wanted.claim.uid, pods_of(*reading->claim));
  }
  begin_admitted(draft, wanted, asked, *admitted, pods_of(*reading->claim));
}

// What the claim's group still lacks; "" when it can be used.
std::string lack_of(NodeDraft& draft, const PreparedClaim& claim) {
  const auto& served = draft.checkpoint.served;
  if (claim.channels.count == 0) return "";
  if (!served || served->group != claim.group) {
    return cat("IMEX group ", claim.group, " does not run on this node any more");
  }
  const auto& daemon = draft.world.daemon;
  if (!daemon) return cat("the IMEX supervisor does not answer: ", draft.world.supervisor_error);
  if (daemon->running && !daemon->host_managed && daemon->group != served->group) {
    const std::string stuck = why_not_ending(*daemon);
    return stuck.empty()
               ? cat("the daemon of IMEX group ", daemon->group, " still runs on this node")
               : stuck;
  }
  if (draft.stops_daemon || (daemon->stopping && is_running_for(daemon, *served))) {
    const std::string stuck = why_not_ending(*daemon);
    return stuck.empty()
               ? cat("the daemon of IMEX group ", served->group, " is stopping, and starts again")
               : stuck;
  }
  if (is_ready_for(daemon, *served)) return "";
  if (const Setback* setback = draft.held_back(kDaemonSetback)) return setback->error;
  if (draft.world.self.address.empty()) {
    return "this node's IMEX supervisor has not reported its address yet: does the "
           "compute-domain-imex pod of this node have its POD_IP?";
  }
  if (!is_running_for(daemon, *served)) {
    const bool is_of_it = daemon->group == served->group;  // and not of the group before
    return daemon->message.empty() || !is_of_it
               ? "the IMEX daemon is about to start"
               : cat("the IMEX daemon does not run: ", daemon->message);
  }
  if (daemon->phase == base::DaemonPhase::Ready) {
    return cat("the daemon of IMEX group ", served->group, " runs with another node table");
  }
  if (daemon->phase == base::DaemonPhase::Recovering) {
    const std::string names = awaited_importers(draft.world, *served);
    return cat("the IMEX daemon waits for importers of an earlier run",
               names.empty() ? std::string() : cat("; not connected with ", names));
  }
  return daemon->message.empty() ? "the IMEX daemon is not READY yet"
                                 : cat("the IMEX daemon is not READY: ", daemon->message);
}

void finish(NodeDraft& draft, const WantedClaim& wanted, PreparedClaim& claim) {
  if (const std::string lack = lack_of(draft, claim); !lack.empty()) {
    return wait_or_give_up(draft, wanted, lack);
  }
  if (const Setback* setback = draft.held_back(wanted.claim.uid)) {
    return wait_or_give_up(draft, wanted, setback->error);
  }
  const bool injects = claim.channels.count > 0;
  // Written again for every answer: the files are gone after a reboot, kubelet's memory is not.
  if (injects) draft.add(WriteCdi{claim.claim, claim.channels});
  if (claim.phase != ClaimPhase::Completed) {
    claim.phase = ClaimPhase::Completed;
    if (injects) claim.daemon = remembered_name(*draft.world.daemon);
    draft.save_checkpoint();
  }
  AnswerPrepared answer{wanted.claim.uid, {}};
  for (const DeviceRef& device : claim.devices) {
    answer.devices.push_back(
        {device, injects ? std::vector<std::string>{cdi_device_id(wanted.claim.uid)}
                         : std::vector<std::string>{}});
  }
  draft.add(std::move(answer));
}

bool is_answered(const NodeDraft& draft, const std::string& uid) {
  return std::ranges::any_of(draft.plan.on_node, [&](const NodeIntent& intent) {
    const auto* failed = std::get_if<AnswerFailed>(&intent);
    return failed != nullptr && failed->claim_uid == uid;
  });
}

}  // namespace

void begin_prepares(NodeDraft& draft) {
  for (const WantedClaim& wanted : draft.world.prepares) begin(draft, wanted);
}

void finish_prepares(NodeDraft& draft) {
  for (const WantedClaim& wanted : draft.world.prepares) {
    const auto it = draft.checkpoint.claims.find(wanted.claim.uid);
    if (it == draft.checkpoint.claims.end() || it->second.devices.empty()) continue;
    if (it->second.phase == ClaimPhase::Ending || is_answered(draft, wanted.claim.uid)) continue;
    finish(draft, wanted, it->second);
  }
}

void renew_files(NodeDraft& draft) {
  for (const std::string& uid : draft.world.wrong_files) {
    const auto it = draft.checkpoint.claims.find(uid);
    if (it == draft.checkpoint.claims.end() || it->second.phase != ClaimPhase::Completed) continue;
    const PreparedClaim& claim = it->second;
    const bool has_channels = claim.channels.count > 0;
    if (has_channels && draft.held_back(uid) == nullptr) {
      draft.add(WriteCdi{claim.claim, claim.channels});
    }
  }
}

}  // namespace cdom::core
