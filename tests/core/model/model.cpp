#include "core/model/model.h"

#include <algorithm>

#include "compute_domain/api/names.h"
#include "compute_domain/base/text.h"
#include "compute_domain/core/membership.h"
#include "compute_domain/core/node_lists.h"
#include "compute_domain/core/reconcile.h"
#include "core/builders.h"

namespace cdom::core::model {

namespace {

using base::cat;
using testing::kClique;
using testing::kNow;

std::string node_name(int node) { return cat("n", node + 1); }
std::string domain_name(int domain) { return domain == 0 ? "train" : "serve"; }
std::string domain_uid(int domain) { return testing::uid_of(domain_name(domain)); }
std::string boot_name(Count boot) { return cat("boot-", int{boot}); }
std::string group_of(int domain) { return group_id({domain_uid(domain), kClique}); }

std::string claim_uid(int domain, int node, Count generation) {
  return cat("claim-", domain, "-", node, "-", int{generation});
}

// What a node's agent finds in the list that its watch has shown.
struct Seen {
  const api::NodeListEntry* entry = nullptr;
  Count slot = 0, term = 0;
  bool admits_somebody = false;
};

Seen seen_by(const Intern<StoredList>& lists, Id list, int node) {
  if (list == 0 || !lists.at(list).list) return {};
  const api::NodeListEntry* entry = find_entry(*lists.at(list).list, node_name(node));
  if (entry == nullptr) return {};
  return {entry, static_cast<Count>(entry->slot), static_cast<Count>(entry->term),
          !entry->admits.empty()};
}

// The word that the agent of `node` would publish about a group now.
GroupWord word_of(const State& state, const Intern<StoredList>& lists, int node, int domain) {
  const auto n = static_cast<std::size_t>(node);
  const auto d = static_cast<std::size_t>(domain);
  const NodeTruth& truth = state.nodes[n];
  if (truth.daemon_of == domain + 1) {
    return {GroupWord::kReady, truth.slot, truth.term, truth.prepared[d]};
  }
  const Seen seen = seen_by(lists, truth.seen_list[d], node);
  if (seen.entry != nullptr && !seen.admits_somebody) {
    return {GroupWord::kStopped, seen.slot, seen.term, 0};
  }
  if (truth.has_run[d] != 0) {
    return {GroupWord::kStopped, truth.ran_slot[d], truth.ran_term[d], 0};
  }
  return state.server.reports[n].groups[d];
}

void stop_daemon(NodeTruth& truth) {
  if (truth.daemon_of == 0) return;
  const auto d = static_cast<std::size_t>(truth.daemon_of - 1);
  truth.ran_slot[d] = truth.slot;
  truth.ran_term[d] = truth.term;
  truth.has_run[d] = 1;
  truth.daemon_of = 0;
  truth.slot = truth.term = 0;
}

void unprepare(State& state, std::size_t node, std::size_t domain) {
  NodeTruth& truth = state.nodes[node];
  truth.prepared[domain] = 0;
  if (truth.daemon_of == domain + 1) stop_daemon(truth);
}

// Everything that makes two statuses differ.
std::string describe_status(const api::ComputeDomainStatus& status) {
  std::string text =
      cat(status.ready, status.observed_generation, status.ready_nodes, status.cliques);
  for (const auto& node : status.nodes) {
    text += cat("|", node.name, node.ip_address, node.clique, node.index, node.ready);
  }
  for (const auto& condition : status.conditions) {
    text += cat("|", condition.type, static_cast<int>(condition.status), condition.reason,
                condition.message, base::to_rfc3339(condition.last_transition));
  }
  return text;
}

bool operator==(const GroupWord& a, const GroupWord& b) {
  return std::memcmp(&a, &b, sizeof a) == 0;
}

}  // namespace

void Model::user_steps(const State& state, std::vector<Transition>& out) const {
  for (std::size_t d = 0; d < static_cast<std::size_t>(bounds_.domains); ++d) {
    const DomainObject& domain = state.server.domains[d];
    if (domain.phase == DomainObject::kNever) {
      State next = state;
      next.server.domains[d].phase = DomainObject::kLiving;
      next.server.domains[d].version = 1;
      out.push_back({cat("user creates ", domain_name(static_cast<int>(d))), next});
    }
    if (domain.phase == DomainObject::kLiving) {
      State next = state;
      DomainObject& deleted = next.server.domains[d];
      deleted.phase = domain.has_finalizer != 0 ? DomainObject::kDeleting : DomainObject::kGone;
      ++deleted.version;
      out.push_back({cat("user deletes ", domain_name(static_cast<int>(d))), next});
    }
  }
}

void Model::pod_steps(const State& state, bool by_itself_only, std::vector<Transition>& out) const {
  for (std::size_t d = 0; d < static_cast<std::size_t>(bounds_.domains); ++d) {
    for (std::size_t n = 0; n < static_cast<std::size_t>(bounds_.nodes); ++n) {
      const ClaimObject& claim = state.server.claims[d][n];
      const std::string where =
          cat(domain_name(static_cast<int>(d)), " on ", node_name(static_cast<int>(n)));
      const bool seat_taken = std::ranges::any_of(state.server.claims, [&](const auto& claims) {
        return claims[n].phase != ClaimObject::kAbsent;
      });
      if (!by_itself_only && claim.phase == ClaimObject::kAbsent && !seat_taken &&
          claim.generation < bounds_.claims_per_node && state.server.templates[d] == 1) {
        State next = state;
        next.server.claims[d][n].phase = ClaimObject::kReserved;
        ++next.server.claims[d][n].generation;
        out.push_back({cat("scheduler places a pod of ", where), next});
      }
      if (!by_itself_only && claim.phase == ClaimObject::kReserved) {
        State ended = state;
        ended.server.claims[d][n].phase = ClaimObject::kEnding;
        unprepare(ended, n, d);
        out.push_back({cat("pod ends: ", where), ended});
        State forced = state;
        forced.server.claims[d][n].phase = ClaimObject::kAbsent;
        out.push_back({cat("pod is deleted by force: ", where), forced});
      }
      if (claim.phase == ClaimObject::kEnding || claim.phase == ClaimObject::kReleased) {
        State next = state;
        next.server.claims[d][n].phase =
            claim.phase == ClaimObject::kEnding ? ClaimObject::kReleased : ClaimObject::kAbsent;
        out.push_back({cat("claim controller releases ", where), next});
      }
      // The agent has proof that the containers of a claim which is gone have ended.
      const Count prepared = state.nodes[n].prepared[d];
      if (prepared != 0 && (claim.phase == ClaimObject::kAbsent || claim.generation != prepared)) {
        State next = state;
        unprepare(next, n, d);
        out.push_back({cat("agent ends the stale claim of ", where), next});
      }
    }
  }
}

void Model::node_steps(const State& state, std::vector<Transition>& out) const {
  for (std::size_t n = 0; n < static_cast<std::size_t>(bounds_.nodes); ++n) {
    if (state.reboots >= bounds_.reboots) break;
    State next = state;
    NodeTruth& truth = next.nodes[n];
    stop_daemon(truth);
    truth.prepared = {};
    ++truth.boot;
    ++next.reboots;
    out.push_back({cat(node_name(static_cast<int>(n)), " reboots"), next});
  }
}

void Model::agent_steps(const State& state, std::vector<Transition>& out) const {
  for (std::size_t n = 0; n < static_cast<std::size_t>(bounds_.nodes); ++n) {
    const int node = static_cast<int>(n);
    const NodeTruth& truth = state.nodes[n];
    if (state.server.boots[n] != truth.boot) {
      State next = state;
      next.server.boots[n] = truth.boot;
      out.push_back({cat("kubelet of ", node_name(node), " tells its boot"), next});
    }
    for (std::size_t d = 0; d < static_cast<std::size_t>(bounds_.domains); ++d) {
      const int domain = static_cast<int>(d);
      const ListObject& list = state.server.lists[d];
      const Id shown = list.exists != 0 ? list.content : 0;
      if (truth.seen_list[d] != shown) {
        State next = state;
        next.nodes[n].seen_list[d] = shown;
        out.push_back(
            {cat("agent ", node_name(node), " sees the list of ", domain_name(domain)), next});
      }
      const GroupWord word = word_of(state, lists_, node, domain);
      const ReportObject& report = state.server.reports[n];
      if (!(report.groups[d] == word) || report.boot != truth.boot) {
        State next = state;
        next.server.reports[n].boot = truth.boot;
        next.server.reports[n].groups[d] = word;
        out.push_back({cat("agent ", node_name(node), " reports on ", domain_name(domain)), next});
      }
      const ClaimObject& claim = state.server.claims[d][n];
      const Seen seen = seen_by(lists_, truth.seen_list[d], node);
      const bool admitted =
          seen.entry != nullptr && claim.phase == ClaimObject::kReserved &&
          std::ranges::any_of(seen.entry->admits,
                              [&](const api::Admission& admission) {
                                return admission.claim_uid ==
                                       claim_uid(domain, node, claim.generation);
                              }) &&
          (seen.entry->boot_id.empty() || seen.entry->boot_id == boot_name(truth.boot));
      const bool may_start = truth.daemon_of == 0 || truth.daemon_of == domain + 1;
      if (!admitted || !may_start || truth.prepared[d] == claim.generation) continue;
      State next = state;
      const GroupWord& published = report.groups[d];
      if (truth.daemon_of == 0 && published.state == GroupWord::kStopped &&
          published.term == seen.term) {
        // Its own word "stopped" would free the slot: it is taken back before anything starts.
        next.server.reports[n].boot = truth.boot;
        next.server.reports[n].groups[d] = {GroupWord::kNothing, seen.slot, seen.term, 0};
        next.nodes[n].has_run[d] = 0;
        out.push_back(
            {cat("agent ", node_name(node), " takes back its word on ", domain_name(domain)),
             next});
        continue;
      }
      NodeTruth& started = next.nodes[n];
      if (started.daemon_of == 0) {
        started.daemon_of = static_cast<Count>(domain + 1);
        started.slot = seen.slot;
      }
      started.term = seen.term;
      started.prepared[d] = claim.generation;
      out.push_back({cat("agent ", node_name(node), " prepares ", domain_name(domain)), next});
    }
  }
}

void Model::watch_steps(const State& state, std::vector<Transition>& out) const {
  const auto catch_up = [&](const char* kind, const auto member) {
    if (std::memcmp(&(state.server.*member), &(state.cache.*member),
                    sizeof(state.server.*member)) == 0) {
      return;
    }
    State next = state;
    next.cache.*member = state.server.*member;
    out.push_back({cat("controller sees ", kind), next});
  };
  catch_up("domains", &Objects::domains);
  catch_up("claims", &Objects::claims);
  catch_up("templates", &Objects::templates);
  catch_up("lists", &Objects::lists);
  catch_up("reports", &Objects::reports);
  catch_up("nodes", &Objects::boots);
}

World Model::world_of(const Objects& cache, int domain) const {
  const auto d = static_cast<std::size_t>(domain);
  World world;
  world.now = kNow;
  world.settings.slots_per_group = kSlots;
  world.view.uid = domain_uid(domain);
  const DomainObject& object = cache.domains[d];
  if (object.phase == DomainObject::kLiving || object.phase == DomainObject::kDeleting) {
    api::ComputeDomain view = testing::domain(domain_name(domain));
    view.meta.resource_version = std::to_string(object.version);
    if (object.has_finalizer != 0) view.meta.finalizers = {api::kDomainFinalizer};
    if (object.phase == DomainObject::kDeleting) view.meta.deletion_time = kNow;
    if (object.status != 0) view.status = statuses_.at(object.status);
    world.view.domain = std::move(view);
  }
  for (std::size_t n = 0; n < kNodes; ++n) {
    const int node = static_cast<int>(n);
    const ClaimObject& claim = cache.claims[d][n];
    if (claim.phase != ClaimObject::kAbsent) {
      testing::ClaimBuilder builder =
          testing::claim(cat("c", domain, node)).of(domain_name(domain)).on(node_name(node));
      builder.object.meta.uid = claim_uid(domain, node, claim.generation);
      if (claim.phase == ClaimObject::kReleased) builder.unreserved();
      if (cache.told[d][n] == claim.generation) world.told_claims.insert(builder.object.meta.uid);
      world.view.claims.push_back(builder);
    }
    NodeView view = testing::idle_node(node_name(node));
    view.node->boot_id = boot_name(cache.boots[n]);
    view.report->status.boot_id = boot_name(cache.reports[n].boot);
    const GroupWord& word = cache.reports[n].groups[d];
    if (word.state != GroupWord::kNothing || word.term != 0) {
      api::GroupReport report;
      report.group = group_of(domain);
      report.slot = word.slot;
      report.term = word.term;
      report.state = word.state == GroupWord::kReady     ? api::DaemonState::Ready
                     : word.state == GroupWord::kStopped ? api::DaemonState::Stopped
                                                         : api::DaemonState::None;
      api::NodeList table;
      table.group = report.group;
      table.slots = kSlots;
      report.table_hash = api::table_hash(table);
      if (word.claim != 0) report.claims = {claim_uid(domain, node, word.claim)};
      report.connected = cat("0-", kSlots - 1);
      view.report->status.groups = {report};
    }
    world.nodes.emplace(node_name(node), std::move(view));
  }
  if (cache.templates[d] != 0) {
    api::ResourceClaimTemplate object_of_it =
        *wanted_template(testing::domain(domain_name(domain)));
    if (cache.templates[d] == 2) object_of_it.meta.labels.clear();
    world.templates.push_back(std::move(object_of_it));
  }
  if (cache.lists[d].exists != 0) {
    StoredList stored = lists_.at(cache.lists[d].content);
    stored.meta.uid = "uid-list";
    stored.meta.resource_version = std::to_string(cache.lists[d].version);
    world.lists.push_back(std::move(stored));
  }
  return world;
}

// An independent reading of the law "truthful", on the world that the status was decided upon.
void Model::check_status(const World& world, const Plan& plan) {
  const SetStatus* set = testing::status_in(plan);
  if (set == nullptr || !set->status.ready) return;
  std::size_t members = 0;
  for (const api::ResourceClaim& claim : world.view.claims) {
    if (claim.reserved_for.empty()) continue;
    ++members;
    const auto& groups = world.nodes.at(claim.allocation->node).report->status.groups;
    if (groups.empty() || groups[0].state != api::DaemonState::Ready) {
      broken_by_step_ =
          cat("truthful: Ready although ", claim.allocation->node, " has not said READY");
    }
  }
  if (members == 0) broken_by_step_ = "truthful: Ready without members";
}

Id Model::plan_of(const Objects& cache, int domain, bool group) {
  // The plan depends on what the cache holds of this domain only.
  Objects key = cache;
  for (std::size_t d = 0; d < kDomains; ++d) {
    if (d == static_cast<std::size_t>(domain)) continue;
    key.domains[d] = {};
    key.claims[d] = {};
    key.templates[d] = 0;
    key.lists[d] = {};
    key.told[d] = {};
    for (ReportObject& report : key.reports) report.groups[d] = {};
  }
  std::string memo(reinterpret_cast<const char*>(&key), sizeof key);
  memo += static_cast<char>(domain * 2 + (group ? 1 : 0));
  if (const auto it = plan_memo_.find(memo); it != plan_memo_.end()) return it->second;
  const World world = world_of(cache, domain);
  const Plan plan = group ? reconcile_group(testing::group_world_of(world)) : reconcile(world);
  check_status(world, plan);
  Id id = 0;
  if (!plan.actions.empty()) {
    std::string text;
    for (const Action& action : plan.actions) {
      text += cat(to_string(action), "\n");
      if (const auto* write = std::get_if<WriteNodeList>(&action)) {
        text += cat(write->current.resource_version, write->desired.data.at(api::kNodeListKey));
      } else if (const auto* set = std::get_if<SetStatus>(&action)) {
        text += cat(set->domain.resource_version, describe_status(set->status));
      } else if (const auto* add = std::get_if<AddFinalizer>(&action)) {
        text += add->domain.resource_version;
      } else if (const auto* remove = std::get_if<RemoveFinalizer>(&action)) {
        text += remove->domain.resource_version;
      } else if (const auto* event = std::get_if<RecordEvent>(&action)) {
        text += event->involved.uid;
      }
    }
    id = plans_.put(text, plan);
  }
  plan_memo_.emplace(std::move(memo), id);
  return id;
}

bool Model::apply_action(State& state, PlanInFlight& flight, const Action& action) {
  const auto d = static_cast<std::size_t>(flight.domain);
  DomainObject& domain = state.server.domains[d];
  const bool exists =
      domain.phase == DomainObject::kLiving || domain.phase == DomainObject::kDeleting;
  const auto holds = [&](const api::ObjectMeta& meta) {
    const std::string wanted =
        flight.version != 0 ? std::to_string(flight.version) : meta.resource_version;
    return exists && std::to_string(domain.version) == wanted;
  };
  if (const auto* add = std::get_if<AddFinalizer>(&action)) {
    if (!holds(add->domain) || domain.phase == DomainObject::kDeleting) return false;
    domain.has_finalizer = 1;
    flight.version = ++domain.version;
    return true;
  }
  if (const auto* remove = std::get_if<RemoveFinalizer>(&action)) {
    if (!exists) return true;
    if (!holds(remove->domain)) return false;
    if (state.server.templates[d] == 1 || state.server.lists[d].exists != 0) {
      broken_by_step_ = "no orphans: the finalizer goes before a child";
    }
    for (std::size_t n = 0; n < kNodes; ++n) {
      const ClaimObject& claim = state.server.claims[d][n];
      if (claim.phase == ClaimObject::kReserved && state.nodes[n].prepared[d] == claim.generation) {
        broken_by_step_ =
            cat("the domain goes under a running pod on ", node_name(static_cast<int>(n)));
      }
    }
    domain = {.phase = DomainObject::kGone, .version = static_cast<Count>(domain.version + 1)};
    return true;
  }
  if (const auto* set = std::get_if<SetStatus>(&action)) {
    if (!holds(set->domain)) return false;
    domain.status = statuses_.put(describe_status(set->status), set->status);
    flight.version = ++domain.version;
    return true;
  }
  if (std::holds_alternative<CreateTemplate>(action)) {
    if (state.server.templates[d] != 0) return false;
    state.server.templates[d] = 1;
    return true;
  }
  if (const auto* write = std::get_if<WriteNodeList>(&action)) {
    ListObject& list = state.server.lists[d];
    const bool create = write->current.uid.empty();
    if (create
            ? list.exists != 0
            : list.exists == 0 || std::to_string(list.version) != write->current.resource_version) {
      return false;
    }
    api::ConfigMap map = write->desired;
    map.meta.uid = "uid-list";
    list.content = lists_.put(map.data.at(api::kNodeListKey), stored_list(map));
    list.exists = 1;
    ++list.version;
    return true;
  }
  if (std::holds_alternative<EnsureTemplateAbsent>(action)) {
    if (state.server.templates[d] == 1) state.server.templates[d] = 0;
    return true;
  }
  if (std::holds_alternative<EnsureNodeListsAbsent>(action)) {
    state.server.lists[d].exists = 0;
    state.server.lists[d].content = 0;
    return true;
  }
  if (std::holds_alternative<EnsureDomainGone>(action)) return !exists;
  if (std::holds_alternative<EnsureClaimsReleased>(action)) {
    const World live = world_of(state.server, flight.domain);
    return held_claims(live.view.uid, live.lists, live.view.claims).empty();
  }
  // Events change nothing but what the controller remembers of them.
  for (std::size_t n = 0; n < kNodes; ++n) {
    const Count generation = state.server.claims[d][n].generation;
    const auto* event = std::get_if<RecordEvent>(&action);
    if (event != nullptr &&
        event->involved.uid == claim_uid(flight.domain, static_cast<int>(n), generation)) {
      state.cache.told[d][n] = generation;
    }
  }
  return true;
}

void Model::apply_next(State& state, PlanInFlight& flight) {
  const Plan& plan = plans_.at(flight.plan);
  const bool done = apply_action(state, flight, plan.actions.at(flight.next));
  if (!done || ++flight.next >= plan.actions.size()) flight = {};
}

void Model::controller_steps(const State& state, bool with_crash, std::vector<Transition>& out) {
  for (std::size_t i = 0; i < kPlansInFlight; ++i) {
    if (state.plans[i].plan == 0) continue;
    State next = state;
    const PlanInFlight& flight = state.plans[i];
    const std::string what = to_string(plans_.at(flight.plan).actions.at(flight.next));
    apply_next(next, next.plans[i]);
    out.push_back({cat("controller: ", what), next});
  }
  const auto free = std::ranges::find(state.plans, Id{0}, &PlanInFlight::plan);
  if (free != state.plans.end()) {
    const auto at = static_cast<std::size_t>(free - state.plans.begin());
    for (int domain = 0; domain < bounds_.domains; ++domain) {
      for (const bool group : {false, true}) {
        const Id plan = plan_of(state.cache, domain, group);
        if (plan == 0) continue;
        // All keys of a domain are with one worker.
        const auto same = [&](const PlanInFlight& flight) {
          return flight.plan != 0 && flight.domain == domain;
        };
        if (std::ranges::any_of(state.plans, same)) continue;
        State next = state;
        next.plans[at] = {
            .plan = plan, .next = 0, .domain = static_cast<Count>(domain), .version = 0};
        out.push_back(
            {cat("controller plans ", group ? "the list of " : "", domain_name(domain)), next});
      }
    }
  }
  if (with_crash && state.crashes < bounds_.crashes) {
    State next = state;
    next.plans = {};
    next.cache = state.server;
    ++next.crashes;
    out.push_back({"controller crashes and lists again", next});
  }
}

std::vector<Transition> Model::transitions(const State& state) {
  std::vector<Transition> out;
  user_steps(state, out);
  pod_steps(state, false, out);
  node_steps(state, out);
  agent_steps(state, out);
  watch_steps(state, out);
  controller_steps(state, true, out);
  return out;
}

std::vector<Transition> Model::fair_transitions(const State& state) {
  std::vector<Transition> out;
  pod_steps(state, true, out);
  agent_steps(state, out);
  watch_steps(state, out);
  controller_steps(state, false, out);
  return out;
}

std::string Model::violation(const State& state) const {
  for (std::size_t a = 0; a < kNodes; ++a) {
    for (std::size_t b = a + 1; b < kNodes; ++b) {
      const NodeTruth& x = state.nodes[a];
      const NodeTruth& y = state.nodes[b];
      if (x.daemon_of != 0 && x.daemon_of == y.daemon_of && x.slot == y.slot) {
        return cat("two daemons of ", domain_name(x.daemon_of - 1), " run in slot ", int{x.slot});
      }
    }
  }
  for (std::size_t d = 0; d < kDomains; ++d) {
    if (state.server.lists[d].exists == 0) continue;
    const StoredList& stored = lists_.at(state.server.lists[d].content);
    std::array<int, kSlots> users{};
    for (const api::NodeListEntry& entry : stored.list->entries) {
      if (entry.slot < 0 || entry.slot >= kSlots) return "a slot outside of the table";
      if (++users[static_cast<std::size_t>(entry.slot)] > 1) return "one slot for two nodes";
    }
    // Stable: a running daemon's slot is its node's slot in the list.
    for (std::size_t n = 0; n < kNodes; ++n) {
      const NodeTruth& truth = state.nodes[n];
      if (truth.daemon_of != d + 1) continue;
      const api::NodeListEntry* entry = find_entry(*stored.list, node_name(static_cast<int>(n)));
      if (entry == nullptr || entry->slot != truth.slot) {
        return cat("stable: the daemon on ", node_name(static_cast<int>(n)), " runs in slot ",
                   int{truth.slot}, ", the list says otherwise");
      }
    }
  }
  return broken_by_step_;
}

std::string Model::unsettled(const State& state) {
  for (std::size_t d = 0; d < kDomains; ++d) {
    const std::string name = domain_name(static_cast<int>(d));
    const DomainObject& domain = state.server.domains[d];
    bool has_claims = false;
    for (const ClaimObject& claim : state.server.claims[d]) {
      has_claims = has_claims || claim.phase != ClaimObject::kAbsent;
    }
    const bool has_children = state.server.templates[d] == 1 || state.server.lists[d].exists != 0;
    if (domain.phase == DomainObject::kDeleting && !has_claims) return cat(name, " is never gone");
    if ((domain.phase == DomainObject::kGone || domain.phase == DomainObject::kNever) &&
        has_children) {
      return cat("no orphans: ", name, " is gone and has children");
    }
    if (domain.phase != DomainObject::kLiving) continue;
    if (domain.has_finalizer == 0 || state.server.templates[d] != 1)
      return cat(name, " has no template");
    if (domain.status == 0) return cat(name, " has no status");
    // Every member that has a slot runs, and Ready says so.
    std::size_t wanting = 0, running = 0;
    for (std::size_t n = 0; n < kNodes; ++n) {
      if (state.server.claims[d][n].phase != ClaimObject::kReserved) continue;
      ++wanting;
      if (state.nodes[n].daemon_of == d + 1) ++running;
    }
    const bool ready = statuses_.at(domain.status).ready;
    if (ready != (wanting > 0 && running == wanting)) {
      return cat(name, ready ? " is Ready" : " is NotReady", " with ", running, " of ", wanting,
                 " daemons");
    }
    if (running < std::min<std::size_t>(wanting, kSlots)) {
      bool waits_for_another = false;  // a daemon of the other domain whose pod still runs
      for (const NodeTruth& truth : state.nodes) {
        waits_for_another = waits_for_another || (truth.daemon_of != 0 && truth.daemon_of != d + 1);
      }
      if (!waits_for_another) return cat(name, " has a slot free and a member without");
    }
  }
  return {};
}

std::string Model::describe(const State& state) const {
  std::string text;
  for (std::size_t d = 0; d < kDomains; ++d) {
    const DomainObject& domain = state.server.domains[d];
    text += cat(domain_name(static_cast<int>(d)), ": phase ", int{domain.phase}, " finalizer ",
                int{domain.has_finalizer}, " template ", int{state.server.templates[d]}, "\n");
    if (state.server.lists[d].exists != 0) {
      text += cat("  list ", api::encode_node_list(*lists_.at(state.server.lists[d].content).list),
                  "\n");
    }
    for (std::size_t n = 0; n < kNodes; ++n) {
      const GroupWord& word = state.server.reports[n].groups[d];
      text += cat("  ", node_name(static_cast<int>(n)), ": claim phase ",
                  int{state.server.claims[d][n].phase}, " generation ",
                  int{state.server.claims[d][n].generation}, " report state ", int{word.state},
                  " slot ", int{word.slot}, " term ", int{word.term}, " claim ", int{word.claim},
                  "; prepared ", int{state.nodes[n].prepared[d]}, "\n");
    }
  }
  for (std::size_t n = 0; n < kNodes; ++n) {
    const NodeTruth& truth = state.nodes[n];
    text += cat(node_name(static_cast<int>(n)), ": boot ", int{truth.boot}, " (Node ",
                int{state.server.boots[n]}, ", report ", int{state.server.reports[n].boot},
                ") daemon of ", int{truth.daemon_of}, " slot ", int{truth.slot}, " term ",
                int{truth.term}, "\n");
  }
  return text;
}

}  // namespace cdom::core::model
