// The controller: what it finds in its cache, what it plans, and each action of a plan.
#include <algorithm>
#include <cstring>

#include "compute_domain/api/names.h"
#include "compute_domain/core/node_lists.h"
#include "compute_domain/core/reconcile.h"
#include "core/model/model.h"
#include "core/model/names.h"

namespace cdom::core::model {

namespace {

using base::cat;
using testing::kNow;

// Everything that makes two statuses differ.
std::string describe_status(const api::ComputeDomainStatus& status) {
  std::string text =
      cat(status.ready, status.observed_generation, status.ready_nodes, status.cliques);
  for (const auto& node : status.nodes) {
    text += cat("|", node.name, node.ip_address, node.clique, node.index, "/", node.channel,
                node.ready, node.reason, node.message);
  }
  for (const auto& condition : status.conditions) {
    text += cat("|", condition.type, static_cast<int>(condition.status), condition.reason,
                condition.message, base::to_rfc3339(condition.last_transition));
  }
  return text;
}

}  // namespace

World Model::world_of(const Objects& cache, int domain) const {
  const auto d = static_cast<std::size_t>(domain);
  World world;
  world.settings.arrivals_pause = {};  // time does not pass here
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
      if (cache.told[d][n] == claim.generation)
        world.reported_claims.insert(builder.object.meta.uid);
      world.view.claims.push_back(builder);
    }
    NodeView view = testing::idle_node(node_name(node));
    view.node->boot_id = boot_name(cache.boots[n]);
    if (cache.boots[n] == 0) view.node.reset();
    view.report->status.boot_id = boot_name(cache.reports[n].boot);
    if (cache.reports[n].boot == 0) view.report->status = {};
    const GroupWord& word = cache.reports[n].groups[d];
    if (word.state != GroupWord::kNothing || word.term != 0) {
      api::ImexGroupReport report;
      report.group = group_of(domain);
      report.slot = word.slot;
      report.term = word.term;
      report.state = word.state == GroupWord::kReady      ? api::DaemonState::Ready
                     : word.state == GroupWord::kStopped  ? api::DaemonState::Stopped
                     : word.state == GroupWord::kStarting ? api::DaemonState::Starting
                                                          : api::DaemonState::None;
      api::NodeList table;
      table.group = report.group;
      table.slots = kSlots;
      report.table_hash = api::table_hash(table);
      for (Count generation = 1; generation <= 2; ++generation) {
        if ((word.claim & 1U << (generation - 1)) == 0) continue;
        report.claims.push_back(claim_uid(domain, node, generation));
      }
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
  const Plan plan = group ? reconcile_group(world, testing::group_of(world)) : reconcile(world);
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

// As reconcile_report decides: of a Node that is gone, once no list has a slot for it.
void Model::report_steps(const State& state, std::vector<Transition>& out) const {
  for (std::size_t n = 0; n < kNodes; ++n) {
    const ReportObject& report = state.server.reports[n];
    const bool is_seen = std::memcmp(&report, &state.cache.reports[n], sizeof report) == 0;
    const bool is_gone = state.cache.boots[n] == 0 && state.server.boots[n] == 0;
    if (!is_gone || !is_seen || report.boot == 0) continue;
    const std::string node = node_name(static_cast<int>(n));
    const bool has_slot = std::ranges::any_of(state.cache.lists, [&](const ListObject& list) {
      return list.exists != 0 && find_entry(*lists_.at(list.content).list, node) != nullptr;
    });
    if (has_slot) continue;
    State next = state;
    next.server.reports[n] = {};
    out.push_back({cat("controller deletes the report of ", node), next});
  }
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
  report_steps(state, out);
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
    out.push_back({"controller crashes and lists again", next, true});
  }
}
}  // namespace cdom::core::model
