#include "core/node/report/report.h"

#include <algorithm>
#include <map>

#include "compute_domain/base/text.h"
#include "compute_domain/core/memory_lost.h"
#include "compute_domain/core/node_lists.h"
#include "compute_domain/core/slots.h"
#include "core/node/claims/ending.h"
#include "core/node/claims/pending.h"
#include "core/node/daemon/ahead.h"
#include "core/node/daemon/daemon.h"
#include "core/node/daemon/pause.h"
#include "core/node/daemon/peers.h"
#include "core/node/daemon/recovery.h"
#include "core/node/report/conditions.h"
#include "core/node/report/losses.h"
#include "core/node/report/summary.h"

namespace cdom::core {

namespace {

using api::DaemonState;
using base::cat;
using Groups = std::map<std::string, api::ImexGroupReport>;

// The report as it is now; `hold` is the moment before which it is not worth a write.
struct NewReport {
  api::ComputeDomainNodeReport report;
  std::optional<base::Duration> hold;
  bool has_new_connections = false;  // some are not reported yet
  bool has_new_releases = false;     // and somebody waits for them
};

const api::ComputeDomainNode* published(const NodeWorld& world) {
  return world.report.objects.empty() ? nullptr : &world.report.objects.front();
}

const api::ImexGroupReport* published_group(const NodeWorld& world, const std::string& group) {
  const api::ComputeDomainNode* node = published(world);
  return node == nullptr ? nullptr : api::find_group(node->status, group);
}

std::vector<std::string> claims_of(const Checkpoint& checkpoint, std::string_view group) {
  std::vector<std::string> uids;
  for (const auto& [uid, claim] : checkpoint.claims) {
    if (claim.group == group && !claim.admin_access && claim.phase != ClaimPhase::Started) {
      uids.push_back(uid);
    }
  }
  return uids;
}

// The channels of all claims, also of those with admin access and of those that begin or end. When
// a claim's channel is not known any more, all channels that were reported before stand.
std::string channels_of(const Checkpoint& checkpoint, std::string_view group,
                        const api::ImexGroupReport* said) {
  std::set<std::int64_t> numbers;
  for (const auto& [uid, claim] : checkpoint.claims) {
    if (claim.group != group) continue;
    if (claim.channels.count == 0 && said != nullptr) {
      numbers.merge(parse_slot_ranges(said->channels));
    }
    for (std::int64_t i = 0; i < claim.channels.count; ++i) {
      numbers.insert(claim.channels.first + i);
    }
  }
  return slot_ranges(numbers);
}

// The domains of the claims that are prepared here, as the group's node list names them; when the
// list is not seen, those that were reported before.
std::vector<std::string> domains_of(const NodeWorld& world, const api::ImexGroupReport& group,
                                    const api::ImexGroupReport* said) {
  const SeenList* seen = find_seen_list(world, group.group);
  if (group.claims.empty()) return {};
  if (seen == nullptr) return said == nullptr ? std::vector<std::string>{} : said->domains;
  const api::NodeList& list = *seen->stored.list;
  std::set<std::string> names{list.domain};
  const api::NodeListEntry* entry = own_entry(world, *seen);
  for (const api::Channel& channel : list.channels) {
    const bool is_here =
        entry != nullptr && std::ranges::any_of(entry->admits, [&](const api::Admission& admits) {
          return admits.channel == channel.number &&
                 std::ranges::binary_search(group.claims, admits.claim_uid);
        });
    if (is_here) names.insert(channel.domain);
  }
  names.erase("");
  return {names.begin(), names.end()};
}

// Which claim has which, as far as this is known.
std::vector<api::ClaimChannel> claim_channels_of(const Checkpoint& checkpoint,
                                                 std::string_view group) {
  std::vector<api::ClaimChannel> channels;
  for (const auto& [uid, claim] : checkpoint.claims) {
    if (claim.group != group || claim.admin_access || claim.channels.count != 1) continue;
    channels.push_back({uid, claim.channels.first});
  }
  return channels;
}

std::string joined(std::initializer_list<std::string> sentences) {
  std::vector<std::string> said;
  for (const std::string& sentence : sentences) {
    if (!sentence.empty()) said.push_back(sentence);
  }
  return base::join(said, "; ");
}

// A moment on the wall clock as the API keeps it.
base::Time in_seconds(base::Time time) { return std::chrono::floor<std::chrono::seconds>(time); }

// A state that goes on keeps the time at which it began, also when the agent is a new one.
base::Time since_of(const api::ImexGroupReport& now, const api::ImexGroupReport* said,
                    base::Time began) {
  const bool goes_on =
      said != nullptr && said->state == now.state && said->instance == now.instance;
  return goes_on ? said->since : in_seconds(began);
}

std::string recovery_message(NodeDraft& draft, const ServedImexGroup& served,
                             const SeenDaemon& daemon) {
  const base::Duration notice = daemon.since + draft.world.times.recovery_notice;
  if (draft.world.elapsed < notice) {
    draft.look_again_at(notice);
    return "";
  }
  const std::string names = awaited_importers(draft.world, served);
  return cat("waits for importers of an earlier run",
             names.empty() ? std::string() : cat("; not connected with ", names));
}

// The daemon's part of a group report, and how long to hold it.
struct DaemonReport {
  api::ImexGroupReport group;
  std::string remedy = {};  // what a person does about it, as long as it lasts
  std::optional<base::Duration> hold;
  bool has_new_connections = false;
};

// The later one of two members reports that they are connected. When its first report came before
// the connection, it reports once for all members that were there before it.
bool are_news(const Connections& connections, const api::ImexGroupReport& said) {
  const std::set<std::int64_t> reported = parse_slot_ranges(said.connected);
  return !connections.awaits_earlier && !std::ranges::includes(reported, connections.earlier);
}

// Reports the end of the daemon before, at once, although another one runs by now.
DaemonReport successor_report(const MemoryLoss& loss, const SeenDaemon& daemon) {
  DaemonReport report;
  report.group.state = DaemonState::Failed;
  report.group.instance = daemon.instance;
  report.group.since = loss.time;
  report.group.message = loss.message;
  return report;
}

DaemonReport running_report(NodeDraft& draft, const ServedImexGroup& served,
                            const SeenDaemon& daemon, const api::ImexGroupReport* said) {
  const bool follows = said != nullptr && said->instance != daemon.instance;
  if (follows && is_untold(draft.world, served, said)) {
    return successor_report(*served.loss, daemon);
  }
  DaemonReport report;
  report.group.state = state_of(daemon.phase);
  report.group.instance = daemon.instance;
  report.group.message = daemon.message;
  report.group.since = since_of(report.group, said, daemon.since_time);
  bool settled =
      said != nullptr && said->state == report.group.state && said->instance == daemon.instance;
  if (daemon.phase == base::DaemonPhase::Recovering) {
    report.group.message = recovery_message(draft, served, daemon);
  }
  // The host's own is restarted by the host; and while one does not end, its pod does not either.
  if (daemon.phase == base::DaemonPhase::Failed && !daemon.host_managed && !daemon.stopping) {
    report.remedy = cat("delete the compute-domain-imex pod on ", draft.world.self.name,
                        " to restart it: this ends what uses NVLink there");
  }
  bool knows_peers = false;
  if (daemon.phase == base::DaemonPhase::Ready) {
    // The supervisor could not look for a while, and says why.
    const bool sees_nothing = daemon.peers.empty() && !daemon.message.empty();
    const SeenList* seen = find_seen_list(draft.world, served.group);
    if (seen != nullptr && !(settled && sees_nothing)) {
      knows_peers = true;
      const Connections connections = connections_of(*seen, served, daemon, draft.world);
      report.group.connected = slot_ranges(connections.connected);
      // Nobody needs those yet whose daemons do not run ahead.
      if (!is_ahead(draft.checkpoint)) {
        report.group.unreachable = connections.unreachable;
        if (connections.next) draft.look_again_at(*connections.next);
      }
      // A reported end stands for a moment, so that everybody sees it.
      const bool reported_an_end = said != nullptr && said->state == DaemonState::Failed;
      report.has_new_connections = settled && are_news(connections, *said);
      settled |= connections.complete && !reported_an_end;
    } else if (settled) {
      report.group.connected = said->connected;
      report.group.unreachable = said->unreachable;
    }
  }
  if (!settled) {
    const NodeTimes& times = draft.world.times;
    // This group's first daemon here waits for its peers, but not once it complains of one.
    const bool awaits_peers = daemon.phase == base::DaemonPhase::Ready && knows_peers &&
                              report.group.unreachable.empty() &&
                              (said == nullptr || said->instance.empty());
    report.hold =
        needed_since(draft.world, daemon) + (awaits_peers ? times.ready_hold : times.report_hold);
  }
  return report;
}

// Without a daemon that runs: why not, and since when.
DaemonReport failed_report(const NodeDraft& draft, const ServedImexGroup& served,
                           const api::ImexGroupReport* said) {
  const NodeWorld& world = draft.world;
  DaemonReport report;
  report.group.state = DaemonState::Failed;
  base::Duration began = world.supervisor_silent_since;
  base::Time began_time = world.now - (world.elapsed - began);
  if (world.daemon) {
    report.group.instance = world.daemon->instance;
    report.group.message = said_of_end(*world.daemon, served);
    began = world.daemon->since;
    began_time = world.daemon->since_time;
  } else {
    if (said != nullptr) report.group.instance = said->instance;
    // It names compute-domain-imex.
    report.group.message = world.supervisor_error;
    report.remedy = "check its pod on this node";
  }
  report.group.since = since_of(report.group, said, began_time);
  // While the next ones fail, people go on reading of it.
  if ((world.daemon || world.supervisor_has_ended) && have_lost_memory(draft, served)) {
    report.group.message = shortened_cause(report.group.message);
    report.remedy = joined({kMemoryLost, report.remedy});
    // What hung before has ended only now, also where the clock was set back meanwhile.
    if (served.loss && is_later_loss(served.loss->time, report.group.since, world.now)) {
      report.group.since = served.loss->time;
    }
  }
  // The end of a daemon that was READY is the end of what ran over it, however soon the next one is
  // there.
  if (!is_untold(world, served, said)) report.hold = began + world.times.report_hold;
  return report;
}

// nullopt: the daemon is about to start, and there is nothing to report yet.
std::optional<DaemonReport> daemon_report(NodeDraft& draft, const ServedImexGroup& served,
                                          const api::ImexGroupReport* said) {
  const auto& daemon = draft.world.daemon;
  if (is_running_for(daemon, served)) {
    // A daemon ahead of its claims is reported with them, unless it fails or has failed.
    const bool is_told = said != nullptr && said->state != DaemonState::Stopped;
    const bool fails = daemon->phase == base::DaemonPhase::Failed ||
                       daemon->phase == base::DaemonPhase::Recovering;
    if (!is_told && !fails && is_ahead(draft.checkpoint)) return std::nullopt;
    return running_report(draft, served, *daemon, said);
  }
  if (daemon && !daemon->running) {
    if (const std::string why = why_resting(draft); !why.empty()) {
      DaemonReport report;
      report.group.message = why;
      report.group.since = since_of(report.group, said, draft.world.now);
      return report;
    }
  }
  // What is left of another group's daemon says nothing of this one's.
  const bool has_failed = daemon && daemon->group == served.group && !daemon->running &&
                          daemon->phase == base::DaemonPhase::Failed;
  const bool failed = !daemon || has_failed;
  if (failed) return failed_report(draft, served, said);
  if (!says_stopped(draft.world, served)) return std::nullopt;
  // "Stopped" is taken back before the daemon starts.
  DaemonReport report;
  report.group.state = DaemonState::Starting;
  report.group.since = in_seconds(draft.world.now);
  return report;
}

// Counted here, as only the node sees each of its daemons: a controller may not be there.
void note_failures(const NodeWorld& world, const ServedImexGroup& served,
                   api::ImexGroupReport& group, const api::ImexGroupReport* said) {
  const bool goes_on = said != nullptr && said->term == group.term &&
                       published(world)->status.boot_id == world.self.boot_id;
  if (goes_on) {
    group.restarts = said->restarts;
    group.last_failure = said->last_failure;
    const bool is_another = !said->instance.empty() && said->instance != group.instance;
    if (is_another && !group.instance.empty()) ++group.restarts;
  }
  if (const auto& loss = served.loss) {
    group.last_loss = api::DaemonFailure{loss->time, loss->message};
    group.lost_claims.assign(loss->claims.begin(), loss->claims.end());
    // A reader or a definition of before 0.2 has only that of it, in every term.
    if (!group.last_failure || group.last_failure->time < loss->time) {
      group.last_failure = group.last_loss;
    }
  }
  if (group.state == DaemonState::Failed) {
    const bool is_the_loss = group.last_loss && group.since <= group.last_loss->time;
    group.last_failure =
        is_the_loss ? group.last_loss : api::DaemonFailure{group.since, group.message};
  }
}

void add_served(NodeDraft& draft, Groups& groups, NewReport& fresh) {
  const auto& served = draft.checkpoint.served;
  if (!served) return;
  const api::ImexGroupReport* said = published_group(draft.world, served->group);
  auto of_daemon = daemon_report(draft, *served, said);
  if (!of_daemon) {
    if (said != nullptr) groups[served->group] = *said;
    return;
  }
  api::ImexGroupReport& group = of_daemon->group;
  group.group = served->group;
  group.table_hash = api::table_hash(table_of(*served));
  group.slot = served->slot;
  group.term = served->term;
  group.claims = claims_of(draft.checkpoint, served->group);
  note_failures(draft.world, *served, group, said);
  if (is_standing(draft.checkpoint, served->group)) {
    group.channels = channels_of(draft.checkpoint, served->group, said);
    group.claim_channels = claim_channels_of(draft.checkpoint, served->group);
    const SeenList* seen = find_seen_list(draft.world, served->group);
    group.releases = seen != nullptr   ? seen->stored.list->releases
                     : said != nullptr ? said->releases
                                       : 0;
    fresh.has_new_releases = seen != nullptr && seen->stored.list->scarce && said != nullptr &&
                             said->releases != group.releases;
  }
  const std::string& unread = draft.fabric.error;
  group.message = joined({group.message, of_daemon->remedy, doubts_about(draft, served->group),
                          unread.empty() ? "" : cat("the fabric cannot be read: ", unread)});
  if (of_daemon->hold && *of_daemon->hold > draft.world.elapsed) fresh.hold = of_daemon->hold;
  fresh.has_new_connections = of_daemon->has_new_connections;
  groups[served->group] = std::move(group);
}

// Groups without a table: a claim that is prepared is all there is to report.
void add_without_fabric(const NodeDraft& draft, Groups& groups) {
  for (const auto& [uid, claim] : draft.checkpoint.claims) {
    if (claim.channels.count > 0 || claim.admin_access || claim.phase != ClaimPhase::Completed) {
      continue;
    }
    // Taken over: its channels are not known, its group has a table.
    if (draft.checkpoint.served && draft.checkpoint.served->group == claim.group) continue;
    const auto [it, is_new] = groups.try_emplace(claim.group);
    if (!is_new) continue;
    api::ImexGroupReport& group = it->second;
    const api::ImexGroupReport* said = published_group(draft.world, claim.group);
    group.group = claim.group;
    group.claims = claims_of(draft.checkpoint, claim.group);
    group.message = doubts_about(draft, claim.group);
    group.since = since_of(group, said, draft.world.now);
    if (said != nullptr) group.term = said->term;
    const SeenList* seen = find_seen_list(draft.world, claim.group);
    const api::NodeListEntry* entry = seen == nullptr ? nullptr : own_entry(draft.world, *seen);
    if (entry != nullptr) group.term = entry->term;
  }
}

void add_stopped(const NodeDraft& draft, Groups& groups, const StoppedImexGroup& stopped) {
  const auto [it, is_new] = groups.try_emplace(stopped.group);
  api::ImexGroupReport& group = it->second;
  if (!is_new && (group.state != DaemonState::Stopped || group.term >= stopped.term)) return;
  group = {};
  group.group = stopped.group;
  group.slot = stopped.slot;
  group.term = stopped.term;
  group.state = DaemonState::Stopped;
  group.since = since_of(group, published_group(draft.world, stopped.group), draft.world.now);
}

// A node that only keeps a slot, with nothing of the group on it, says so.
void add_slots_not_used(const NodeDraft& draft, Groups& groups) {
  const NodeWorld& world = draft.world;
  if (!world.daemon) return;
  for (const SeenList& seen : world.lists) {
    const api::NodeListEntry* entry = own_entry(world, seen);
    if (entry == nullptr || entry->member || !entry->admits.empty() || entry->slot < 0) continue;
    const api::NodeList& list = *seen.stored.list;
    const bool runs = world.daemon->group == list.group &&
                      (world.daemon->running || base::may_start_by_itself(*world.daemon));
    const bool has_claims = std::ranges::any_of(draft.checkpoint.claims, [&](const auto& claim) {
      return claim.second.group == list.group;
    });
    if (runs || has_claims) continue;
    add_stopped(draft, groups, {list.group, list.clique, entry->slot, entry->term});
  }
}

NewReport new_report(NodeDraft& draft) {
  const NodeWorld& world = draft.world;
  NewReport fresh;
  fresh.report.boot_id = world.self.boot_id;
  fresh.report.address = world.self.address;
  // What is not known is not taken back either.
  if (fresh.report.address.empty()) {
    if (const auto* said = published(world)) fresh.report.address = said->status.address;
  }
  fresh.report.clique = draft.checkpoint.clique.value_or(draft.doubted_clique);
  fresh.report.fabric_error = draft.fabric.error;
  if (draft.fabric.clique && draft.fabric.clique != draft.checkpoint.clique) {
    fresh.report.next_clique = draft.fabric.clique;
  }
  using api::Isolation;
  fresh.report.isolation = draft.checkpoint.by_channel ? Isolation::Channel : Isolation::Domain;
  if (draft.checkpoint.clique && world.settings.isolation != fresh.report.isolation) {
    fresh.report.next_isolation = world.settings.isolation;
  }
  fresh.report.host_managed =
      world.daemon ? world.daemon->host_managed
                   : published(world) != nullptr && published(world)->status.host_managed;
  Groups groups;
  add_served(draft, groups, fresh);
  add_without_fabric(draft, groups);
  for (const auto& [group, stopped] : draft.checkpoint.stopped) add_stopped(draft, groups, stopped);
  add_slots_not_used(draft, groups);
  // A daemon whose checkpoint was lost goes on; what was last said of it stands.
  if (world.daemon && world.daemon->running && !groups.contains(world.daemon->group)) {
    if (const auto* said = published_group(world, world.daemon->group)) groups[said->group] = *said;
  }
  for (auto& [name, group] : groups) {
    group.domains = domains_of(world, group, published_group(world, name));
    fresh.report.groups.push_back(std::move(group));
  }
  fresh.report.pending_claims = pending_claims(draft);
  fresh.report.conditions = conditions_of(draft, published(world));
  fresh.report.summary = summary_of(fresh.report);
  return fresh;
}

// Whether anything has changed but the set of connected members, and how many releases are known.
bool is_news(api::ComputeDomainNodeReport said, const api::ComputeDomainNodeReport& now) {
  for (api::ImexGroupReport& group : said.groups) {
    const auto* same = api::find_group(now, group.group);
    if (same == nullptr) continue;
    group.connected = same->connected;
    group.releases = same->releases;
  }
  return said != now;
}

// Conditions that are not stored begin with each report.
api::ComputeDomainNodeReport without_times(api::ComputeDomainNodeReport report) {
  for (api::Condition& condition : report.conditions) condition.last_transition = {};
  return report;
}

// The lists of another clique are not watched: the API server is asked.
bool is_without_slot_elsewhere(NodeDraft& draft, const StoppedImexGroup& stopped) {
  const NodeWorld& world = draft.world;
  const auto it = world.old_lists.find(stopped.group);
  const ListReading* reading = it == world.old_lists.end() ? nullptr : &it->second;
  const bool is_gone =
      reading != nullptr && reading->error && reading->error->kind == base::ErrorKind::NotFound;
  if (is_gone) return true;
  if (reading != nullptr && reading->stored && reading->stored->list &&
      find_entry(*reading->stored->list, world.self.name) == nullptr) {
    return true;
  }
  const base::Duration interval = reading != nullptr && reading->error
                                      ? world.times.doubt_look_up
                                      : world.times.old_list_look_up;
  const base::Duration due = reading == nullptr ? world.elapsed : reading->asked + interval;
  if (world.elapsed >= due) draft.add(LookUpList{stopped.group});
  draft.look_again_at(std::max(due, world.elapsed + world.times.retry_look_up));
  return false;
}

// It is stopped then, which is known by the checkpoint only.
bool may_run_once_more(const NodeWorld& world, const StoppedImexGroup& stopped) {
  if (stopped.slot < 0) return false;  // there is no daemon
  if (!world.daemon) return !world.supervisor_has_ended;
  return world.daemon->group == stopped.group &&
         (world.daemon->running || base::may_start_by_itself(*world.daemon));
}

// Whether no node list keeps a slot for this node any more: nobody can need "stopped".
bool is_without_slot(NodeDraft& draft, const StoppedImexGroup& stopped) {
  if (stopped.clique != draft.checkpoint.clique) return is_without_slot_elsewhere(draft, stopped);
  const SeenList* seen = find_seen_list(draft.world, stopped.group);
  return seen == nullptr;
}

}  // namespace

api::DaemonState state_of(base::DaemonPhase phase) {
  switch (phase) {
    case base::DaemonPhase::Stopped:
      return DaemonState::None;
    case base::DaemonPhase::Starting:
      return DaemonState::Starting;
    case base::DaemonPhase::Recovering:
      return DaemonState::Recovering;
    case base::DaemonPhase::Ready:
      return DaemonState::Ready;
    case base::DaemonPhase::Failed:
      return DaemonState::Failed;
  }
  return DaemonState::Failed;
}

void publish_report(NodeDraft& draft) {
  const NodeWorld& world = draft.world;
  const bool has_something_to_say = draft.checkpoint.clique || !draft.fabric.error.empty();
  if (!has_something_to_say || !world.report.current) return;
  NewReport fresh = new_report(draft);
  fresh.report = api::bounded(std::move(fresh.report));
  if (fresh.hold) return draft.look_again_at(*fresh.hold);
  const api::ComputeDomainNode* said = published(world);
  // A write without an answer may be what is stored last: another one follows, until one is
  // answered.
  const bool has_to_write =
      fresh.has_new_connections || fresh.has_new_releases || !world.maybe_stopped.empty();
  if (said != nullptr && !has_to_write && !is_news(said->status, fresh.report)) return;
  if (const auto& cut = world.cut_report;
      cut && said != nullptr && said->meta.resource_version == cut->resource_version &&
      world.elapsed < cut->until && without_times(cut->report) == without_times(fresh.report)) {
    return draft.look_again_at(cut->until);
  }
  api::ObjectMeta meta;
  meta.name = world.self.name;
  draft.add(PublishReport{said == nullptr ? meta : said->meta, std::move(fresh.report)});
}

void forget_stopped(NodeDraft& draft) {
  if (!draft.world.lists_synced) return;
  const auto erased = std::erase_if(draft.checkpoint.stopped, [&](const auto& entry) {
    return !may_run_once_more(draft.world, entry.second) && is_without_slot(draft, entry.second);
  });
  if (erased > 0) draft.save_checkpoint();
}

std::optional<PublishReport> report_of_failure(const NodeWorld& world, const NodePlan& plan) {
  const auto* said = published(world);
  const auto& served = world.checkpoint.served;
  if (said == nullptr || !served) return std::nullopt;
  for (const ServerIntent& intent : plan.on_server) {
    const auto* planned = std::get_if<PublishReport>(&intent);
    if (planned == nullptr) continue;
    const auto* now = api::find_group(planned->report, served->group);
    PublishReport told{planned->current, said->status};
    const auto before =
        std::ranges::find(told.report.groups, served->group, &api::ImexGroupReport::group);
    if (now == nullptr || before == told.report.groups.end() || now->term != before->term ||
        before->state != DaemonState::Ready || now->state != DaemonState::Failed) {
      return std::nullopt;
    }
    before->state = now->state;
    before->since = now->since;
    before->message = now->message;
    before->connected.clear();
    before->unreachable.clear();
    told.report.summary = summary_of(told.report);
    return told;
  }
  return std::nullopt;
}

}  // namespace cdom::core
