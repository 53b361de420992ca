#include "compute_domain/plugin/topology.h"

#include <algorithm>
#include <map>
#include <set>

#include "compute_domain/base/text.h"
#include "plugin/facts.h"
#include "plugin/node_health.h"
#include "plugin/reports.h"
#include "plugin/text/natural_order.h"

namespace cdom::plugin {

namespace {

using base::cat;
using SeatState = core::Seat::State;

void add_device(DeviceCount& count, SeatState state) {
  switch (state) {
    case SeatState::Free:
      ++count.free;
      return;
    case SeatState::InUse:
      ++count.in_use;
      return;
    case SeatState::NotReady:
    case SeatState::Unschedulable:
      ++count.out;
      return;
  }
}

// By node, including nodes without a fabric, whose devices have no clique.
std::map<std::string, DeviceCount> devices_by_node(const Facts& facts) {
  std::map<std::string, DeviceCount> counts;
  for (const core::CliqueSeats& clique : facts.seats()) {
    for (const core::Seat& seat : clique.seats) add_device(counts[seat.node], seat.state);
  }
  for (const api::ResourceSlice& slice : facts.view().slices) {
    if (slice.node.empty() || counts.contains(slice.node)) continue;
    const bool is_used = !facts.claims_on(slice.node).empty();
    for (std::size_t i = 0; i < slice.devices.size(); ++i) {
      add_device(counts[slice.node],
                 core::seat_state_of(facts.node(slice.node), is_used && i == 0));
    }
  }
  return counts;
}

// The state of the worst group that has not stopped; "" without one.
std::string daemon_of(const Facts& facts, const api::ComputeDomainNode& report) {
  if (facts.doubt_of(report.meta.name)) return "Unknown";
  const auto& state = report.status.summary.state;
  return state ? std::string(api::to_string(*state)) : "";
}

TopologyNode node_of(const Facts& facts, const std::string& name, const DeviceCount& devices) {
  const NodeHealth health = health_of(facts, name);
  TopologyNode node{.name = name,
                    .devices = devices,
                    .isolation = {},
                    .daemon = {},
                    .domains = facts.domains_on(name),
                    .trouble = text_of(health),
                    .is_meant = health.verdict == Verdict::Ok};
  if (const api::ComputeDomainNode* report = facts.report(name)) {
    node.isolation = std::string(api::to_string(report->status.isolation));
    node.daemon = daemon_of(facts, *report);
  }
  return node;
}

void add_node(TopologyClique& clique, TopologyNode node) {
  clique.devices.free += node.devices.free;
  clique.devices.in_use += node.devices.in_use;
  clique.devices.out += node.devices.out;
  for (const std::string& domain : node.domains) {
    const auto& known = clique.domains;
    if (std::ranges::find(known, domain) == known.end()) clique.domains.push_back(domain);
  }
  clique.nodes.push_back(std::move(node));
}

void add_unreachable(const Facts& facts, TopologyReport& report) {
  for (const api::ComputeDomain& domain : facts.view().domains) {
    for (const core::OpenPair& pair : facts.facts_of(domain).readiness.open_pairs) {
      if (!pair.is_reported) continue;
      report.unreachable.push_back({api::to_string(api::name_of(domain.meta)), pair.from, pair.to});
    }
  }
}

}  // namespace

TopologyReport topology(const ClusterView& view) { return topology_of(Facts(view)); }

TopologyReport topology_of(const Facts& facts) {
  const ClusterView& view = facts.view();
  std::map<std::string, DeviceCount> devices = devices_by_node(facts);
  std::set<std::string, NaturalLess> names;
  for (const api::Node& node : view.nodes) {
    if (!is_left_out(node)) names.insert(node.meta.name);
  }
  for (const api::ComputeDomainNode& node : view.reports) names.insert(node.meta.name);
  std::map<std::string, TopologyClique, NaturalLess> cliques;
  for (const std::string& name : names) {
    const api::ComputeDomainNode* report = facts.report(name);
    const std::string clique = report == nullptr ? "" : api::clique_of(report->status).value_or("");
    cliques[clique].name = clique;
    add_node(cliques[clique], node_of(facts, name, devices[name]));
  }
  TopologyReport report;
  auto without = cliques.extract("");
  report.cliques.reserve(cliques.size() + 1);
  for (auto& [name, clique] : cliques) report.cliques.push_back(std::move(clique));
  if (!without.empty()) report.cliques.push_back(std::move(without.mapped()));
  for (TopologyClique& clique : report.cliques) std::ranges::sort(clique.domains, NaturalLess{});
  add_unreachable(facts, report);
  return report;
}

}  // namespace cdom::plugin
