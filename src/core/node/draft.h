// NodeDraft: a node's plan while it is being made, and the checkpoint as its intents so far would
// leave it. Handed from rule to rule by reconcile_node.
#pragma once

#include <optional>
#include <set>
#include <string>

#include "compute_domain/core/node_plan.h"
#include "compute_domain/core/node_world.h"

namespace cdom::core {

struct NodeDraft {
  const NodeWorld& world;
  Checkpoint checkpoint;
  FabricReading fabric;  // as far as it is to be believed
  // The clique of the report as it is, where the fabric says none and that is not believed.
  std::string doubted_clique;
  NodePlan plan;
  std::set<std::string> asking;  // UIDs of the claims that wait for no more than an answer
  // The plan ends the daemon: what the world says of it does not hold afterwards.
  bool stops_daemon = false;

  explicit NodeDraft(const NodeWorld& of)
      : world(of), checkpoint(of.checkpoint), fabric(of.fabric) {}

  void add(NodeIntent intent) { plan.on_node.push_back(std::move(intent)); }
  void add(ServerIntent intent) { plan.on_server.push_back(std::move(intent)); }
  void stop_daemon() {
    add(StopDaemon{.has_ended = !world.daemon && world.supervisor_has_ended});
    stops_daemon = true;
  }
  // The checkpoint as it now is; to be called before any side effect that depends on it.
  void save_checkpoint();
  void wait(const std::string& claim_uid, std::string reason) {
    plan.waits[claim_uid] = std::move(reason);
  }
  // At this point on Clock::elapsed(); the earliest of several counts.
  void look_again_at(base::Duration moment);
  // Why nothing of the claim, or of the daemon (kDaemonSetback), is to be tried now; nullptr: it
  // may be.
  const Setback* held_back(const std::string& of);
};

// Whether no newer agent process has taken over this node.
bool is_newest_agent(const NodeWorld& world);

// The list of a group, if it is there and readable.
const SeenList* find_seen_list(const NodeWorld& world, std::string_view group);
const api::NodeListEntry* own_entry(const NodeWorld& world, const SeenList& list);

// Whether the node is to serve something else than it does: another clique, or another isolation.
// It changes over when nothing is in use any more.
bool is_changing_over(const NodeDraft& draft);

// What serving the group as this entry says begins with.
ServedImexGroup served_by(const api::NodeList& list, const api::NodeListEntry& entry);

// The table of a served group: a function of its id and its size, so that it can be told without
// the list.
api::NodeList table_of(const ServedImexGroup& served);

bool is_running_for(const std::optional<SeenDaemon>& daemon, const ServedImexGroup& served);
// Runs, or may by itself: only one that was stopped has ended for good.
bool may_run_for(const std::optional<SeenDaemon>& daemon, const ServedImexGroup& served);
// Whether a daemon of ours may run here of which the checkpoint does not know: it was lost.
bool may_run_unknown(const NodeDraft& draft);
// Does not run, and its supervisor starts it again with what it is to be started with.
bool starts_again_for(const std::optional<SeenDaemon>& daemon, const ServedImexGroup& served);
// What keeps a daemon that is stopping; "" when it is about to end.
std::string why_not_ending(const SeenDaemon& daemon);
// It was READY for the served group's table and slot, and nobody has asked it to stop.
bool is_ready_for(const std::optional<SeenDaemon>& daemon, const ServedImexGroup& served);

// Whether a claim keeps the group's daemon running.
bool keeps_running(const PreparedClaim& claim, std::string_view group);
bool has_live_claim(const Checkpoint& checkpoint, std::string_view group);

}  // namespace cdom::core
