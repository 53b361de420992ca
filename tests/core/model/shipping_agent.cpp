// The shipping agent: core::reconcile_node on every node of the model, and a kubelet that asks it.
//
// A step of an agent applies some first intents of its plan and ends there, as if it had crashed:
// whatever others do between two intents, the next step plans anew from what is then true. Time
// stands still and is late: every patience but kubelet's has ended, every peer is connected.
#include <algorithm>

#include "compute_domain/core/reconcile_node.h"
#include "core/model/model.h"
#include "core/model/names.h"
#include "core/node/report/summary.h"

namespace cdom::core::model {

using base::cat;

namespace {

constexpr base::Duration kElapsed = std::chrono::hours(1);
constexpr int kGenerations = 2;

ClaimRef claim_ref(int domain, int node, Count generation) {
  return {"team-a", cat("c", domain, node), claim_uid(domain, node, generation)};
}

api::ResourceClaim claim_object(int domain, int node, Count generation) {
  testing::ClaimBuilder builder =
      testing::claim(cat("c", domain, node)).of(domain_name(domain)).on(node_name(node));
  builder.object.meta.uid = claim_uid(domain, node, generation);
  return builder;
}

api::NodeList table_of(int domain) {
  api::NodeList table;
  table.group = group_of(domain);
  table.slots = kSlots;
  return table;
}

SeenDaemon daemon_on(const NodeTruth& truth) {
  SeenDaemon daemon;
  daemon.since_time = testing::kNow;
  if (truth.daemon_of == 0) return daemon;
  const api::NodeList table = table_of(truth.daemon_of - 1);
  daemon.running = daemon.answers = true;
  daemon.group = table.group;
  daemon.table_hash = api::table_hash(table);
  daemon.slot = truth.slot;
  daemon.instance = "i";
  daemon.phase = base::DaemonPhase::Ready;
  for (std::int64_t slot = 0; slot < kSlots; ++slot) {
    if (slot != daemon.slot) daemon.peers[slot] = base::kConnected;
  }
  return daemon;
}

// The report as this agent wrote it.
api::ComputeDomainNode own_report(const ReportObject& stored, int node) {
  api::ComputeDomainNode object;
  object.meta.name = node_name(node);
  object.meta.uid = "uid";
  object.status.boot_id = boot_name(stored.boot);
  object.status.clique = testing::kClique;
  object.status.address = testing::address_of(node_name(node));
  // A node of the model lacks nothing.
  object.status.conditions = {{.type = api::kConditionCanServe,
                               .status = api::ConditionStatus::True,
                               .reason = "RequirementsMet",
                               .message = "the node offers its devices to the scheduler",
                               .last_transition = testing::kNow}};
  for (int domain = 0; domain < kDomains; ++domain) {
    const GroupWord& word = stored.groups[static_cast<std::size_t>(domain)];
    if (word.state == GroupWord::kNothing) continue;
    api::ImexGroupReport group;
    group.group = group_of(domain);
    group.slot = word.slot;
    group.term = word.term;
    group.since = testing::kNow;
    group.state = api::DaemonState::Stopped;
    if (word.state != GroupWord::kStopped) {
      group.state =
          word.state == GroupWord::kReady ? api::DaemonState::Ready : api::DaemonState::Starting;
      if (word.state == GroupWord::kReady) {
        group.instance = "i";
        group.connected = cat("0-", kSlots - 1);
      }
      group.table_hash = api::table_hash(table_of(domain));
      for (Count generation = 1; generation <= kGenerations; ++generation) {
        if ((word.claim & 1U << (generation - 1)) != 0) {
          group.claims.push_back(claim_uid(domain, node, generation));
        }
      }
    }
    if (!group.claims.empty()) group.domains = {cat("team-a/", domain_name(domain))};
    object.status.groups.push_back(std::move(group));
  }
  std::ranges::sort(object.status.groups, {}, &api::ImexGroupReport::group);
  object.status.summary = summary_of(object.status);
  return object;
}

ReportObject stored_report(const api::ComputeDomainNodeReport& report, int node, Count boot) {
  ReportObject stored;
  stored.boot = boot;
  for (int domain = 0; domain < kDomains; ++domain) {
    const api::ImexGroupReport* group = api::find_group(report, group_of(domain));
    if (group == nullptr) continue;
    GroupWord& word = stored.groups[static_cast<std::size_t>(domain)];
    word.state = group->state == api::DaemonState::Ready     ? GroupWord::kReady
                 : group->state == api::DaemonState::Stopped ? GroupWord::kStopped
                                                             : GroupWord::kStarting;
    word.slot = static_cast<Count>(group->slot);
    word.term = static_cast<Count>(group->term);
    for (Count generation = 1; generation <= kGenerations; ++generation) {
      const std::string uid = claim_uid(domain, node, generation);
      if (std::ranges::find(group->claims, uid) != group->claims.end()) {
        word.claim |= static_cast<Count>(1U << (generation - 1));
      }
    }
  }
  return stored;
}

// Everything that makes two checkpoints differ.
std::string text_of(const Checkpoint& checkpoint) {
  std::string text = cat(checkpoint.boot_id, "|", checkpoint.clique.value_or("-"));
  for (const auto& [uid, claim] : checkpoint.claims) {
    text += cat("|", uid, static_cast<int>(claim.phase), claim.group, claim.channels.first,
                claim.channels.count, claim.devices.size());
  }
  if (const auto& served = checkpoint.served) {
    text += cat("|served", served->group, " ", served->slot, " ", served->term, " ",
                served->started, served->forget_importers);
    for (const auto& [slot, peer] : served->peers) text += cat(" ", slot, peer.address);
  }
  for (const std::string& uid : checkpoint.let_go) text += cat("|let go ", uid);
  for (const auto& [group, stopped] : checkpoint.stopped) {
    text += cat("|", group, " ", stopped.slot, " ", stopped.term);
  }
  return text;
}

// What the model has no picture of: channels and the hosts file.
bool is_seen(const NodeIntent& intent) {
  return !std::holds_alternative<WriteHosts>(intent) && !std::holds_alternative<WriteCdi>(intent) &&
         !std::holds_alternative<RemoveCdi>(intent) &&
         !std::holds_alternative<SignalDaemon>(intent);
}

}  // namespace

NodeWorld Model::node_world(const State& state, int node) const {
  const auto n = static_cast<std::size_t>(node);
  const NodeTruth& truth = state.nodes[n];
  NodeWorld world;
  world.now = testing::kNow;
  world.elapsed = kElapsed;
  world.times.prepare_patience = world.times.admission_patience = 2 * kElapsed;
  world.self = {node_name(node), boot_name(truth.boot), testing::address_of(node_name(node))};
  world.fabric.clique = testing::kClique;
  world.lists_synced = true;
  world.knows_held = true;
  if (truth.checkpoint != 0) world.checkpoint = checkpoints_.at(truth.checkpoint);
  world.daemon = daemon_on(truth);
  world.report.current = world.has_read_report = true;
  if (state.server.reports[n].boot != 0) {
    world.report.objects = {own_report(state.server.reports[n], node)};
  }
  for (int domain = 0; domain < kDomains; ++domain) {
    const auto d = static_cast<std::size_t>(domain);
    if (truth.seen_list[d] != 0) {
      SeenList seen;
      seen.stored = lists_.at(truth.seen_list[d]);
      world.lists.push_back(std::move(seen));
    }
    for (Count generation = 1; generation <= kGenerations; ++generation) {
      const ClaimRef ref = claim_ref(domain, node, generation);
      const Count word = truth.kubelet[d][generation - 1U];
      if (word == NodeTruth::kWantsPrepare) world.prepares.push_back({ref, kElapsed});
      if (word == NodeTruth::kWantsUnprepare) world.unprepares.push_back({ref, kElapsed});
      if (word != NodeTruth::kIdle && word != NodeTruth::kDone) {
        world.known_to_kubelet.insert(ref.uid);
      }
      ClaimReading reading;
      reading.asked = kElapsed;
      const ClaimObject& claim = state.server.claims[d][n];
      if (claim.phase != ClaimObject::kAbsent) {
        reading.claim = claim_object(domain, node, claim.generation);
      } else {
        reading.error = base::Error{base::ErrorKind::NotFound, "not found"};
      }
      if (has_ended_here(reading, ref, world.self.name)) reading.gone_since = base::Duration{};
      world.readings[ref.uid] = std::move(reading);
    }
  }
  return world;
}

const NodePlan& Model::node_plan_of(const State& state, int node) {
  const auto n = static_cast<std::size_t>(node);
  std::string key(1, static_cast<char>(node));
  const auto append = [&](const auto& part) {
    key.append(reinterpret_cast<const char*>(&part), sizeof part);
  };
  append(state.nodes[n]);
  append(state.server.reports[n]);
  for (const auto& claims : state.server.claims) append(claims[n]);
  const auto [it, is_new] = node_plan_memo_.try_emplace(std::move(key));
  if (is_new) {
    it->second = reconcile_node(node_world(state, node));
    std::erase_if(it->second.on_node, [](const NodeIntent& intent) { return !is_seen(intent); });
  }
  return it->second;
}

void Model::apply_intent(State& state, int node, const NodeIntent& intent) {
  const auto n = static_cast<std::size_t>(node);
  NodeTruth& truth = state.nodes[n];
  // Calls `act` with the claim's place in the state.
  const auto with_claim = [&](const std::string& uid, const auto& act) {
    for (int domain = 0; domain < kDomains; ++domain) {
      for (Count generation = 1; generation <= kGenerations; ++generation) {
        if (claim_uid(domain, node, generation) == uid) {
          act(static_cast<std::size_t>(domain), generation);
        }
      }
    }
  };
  if (const auto* write = std::get_if<WriteCheckpoint>(&intent)) {
    truth.checkpoint = checkpoints_.put(text_of(write->checkpoint), write->checkpoint);
  } else if (const auto* start = std::get_if<StartDaemon>(&intent)) {
    if (truth.daemon_of != 0) broken_by_step_ = "two daemons on one node";
    truth.daemon_of = static_cast<Count>(start->group == group_of(0) ? 1 : 2);
    truth.slot = static_cast<Count>(start->slot);
  } else if (std::holds_alternative<StopDaemon>(intent)) {
    truth.daemon_of = truth.slot = 0;
  } else if (const auto* prepared = std::get_if<AnswerPrepared>(&intent)) {
    with_claim(prepared->claim_uid, [&](std::size_t d, Count generation) {
      truth.kubelet[d][generation - 1U] = NodeTruth::kPrepared;
      truth.prepared[d] = generation;
      if (truth.daemon_of != d + 1) broken_by_step_ = "prepared without a daemon of its group";
    });
  } else if (const auto* failed = std::get_if<AnswerFailed>(&intent)) {
    with_claim(failed->claim_uid, [&](std::size_t d, Count generation) {
      truth.kubelet[d][generation - 1U] = NodeTruth::kIdle;
    });
  } else if (const auto* unprepared = std::get_if<AnswerUnprepared>(&intent)) {
    with_claim(unprepared->claim_uid, [&](std::size_t d, Count generation) {
      truth.kubelet[d][generation - 1U] = NodeTruth::kDone;
      if (truth.prepared[d] == generation) truth.prepared[d] = 0;
      ClaimObject& claim = state.server.claims[d][n];
      if (claim.phase == ClaimObject::kReserved && claim.generation == generation) {
        claim.phase = ClaimObject::kEnding;
      }
    });
  }
}

void Model::apply_intent(State& state, int node, const ServerIntent& intent) {
  const auto n = static_cast<std::size_t>(node);
  if (const auto* report = std::get_if<PublishReport>(&intent)) {
    state.server.reports[n] = stored_report(report->report, node, state.nodes[n].boot);
  }
}

void Model::shipping_agent_steps(const State& state, bool by_itself_only,
                                 std::vector<Transition>& out) {
  for (int node = 0; node < bounds_.nodes; ++node) {
    const auto n = static_cast<std::size_t>(node);
    const NodeTruth& truth = state.nodes[n];
    if (state.server.boots[n] != truth.boot) {
      State next = state;
      next.server.boots[n] = truth.boot;
      out.push_back({cat("kubelet of ", node_name(node), " tells its boot"), next});
    }
    for (std::size_t d = 0; d < static_cast<std::size_t>(bounds_.domains); ++d) {
      const ListObject& list = state.server.lists[d];
      const Id shown = list.exists != 0 ? list.content : 0;
      if (truth.seen_list[d] == shown) continue;
      State next = state;
      next.nodes[n].seen_list[d] = shown;
      out.push_back(
          {cat("agent ", node_name(node), " sees the list of ", domain_name(static_cast<int>(d))),
           next});
    }
    State next = state;
    std::string what = cat("agent ", node_name(node), ":");
    const NodePlan& plan = node_plan_of(state, node);
    std::size_t left = plan.on_node.size() + plan.on_server.size();
    const auto apply_one = [&](const auto& intent) {
      apply_intent(next, node, intent);
      what += cat(" ", to_string(intent), ";");
      // With faults at rest an agent comes to the end of its plan.
      if (--left == 0 || !by_itself_only) out.push_back({what, next});
    };
    std::ranges::for_each(plan.on_node, apply_one);
    std::ranges::for_each(plan.on_server, apply_one);
  }
}

void Model::kubelet_steps(const State& state, bool by_itself_only,
                          std::vector<Transition>& out) const {
  for (std::size_t d = 0; d < static_cast<std::size_t>(bounds_.domains); ++d) {
    for (std::size_t n = 0; n < static_cast<std::size_t>(bounds_.nodes); ++n) {
      const ClaimObject& claim = state.server.claims[d][n];
      const std::string where =
          cat(domain_name(static_cast<int>(d)), " on ", node_name(static_cast<int>(n)));
      for (Count generation = 1; generation <= kGenerations; ++generation) {
        const Count word = state.nodes[n].kubelet[d][generation - 1U];
        const bool is_live =
            claim.phase == ClaimObject::kReserved && claim.generation == generation;
        State next = state;
        Count& next_word = next.nodes[n].kubelet[d][generation - 1U];
        const bool is_held = word == NodeTruth::kWantsPrepare || word == NodeTruth::kPrepared;
        if (is_live && word == NodeTruth::kIdle) {
          next_word = NodeTruth::kWantsPrepare;
          out.push_back({cat("kubelet wants ", where), next});
        } else if (is_held && (!is_live || !by_itself_only)) {
          next_word = NodeTruth::kWantsUnprepare;
          out.push_back({cat("kubelet ends ", where), next, is_live});
        }
        if (!by_itself_only && is_live) {
          next = state;
          next.server.claims[d][n].phase = ClaimObject::kAbsent;
          out.push_back({cat("pod is deleted by force: ", where), next, true});
        }
      }
    }
  }
}

void Model::reboot_shipping_node(NodeTruth& truth) {
  truth.daemon_of = truth.slot = 0;
  truth.prepared = {};
  for (auto& words : truth.kubelet) {
    for (Count& word : words) {
      if (word == NodeTruth::kPrepared || word == NodeTruth::kWantsPrepare) {
        word = NodeTruth::kIdle;
      }
    }
  }
}

}  // namespace cdom::core::model
