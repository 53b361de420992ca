#include "plugin/page/views.h"

#include <algorithm>

#include "compute_domain/base/text.h"
#include "compute_domain/core/slots.h"
#include "plugin/views.h"

namespace cdom::plugin::testing {

namespace {

using base::cat;
using namespace std::chrono_literals;

std::string numbered(const std::string& prefix, int number, int width) {
  const std::string digits = std::to_string(number);
  const auto zeros = static_cast<std::size_t>(width) > digits.size()
                         ? static_cast<std::size_t>(width) - digits.size()
                         : 0;
  return cat(prefix, std::string(zeros, '0'), digits);
}

api::Occurrence event(const std::string& uid, const std::string& type, const std::string& reason,
                      const std::string& message, base::Time time) {
  static int count = 0;
  api::Occurrence out;
  out.meta.name = cat("event-", ++count);
  out.meta.ns = "team-a";
  out.involved.uid = uid;
  out.type = type;
  out.reason = reason;
  out.message = message;
  out.event_time = time;
  return out;
}

}  // namespace

Cluster::Cluster() : view_(installed()) {}

std::vector<std::string> Cluster::add_clique(const std::string& clique, const std::string& prefix,
                                             int nodes) {
  std::vector<std::string> names;
  for (int i = 1; i <= nodes; ++i) {
    const std::string name = numbered(prefix, i, nodes < 100 ? 2 : 3);
    core::NodeView node = idle_node("n1", clique);
    node.node->meta.name = name;
    node.report->meta.name = name;
    node.report->meta.uid = core::testing::uid_of(name);
    const auto number = static_cast<int>(nodes_.size());
    node.report->status.address =
        cat("10.", 64 + number / 62'500, ".", number / 250 % 250, ".", 1 + number % 250);
    nodes_[name] = node;
    view_.slices.push_back(slice_of(name, clique));
    view_.pods.push_back(agent_pod(name));
    names.push_back(name);
  }
  return names;
}

void Cluster::form(const std::string& name, const std::vector<std::string>& nodes,
                   base::Duration ago) {
  const base::Time ready = kNow - ago;
  core::World world;
  world.now = kNow;
  world.settings.slots_per_group =
      std::max(world.settings.slots_per_group, std::int64_t{std::ssize(nodes)});
  world.view.domain = domain(name).wants(std::ssize(nodes)).finalized();
  world.view.uid = world.view.domain->meta.uid;
  world.view.domain->meta.creation_time = ready - 24s;
  std::set<std::string> cliques;
  int count = 0;
  for (const std::string& node : nodes) {
    const std::string pod = numbered(cat(name, "-"), count++, 1);
    api::ResourceClaim object = claim(cat(pod, "-channel")).of(name).on(node);
    object.meta.creation_time = ready - 19s;
    world.view.claims.push_back(object);
    world.nodes[node] = nodes_.at(node);
    cliques.insert(nodes_.at(node).report->status.clique);
    api::PodState running = running_pod(pod, object.meta.name, cat(name, "-channel"), node);
    running.meta.creation_time = ready - std::chrono::seconds(20 - count % 2);
    running.conditions.front().since = ready - 17s;
    running.containers.front().started = ready + 1s;
    view_.pods.push_back(running);
    view_.events.push_back(event(running.meta.uid, "Normal", "Scheduled",
                                 cat("Successfully assigned team-a/", pod, " to ", node),
                                 ready - 17s));
  }
  core::testing::make_template(world);
  world.templates.front().meta.creation_time = ready - 23s;
  for (const std::string& clique : cliques) {
    core::testing::write_list(world, clique);
    core::testing::report_ready(world, clique);
    core::testing::write_list(world, clique);
  }
  for (auto& [node, facts] : world.nodes) {
    facts.report->status.groups.front().since = ready - 4s;
    facts.report->status.summary.state = api::DaemonState::Ready;
    nodes_[node] = facts;
  }
  world.now = ready;
  core::testing::apply_status(world, core::reconcile(world));
  view_.domains.push_back(*world.view.domain);
  view_.templates.insert(view_.templates.end(), world.templates.begin(), world.templates.end());
  view_.claims.insert(view_.claims.end(), world.view.claims.begin(), world.view.claims.end());
  for (const core::StoredList& stored : world.lists) {
    api::ConfigMap map = core::config_map_of(*stored.list, *world.view.domain, world.settings);
    map.meta.uid = stored.meta.uid;
    map.meta.resource_version = stored.meta.resource_version;
    map.meta.creation_time = ready - 16s;
    view_.lists.push_back(map);
  }
  view_.events.push_back(event(core::testing::uid_of(name), "Normal", "AllNodesReady",
                               cat(nodes.size(), " nodes are ready and connected"), ready));
}

api::ImexGroupReport& Cluster::group_on(const std::string& node) {
  return nodes_.at(node).report->status.groups.front();
}

void Cluster::cuts(const std::string& node, const std::set<std::string>& others) {
  api::ImexGroupReport& group = group_on(node);
  std::set<std::int64_t> slots = core::parse_slot_ranges(group.connected);
  for (const std::string& other : others) slots.erase(group_on(other).slot);
  group.connected = core::slot_ranges(slots);
  group.unreachable = {others.begin(), others.end()};
}

ClusterView Cluster::view() const {
  ClusterView view = view_;
  for (const auto& [name, node] : nodes_) {
    view.nodes.push_back(*node.node);
    view.reports.push_back(*node.report);
    if (node.report->status.conditions.empty()) can_serve(view.reports.back());
  }
  return reduced(std::move(view));
}

ClusterView troubled_view() {
  Cluster cluster;
  const std::vector<std::string> a =
      cluster.add_clique("875cddc7-e270-4809-931f-7182962c20fc.0", "r1n", 8);
  const std::vector<std::string> b =
      cluster.add_clique("875cddc7-e270-4809-931f-7182962c20fc.1", "r2n", 8);
  const std::vector<std::string> c =
      cluster.add_clique("875cddc7-e270-4809-931f-7182962c20fc.2", "r3n", 8);
  cluster.add_clique("", "cpu", 2);
  cluster.form("train", {a.begin(), a.begin() + 6});
  cluster.form("serve", {b.begin(), b.begin() + 4}, 3h);
  cluster.form("sweep", {b.begin() + 4, b.begin() + 6}, 40s);
  cluster.cuts(a[1], {a[4], a[5]});
  cluster.cuts(a[4], {a[1]});
  cluster.group_on(a[2]).state = api::DaemonState::Recovering;
  cluster.node(a[2]).report->status.summary.state = api::DaemonState::Recovering;
  cluster.node(b[7]).node->ready = api::ConditionStatus::False;
  cluster.node(c[0]).node->boot_id = "boot-2";
  cluster.node(c[1]).report->status.conditions = {
      {.type = api::kConditionCanServe,
       .status = api::ConditionStatus::False,
       .reason = "FabricNotReady",
       .message = "GPU 3 has not joined the NVLink fabric: state inProgress for 14 minutes",
       .last_transition = kNow}};
  ClusterView& rest = cluster.rest();
  core::World eval = core::testing::world_of(domain("eval").wants(4).finalized(), 0);
  core::testing::make_template(eval);
  core::testing::apply_status(eval, core::reconcile(eval));
  rest.domains.push_back(*eval.view.domain);
  rest.domains.back().meta.creation_time = kNow - 5min;
  rest.templates.push_back(eval.templates.front());
  rest.pods.push_back(pending_pod("eval-0", "", "evil-channel"));
  rest.pods.back().made.clear();
  rest.events.push_back(
      event("uid-train", "Warning", "Unreachable", "r1n02 cannot reach r1n05, r1n06", kNow - 2min));
  rest.events.push_back(event("uid-train-2", "Warning", "BackOff",
                              "Back-off restarting failed container worker", kNow - 1min));
  return cluster.view();
}

ClusterView large_view() {
  Cluster cluster;
  for (int rack = 1; rack <= 278; ++rack) {
    const std::string prefix = cat(numbered("r", rack, 3), "n");
    const auto nodes =
        cluster.add_clique(cat("875cddc7-e270-4809-931f-7182962c20fc.", rack), prefix, 18);
    if (rack % 4 == 0) continue;
    if (rack % 4 == 1) {
      cluster.form(cat("train-", numbered("", rack, 3)), nodes);
    } else {
      cluster.form(cat("eval-", numbered("", rack, 3)), {nodes.begin(), nodes.begin() + 8});
    }
    if (rack % 50 == 5) cluster.node(nodes[3]).node->boot_id = "boot-2";
    if (rack % 70 == 2) cluster.node(nodes[17]).node->ready = api::ConditionStatus::False;
    if (rack % 90 == 1) cluster.cuts(nodes[1], {nodes[2], nodes[5]});
  }
  return cluster.view();
}

ClusterView huge_domain_view(int nodes, int broken) {
  Cluster cluster;
  const auto names = cluster.add_clique("875cddc7-e270-4809-931f-7182962c20fc.0", "n", nodes);
  cluster.form("train", names);
  for (std::size_t i = 0; broken > 0 && i < names.size(); i += static_cast<std::size_t>(broken)) {
    const std::size_t to = (i * 5 + 3) % names.size();
    if (to != i) cluster.cuts(names[i], {names[to]});
  }
  return cluster.view();
}

ClusterView hostile_view() {
  ClusterView view = troubled_view();
  const auto spoil = [](std::string& text) { text += kHostile; };
  const std::string old_name = view.domains.front().meta.name;
  for (api::ComputeDomain& domain : view.domains) {
    spoil(domain.meta.name);
    if (!domain.status) continue;
    for (api::Condition& condition : domain.status->conditions) spoil(condition.message);
  }
  for (api::ComputeDomainNode& report : view.reports) {
    if (!report.status.clique.empty()) spoil(report.status.clique);
    for (api::Condition& condition : report.status.conditions) {
      spoil(condition.message);
      spoil(condition.reason);
    }
  }
  for (api::Occurrence& event : view.events) {
    spoil(event.message);
    spoil(event.reason);
  }
  for (api::PodState& pod : view.pods) spoil(pod.meta.name);
  for (api::ResourceClaim& claim : view.claims) spoil(claim.meta.name);
  spoil(view.server_version);
  // Of names of nodes all else depends: one that serves nothing.
  core::NodeView node = idle_node("n1", "clique.9");
  node.node->meta.name = node.report->meta.name = cat("node", kHostile);
  view.nodes.push_back(*node.node);
  view.reports.push_back(*node.report);
  return view;
}

}  // namespace cdom::plugin::testing
