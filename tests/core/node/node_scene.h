// A node in a test: its NodeWorld, built by sentences, and what becomes of it when plans are
// applied to it.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "compute_domain/api/names.h"
#include "compute_domain/base/daemon_policy.h"
#include "compute_domain/core/membership.h"
#include "compute_domain/core/reconcile_node.h"

namespace cdom::core {

using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;

inline constexpr char kSelf[] = "n00";
inline constexpr char kBoot[] = "boot-1";
inline constexpr char kClique[] = "rack-1.7";

inline std::string address_of(std::int64_t slot) { return "10.0.0." + std::to_string(slot + 1); }
inline std::string node_in(std::int64_t slot) {
  return (slot < 10 ? "n0" : "n") + std::to_string(slot);
}

inline ClaimRef claim_ref(const std::string& name) { return {"team-a", name, name + "-uid"}; }

inline api::ResourceClaim claim_object(const std::string& name, const std::string& config = R"({
    "apiVersion":"resource.nvidia.com/v1beta1","kind":"ComputeDomainChannelConfig",
    "domainID":"train-uid","allocationMode":"Single"})") {
  api::ResourceClaim claim;
  claim.meta.name = name;
  claim.meta.ns = "team-a";
  claim.meta.uid = name + "-uid";
  claim.allocation.emplace();
  claim.allocation->node = kSelf;
  claim.allocation->devices = {
      {.request = "channel", .driver = api::kDriver, .pool = kSelf, .device = "channel-0"}};
  claim.allocation->configs = {
      {.requests = {"channel"}, .driver = api::kDriver, .parameters = config}};
  claim.reserved_for = {{.resource = "pods", .name = "p", .uid = "p-uid"}};
  return claim;
}

// A group's list with `count` members n00, n01, … in the slots of their number.
class ListBuilder {
 public:
  explicit ListBuilder(const std::string& domain_uid = "train-uid", std::int64_t count = 1) {
    list_.group = group_id({domain_uid, kClique});
    list_.clique = kClique;
    list_.slots = 18;
    list_.complete = true;
    for (std::int64_t slot = 0; slot < count; ++slot) member(slot);
  }
  ListBuilder& member(std::int64_t slot, const std::string& instance = "") {
    list_.entries.push_back({.node = node_in(slot),
                             .slot = slot,
                             .address = address_of(slot),
                             .instance = instance,
                             .boot_id = kBoot,
                             .term = 1,
                             .member = true,
                             .admits = {}});
    return *this;
  }
  ListBuilder& admits(const std::string& claim, std::int64_t channel = 0) {
    list_.entries.front().admits.push_back({claim + "-uid", channel});
    return *this;
  }
  ListBuilder& growing() {
    list_.complete = false;
    return *this;
  }
  ListBuilder& without_fabric() {
    list_.group = "no-fabric";
    list_.clique = "";
    list_.slots = 0;
    for (api::NodeListEntry& entry : list_.entries) entry.slot = -1;
    return *this;
  }
  operator api::NodeList() const { return list_; }  // NOLINT(google-explicit-constructor)

 private:
  api::NodeList list_;
};

inline ListBuilder train(std::int64_t count = 1) { return ListBuilder("train-uid", count); }

class NodeScene {
 public:
  NodeWorld world;
  std::set<std::string> injected;  // claim UIDs
  std::map<std::string, AnswerPrepared> prepared;
  std::map<std::string, AnswerFailed> failed;
  std::set<std::string> unprepared;
  std::string hosts;
  int report_writes = 0;
  int starts = 0, stops = 0, signals = 0, forgets = 0;
  std::vector<std::string> history;

  NodeScene() {
    world.now = base::Time{} + std::chrono::hours(500000);
    world.elapsed = std::chrono::hours(1);
    world.self = {kSelf, kBoot, address_of(0)};
    world.fabric.clique = kClique;
    world.lists_synced = true;
    world.daemon.emplace();
    world.daemon->driver_paused = false;
    world.report.current = world.has_read_report = true;
    world.slices.current = true;
    world.knows_held = true;
  }

  NodeScene& show(const api::NodeList& list) {
    SeenList* seen = find(list.group);
    if (seen == nullptr) {
      world.lists.emplace_back();
      seen = &world.lists.back();
      seen->first_seen = world.elapsed;
    }
    seen->changed = world.elapsed;
    const StoredList stored{.meta = {}, .list = list, .problem = {}};
    seen->member_since = member_since(*seen, stored, world.elapsed);
    seen->peer_changes = peer_changes(*seen, stored, world.elapsed);
    seen->stored.list = list;
    return *this;
  }
  NodeScene& show_no_lists() {
    world.lists.clear();
    return *this;
  }
  // The claim as the API server has it; kubelet's name for it is `name`.
  NodeScene& claim(const api::ResourceClaim& object) {
    objects_[object.meta.name] = object;
    return *this;
  }
  NodeScene& delete_claim(const std::string& name) {
    objects_.erase(name);
    return *this;
  }
  NodeScene& prepare(const std::string& name) {
    if (!objects_.contains(name)) claim(claim_object(name));
    prepare_only(name);
    return *this;
  }
  NodeScene& prepare_only(const std::string& name) {
    forget_answers(name);
    world.prepares.push_back({claim_ref(name), world.elapsed});
    return *this;
  }
  NodeScene& unprepare(const std::string& name) {
    forget_answers(name);
    std::erase_if(world.prepares, [&](const auto& w) { return w.claim == claim_ref(name); });
    world.unprepares.push_back({claim_ref(name), world.elapsed});
    return *this;
  }
  NodeScene& advance(base::Duration by) {
    world.elapsed += by;
    world.now += by;
    return *this;
  }
  NodeScene& daemon_is(base::DaemonPhase phase, const std::set<std::int64_t>& connected = {}) {
    SeenDaemon& daemon = *world.daemon;
    daemon.answers = true;
    if (daemon.phase != phase) {
      daemon.phase = phase;
      daemon.since = world.elapsed;
      daemon.since_time = world.now;
    }
    for (std::int64_t slot = 0; slot < 18; ++slot) {
      const bool was = is_connected(daemon, slot);
      if (was && !connected.contains(slot)) {
        daemon.peers.erase(slot);
        daemon.disconnected[slot] = world.elapsed;
      } else if (!was && connected.contains(slot)) {
        daemon.peers[slot] = base::kConnected;
        daemon.disconnected.erase(slot);
      }
    }
    return *this;
  }
  NodeScene& daemon_ready(const std::set<std::int64_t>& connected = {}) {
    return daemon_is(base::DaemonPhase::Ready, connected);
  }
  NodeScene& daemon_dies(const std::string& message = "exited with 1") {
    SeenDaemon& daemon = *world.daemon;
    const bool was_ready = daemon.running && daemon.phase == base::DaemonPhase::Ready;
    daemon.due =
        world.elapsed +
        policy_.next_pause(was_ready ? std::optional(world.elapsed - daemon.since) : std::nullopt);
    daemon.running = daemon.answers = false;
    daemon.phase = base::DaemonPhase::Failed;
    daemon.message = message;
    daemon.since = world.elapsed;
    daemon.since_time = world.now;
    daemon.peers.clear();
    return *this;
  }
  // Its supervisor was replaced while nobody looked.
  NodeScene& daemon_is_another(base::DaemonPhase phase) {
    daemon_dies("");
    world.daemon->running = true;
    world.daemon->phase = phase;
    world.daemon->message = "";
    world.daemon->instance = "another";
    return *this;
  }
  NodeScene& daemon_ends_slowly() {
    slow_end_ = true;
    return *this;
  }
  NodeScene& daemon_has_ended() {
    world.daemon->running = world.daemon->stopping = world.daemon->answers = false;
    world.daemon->phase = base::DaemonPhase::Stopped;
    world.daemon->starts_again = false;
    return *this;
  }

  [[nodiscard]] NodePlan plan() const { return reconcile_node(world); }
  // What it is when nothing but time has passed.
  [[nodiscard]] NodePlan plan_after(base::Duration time) const {
    NodeScene later = *this;
    return later.advance(time).plan();
  }

  // Applies one intent to the world, as the agent and the node would.
  template <class Intent>
  void apply(const Intent& intent) {
    history.push_back(to_string(intent));
    std::visit([this](const auto& i) { this->act(i); }, intent);
  }
  // Until nothing is left to do; at most `most` intents.
  NodeScene& settle(int most = 100) {
    for (;;) {
      const NodePlan next = plan();
      if (is_empty(next)) {
        // An agent looks again at that moment, however often nothing comes of it.
        EXPECT_NE(next.look_again, base::Duration::zero()) << "it decides for ever";
        const base::Duration rest = next.look_again.value_or(std::chrono::hours(1));
        EXPECT_TRUE(is_empty(plan_after(rest - std::chrono::nanoseconds(1))))
            << "only time has changed it, and nobody has looked";
        return *this;
      }
      const bool is_too_much = !apply_each(next, [&](const auto& intent) {
        if (most-- == 0) return false;
        apply(intent);
        return true;
      });
      if (is_too_much) {
        ADD_FAILURE() << "does not settle: " << ::testing::PrintToString(history);
        return *this;
      }
    }
  }
  static bool is_empty(const NodePlan& plan) {
    return plan.on_node.empty() && plan.on_server.empty();
  }
  // In the order in which an agent applies them, while `goes_on` says so; whether it did to the
  // end.
  template <class GoesOn>
  static bool apply_each(const NodePlan& plan, const GoesOn& goes_on) {
    return std::ranges::all_of(plan.on_node, goes_on) &&
           std::ranges::all_of(plan.on_server, goes_on);
  }
  // An agent that has just been started: what only lived in its memory is gone.
  NodeScene& restart_agent() {
    world.readings.clear();
    world.peers.clear();
    world.old_lists.clear();
    world.domains.clear();
    for (WantedClaim& wanted : world.prepares) wanted.since = world.elapsed;
    for (WantedClaim& wanted : world.unprepares) wanted.since = world.elapsed;
    return *this;
  }

  [[nodiscard]] const api::ComputeDomainNodeReport& report() const {
    return world.report.objects.at(0).status;
  }
  [[nodiscard]] const api::ImexGroupReport* group(
      const std::string& domain_uid = "train-uid") const {
    return api::find_group(report(), group_id({domain_uid, kClique}));
  }
  [[nodiscard]] bool is_prepared(const std::string& name) const {
    return prepared.contains(name + "-uid");
  }
  [[nodiscard]] std::string error(const std::string& name) const {
    const auto it = failed.find(name + "-uid");
    return it == failed.end() ? "" : it->second.error;
  }
  [[nodiscard]] std::string reason(const std::string& name) const {
    const NodePlan next = plan();
    const auto it = next.waits.find(name + "-uid");
    return it == next.waits.end() ? "" : it->second;
  }

 private:
  SeenList* find(const std::string& group) {
    const auto it = std::ranges::find_if(
        world.lists, [&](const SeenList& seen) { return seen.stored.list->group == group; });
    return it == world.lists.end() ? nullptr : &*it;
  }
  void forget_answers(const std::string& name) {
    prepared.erase(name + "-uid");
    failed.erase(name + "-uid");
    unprepared.erase(name + "-uid");
  }
  void answered(const std::string& uid) {
    std::erase_if(world.prepares, [&](const auto& w) { return w.claim.uid == uid; });
  }

  void act(const WriteCheckpoint& i) { world.checkpoint = i.checkpoint; }
  void act(const WriteHosts& i) {
    hosts = i.text;
    world.daemon->hosts_revision = i.revision;
  }
  void act(const StartDaemon& i) {
    ASSERT_FALSE(world.daemon->running) << "two daemons on one node";
    const std::string revision = world.daemon->hosts_revision;
    SeenDaemon started;
    started.running = true;
    started.host_managed = world.daemon->host_managed;
    started.group = i.group;
    started.table_hash = i.table_hash;
    started.slot = i.slot;
    started.instance = "i" + std::to_string(++starts);
    started.phase = base::DaemonPhase::Starting;
    started.since = world.elapsed;
    started.since_time = world.now;
    started.hosts_revision = revision;
    started.driver_paused = world.daemon->driver_paused;
    world.daemon = started;
  }
  void act(const ForgetImporters&) {
    ASSERT_FALSE(world.daemon->running) << "it has read the record already";
    ++forgets;
  }
  void act(const SignalDaemon&) {
    ASSERT_TRUE(world.daemon->answers) << "the signal would end the daemon";
    ++signals;
    world.daemon->signalled = world.elapsed;
  }
  void act(const StopDaemon&) {
    ++stops;
    if (!world.daemon) return;  // there is no supervisor: a successor will find the word
    if (slow_end_) {
      world.daemon->stopping = true;
    } else {
      daemon_has_ended();
    }
  }
  void act(const PauseDriver& i) { world.daemon->driver_paused = i.is_paused; }
  void act(const WriteCdi& i) {
    injected.insert(i.claim.uid);
    world.wrong_files.erase(i.claim.uid);
  }
  void act(const RemoveCdi& i) { injected.erase(i.claim_uid); }
  void act(const AnswerPrepared& i) {
    prepared[i.claim_uid] = i;
    answered(i.claim_uid);
  }
  void act(const AnswerFailed& i) {
    failed[i.claim_uid] = i;
    answered(i.claim_uid);
  }
  void act(const AnswerUnprepared& i) {
    unprepared.insert(i.claim_uid);
    std::erase_if(world.unprepares, [&](const auto& w) { return w.claim.uid == i.claim_uid; });
  }
  void act(const PublishReport& i) {
    ++report_writes;
    api::ComputeDomainNode node;
    node.meta = i.current;
    node.meta.uid = "cdn-uid";
    node.meta.resource_version = std::to_string(report_writes);
    node.status = i.report;
    world.report.objects = {node};
    world.maybe_stopped.clear();
  }
  void act(const PublishSlice& i) {
    api::ResourceSlice slice = i.slice;
    slice.meta.uid = "slice-uid";
    std::erase_if(world.slices.objects,
                  [&](const auto& s) { return s.meta.name == slice.meta.name; });
    world.slices.objects.push_back(slice);
  }
  void act(const RemoveSlice& i) {
    std::erase_if(world.slices.objects, [&](const auto& s) { return s.meta.name == i.slice.name; });
  }
  void act(const LookUpClaim& i) {
    ClaimReading reading;
    reading.asked = world.elapsed;
    if (const auto it = objects_.find(i.claim.name); it != objects_.end()) {
      reading.claim = it->second;
    } else {
      reading.error = base::Error{base::ErrorKind::NotFound, "not found"};
    }
    const auto before = world.readings.find(i.claim.uid);
    if (has_ended_here(reading, i.claim, kSelf)) {
      reading.gone_since = before != world.readings.end() && before->second.gone_since
                               ? before->second.gone_since
                               : world.elapsed;
    }
    world.readings[i.claim.uid] = reading;
  }
  void act(const LookUpPeer& i) {
    world.peers[i.node] = {.view = peers[i.node], .error = {}, .asked = world.elapsed};
  }
  void act(const LookUpList& i) {
    ListReading reading;
    reading.asked = world.elapsed;
    if (const auto it = old_lists.find(i.group); it != old_lists.end()) {
      reading.stored.emplace().list = it->second;
    } else if (const SeenList* seen = find(i.group); seen != nullptr) {
      reading.stored = seen->stored;
    } else {
      reading.error = base::Error{base::ErrorKind::NotFound, "not found"};
    }
    world.old_lists[i.group] = reading;
  }
  void act(const LookUpDomains& i) {
    DomainsReading reading;
    reading.error = domains_error;
    std::vector<ListedDomain> listed = unreadable_domains;
    for (const api::ComputeDomain& domain : domains) listed.push_back(listed_domain(domain));
    reading.domains = std::move(listed);
    reading.asked = world.elapsed;
    world.domains[i.ns] = reading;
  }

  std::map<std::string, api::ResourceClaim> objects_;
  bool slow_end_ = false;
  base::DaemonPolicy policy_;

 public:
  std::vector<api::ComputeDomain> domains;         // of team-a
  std::vector<ListedDomain> unreadable_domains;    // of team-a, too
  std::optional<base::Error> domains_error;        // of who lists them
  std::map<std::string, NodeView> peers;           // other nodes as the API server has them
  std::map<std::string, api::NodeList> old_lists;  // of cliques that are not watched, by group
};

// As the API server has it.
inline api::ComputeDomain domain_train() {
  api::ComputeDomain domain;
  domain.meta.name = "train";
  domain.meta.ns = "team-a";
  domain.meta.uid = "train-uid";
  return domain;
}

// A node with one claim prepared in a domain of `count` nodes, all connected.
inline NodeScene serving(std::int64_t count = 1) {
  NodeScene scene;
  scene.settle().show(train(count).admits("a")).prepare("a").settle();
  std::set<std::int64_t> others;
  for (std::int64_t slot = 1; slot < count; ++slot) others.insert(slot);
  scene.daemon_ready(others).settle();
  return scene;
}

}  // namespace cdom::core
