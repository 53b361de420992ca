// The head of a page: how much of what there is, and what is wrong with it.
#include <algorithm>
#include <map>

#include "compute_domain/base/text.h"
#include "plugin/page/parts.h"

namespace cdom::plugin::page {

namespace {

using base::cat;

// Rows of one table of troubles.
constexpr std::size_t kMostTroubleRows = 25;

struct NodeCounts {
  std::size_t all = 0, trouble = 0, out = 0;
};

NodeCounts node_counts(const TopologyReport& topology) {
  NodeCounts counts;
  for (const TopologyClique& clique : topology.cliques) {
    for (const TopologyNode& node : clique.nodes) {
      const NodeState state = state_of(node);
      ++counts.all;
      if (state == NodeState::Trouble) ++counts.trouble;
      if (state == NodeState::Out) ++counts.out;
    }
  }
  return counts;
}

Html tile(Literal title, std::int64_t number, const Html& below) {
  Html html;
  html << "<div class=\"tile\"><dt>" << title << "</dt><dd><b>";
  html.count(number) << "</b><span>" << below << "</span></dd></div>\n";
  return html;
}

DeviceCount device_count(const TopologyReport& topology) {
  DeviceCount all;
  for (const TopologyClique& clique : topology.cliques) {
    all.free += clique.devices.free;
    all.in_use += clique.devices.in_use;
    all.out += clique.devices.out;
  }
  return all;
}

Html install_html(const std::vector<Finding>& install) {
  Html html;
  html << "<h3>Install</h3>\n<ul class=\"list\">\n";
  for (const Finding& finding : install) {
    const bool fails = finding.verdict == Verdict::Fails;
    html << "<li class=\"" << (fails ? Literal("s-t") : Literal("s-w")) << "\"><p><b>"
         << name(finding.subject) << "</b> " << message(finding.found) << "</p>";
    if (!finding.remedy.empty()) html << "<p class=\"do\">" << message(finding.remedy) << "</p>";
    if (!finding.command.empty()) html << "<p><code>" << message(finding.command) << "</code></p>";
    html << "</li>\n";
  }
  return html << "</ul>\n";
}

bool is_ready(const DomainHead& head) { return head.state == DomainState::Ready; }

Html domain_item(const DomainHead& head, const WhyReport& why) {
  Html html;
  html << "<li class=\"" << (head.state == DomainState::Trouble ? Literal("s-t") : Literal("s-w"))
       << "\"><p><a href=\"#" << domain_id(head) << "\"><b>" << name(head.name) << "</b></a> ";
  if (why.broken() == nullptr) {
    return html << message(head.message.empty() ? "no controller has seen it" : head.message)
                << "</p></li>\n";
  }
  html << message(why.cause) << "</p>";
  if (!why.remedy.empty()) html << "<p class=\"do\">" << message(why.remedy) << "</p>";
  if (!why.command.empty()) html << "<p><code>" << message(why.command) << "</code></p>";
  return html << "</li>\n";
}

Html domains_not_ready(const std::vector<DomainHead>& domains,
                       const std::map<std::size_t, WhyReport>& whys) {
  Html html;
  const auto count = static_cast<std::size_t>(
      std::ranges::count_if(domains, [](const DomainHead& head) { return !is_ready(head); }));
  if (count == 0) return html;
  html << "<h3>ComputeDomains that are not Ready</h3>\n<ul class=\"list\">\n";
  for (const auto& [place, why] : whys) html << domain_item(domains[place], why);
  html << "</ul>\n";
  return html << left_out(count - whys.size(), "ComputeDomains that are not Ready");
}

Html nodes_in_trouble(const TopologyReport& topology) {
  Html html;
  std::size_t count = 0;
  for (std::size_t i = 0; i < topology.cliques.size(); ++i) {
    for (const TopologyNode& node : topology.cliques[i].nodes) {
      const NodeState state = state_of(node);
      if (state != NodeState::Trouble && state != NodeState::Out) continue;
      if (count == 0) {
        html << "<h3>Nodes</h3>\n<table><thead><tr><th scope=\"col\">Node</th><th scope=\"col\">"
                "Trouble</th><th scope=\"col\">Used by</th></tr></thead><tbody>\n";
      }
      if (++count > kMostTroubleRows) continue;
      html << "<tr><th scope=\"row\" class=\""
           << (state == NodeState::Out ? Literal("s-o") : Literal("s-t")) << "\"><a href=\"#"
           << clique_id(i) << "\">" << name(node.name) << "</a></th><td>"
           << message(node.trouble.empty() ? "the Node is not Ready, or not schedulable"
                                           : node.trouble)
           << "</td><td>" << message(base::list_names(node.domains, 3)) << "</td></tr>\n";
    }
  }
  if (count == 0) return html;
  html << "</tbody></table>\n";
  return html << left_out(count - std::min(count, kMostTroubleRows),
                          "nodes in trouble: the cliques below have them");
}

// By domain and by who reports it.
Html unreachable_html(const TopologyReport& topology, const std::vector<DomainHead>& domains) {
  std::map<std::pair<std::string, std::string>, std::vector<std::string>> by_node;
  for (const UnreachablePair& pair : topology.unreachable) {
    by_node[{pair.domain, pair.from}].push_back(pair.to);
  }
  Html html;
  if (by_node.empty()) return html;
  html << "<h3>Nodes that do not reach each other</h3>\n<table><thead><tr><th scope=\"col\">Node"
          "</th><th scope=\"col\">Does not reach</th><th scope=\"col\">ComputeDomain</th></tr>"
          "</thead><tbody>\n";
  std::size_t count = 0;
  for (const auto& [from, to] : by_node) {
    if (++count > kMostTroubleRows) break;
    const auto it = std::ranges::find(domains, from.first, &DomainHead::name);
    html << "<tr><th scope=\"row\" class=\"s-t\">" << name(from.second) << "</th><td>"
         << message(base::list_names(to, 8)) << "</td><td>";
    if (it != domains.end()) html << "<a href=\"#" << domain_id(*it) << "\">";
    html << name(from.first);
    if (it != domains.end()) html << "</a>";
    html << "</td></tr>\n";
  }
  html << "</tbody></table>\n";
  return html << left_out(by_node.size() - std::min(by_node.size(), kMostTroubleRows),
                          "nodes that do not reach others: each ComputeDomain's matrix has them");
}

}  // namespace

Html overview_html(const Overview& overview) {
  const NodeCounts nodes = node_counts(overview.topology);
  const DeviceCount devices = device_count(overview.topology);
  const auto ready = std::ranges::count(overview.domains, DomainState::Ready, &DomainHead::state);
  Html html, below;
  html << "<dl class=\"tiles\">\n";
  below << "in " << counted(overview.topology.cliques.size(), "clique", "cliques");
  if (nodes.trouble > 0) below << ", <em>" << nodes.trouble << " in trouble</em>";
  if (nodes.out > 0) below << ", <em>" << nodes.out << " out</em>";
  html << tile("Nodes", static_cast<std::int64_t>(nodes.all), below);
  below = Html();
  below.count(devices.in_use) << " in use, ";
  below.count(devices.free) << " free";
  if (devices.out > 0) below << ", <em>" << devices.out << " on nodes that are out</em>";
  html << tile("Devices", devices.free + devices.in_use + devices.out, below);
  below = Html();
  below.count(ready) << " Ready";
  const auto others = std::ssize(overview.domains) - ready;
  if (others > 0) below << ", <em>" << others << " not Ready</em>";
  html << tile("ComputeDomains", std::ssize(overview.domains), below);
  return html << "</dl>\n";
}

Html troubles_html(const Overview& overview, const std::map<std::size_t, WhyReport>& whys) {
  Html body;
  if (!overview.install.empty()) body << install_html(overview.install);
  body << domains_not_ready(overview.domains, whys) << nodes_in_trouble(overview.topology)
       << unreachable_html(overview.topology, overview.domains);
  Html html;
  html << "<section id=\"troubles\" aria-labelledby=\"h-troubles\"><h2 id=\"h-troubles\">Troubles"
          "</h2>\n";
  if (body.empty()) {
    html
        << "<p class=\"fine\">None: the install is healthy, every ComputeDomain is Ready, and each "
           "node can serve.</p>\n";
  }
  return html << body << "</section>\n";
}

}  // namespace cdom::plugin::page
