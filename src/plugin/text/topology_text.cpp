// What `topology` prints.
#include <nlohmann/json.hpp>

#include "compute_domain/base/text.h"
#include "compute_domain/plugin/topology.h"
#include "plugin/text/json_report.h"
#include "plugin/text/text_table.h"

namespace cdom::plugin {

namespace {

using base::cat;
using Json = nlohmann::ordered_json;

std::string count_text(const DeviceCount& count) {
  const std::int64_t all = count.free + count.in_use + count.out;
  return cat(all, all == 1 ? " device: " : " devices: ", count.free, " free, ", count.in_use,
             " in use", count.out == 0 ? "" : cat(", ", count.out, " on nodes that are out"));
}

std::string device_text(const DeviceCount& count) {
  const std::int64_t all = count.free + count.in_use + count.out;
  if (all == 0) return "none";
  if (count.out == all) return all == 1 ? "out" : cat(all, " out");
  if (all == 1) return count.free == 1 ? "free" : "in use";
  return cat(count.free, " of ", all, " free");
}

std::string text_of_clique(const TopologyClique& clique) {
  const auto nodes = clique.nodes.size();
  std::string text =
      cat(clique.name.empty() ? "No clique" : cat("Clique ", clique.name), ": ", nodes,
          nodes == 1 ? " node, " : " nodes, ", count_text(clique.devices), "\n");
  TextTable table({"NODE", "DEVICE", "IMEX", "ISOLATION", "DOMAINS", "TROUBLE"});
  for (const TopologyNode& node : clique.nodes) {
    table.add({node.name, device_text(node.devices), node.daemon.empty() ? "-" : node.daemon,
               node.isolation.empty() ? "-" : node.isolation,
               node.domains.empty() ? "-" : base::list_names(node.domains, 3),
               base::shortened(node.trouble, 120)});
  }
  return text + table.text("  ");
}

Json json_of_count(const DeviceCount& count) {
  return {{"free", count.free}, {"inUse", count.in_use}, {"out", count.out}};
}

Json json_of_clique(const TopologyClique& clique) {
  Json nodes = Json::array();
  for (const TopologyNode& node : clique.nodes) {
    nodes.push_back({{"name", node.name},
                     {"devices", json_of_count(node.devices)},
                     {"imex", node.daemon},
                     {"isolation", node.isolation},
                     {"domains", node.domains},
                     {"trouble", node.trouble}});
  }
  return {{"clique", clique.name},
          {"devices", json_of_count(clique.devices)},
          {"domains", clique.domains},
          {"nodes", std::move(nodes)}};
}

}  // namespace

std::string text_of(const TopologyReport& report) {
  std::vector<std::string> parts;
  parts.reserve(report.cliques.size() + 1);
  for (const TopologyClique& clique : report.cliques) parts.push_back(text_of_clique(clique));
  if (parts.empty()) parts.emplace_back("no node has a GPU or an agent\n");
  if (!report.unreachable.empty()) {
    TextTable table({"DOMAIN", "NODE", "DOES NOT REACH"});
    for (const UnreachablePair& pair : report.unreachable) {
      table.add({pair.domain, pair.from, pair.to});
    }
    parts.push_back(cat("Nodes that do not reach each other\n", table.text("  ")));
  }
  return base::join(parts, "\n");
}

std::string json_of(const TopologyReport& report) {
  Json cliques = Json::array(), pairs = Json::array();
  for (const TopologyClique& clique : report.cliques) cliques.push_back(json_of_clique(clique));
  for (const UnreachablePair& pair : report.unreachable) {
    pairs.push_back({{"domain", pair.domain}, {"from", pair.from}, {"to", pair.to}});
  }
  return json_report({{"format", kReportFormat},
                      {"cliques", std::move(cliques)},
                      {"unreachable", std::move(pairs)}});
}

}  // namespace cdom::plugin
