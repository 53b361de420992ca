// The head of a page: how much of what there is, and what is wrong with it.
#include <algorithm>
#include <map>
#include <span>

#include "compute_domain/core/reasons.h"
#include "plugin/page/parts.h"

namespace cdom::plugin::page {

namespace {

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
  std::vector<const Finding*> findings;
  findings.reserve(install.size());
  for (const Finding& finding : install) findings.push_back(&finding);
  std::ranges::stable_sort(
      findings, {}, [](const Finding* finding) { return finding->verdict != Verdict::Fails; });
  for (const Finding* const found :
       std::span(findings).first(std::min(findings.size(), kMostTroubleRows))) {
    const Finding& finding = *found;
    const bool fails = finding.verdict == Verdict::Fails;
    html << "<li class=\"" << (fails ? Literal("s-t") : Literal("s-w")) << "\"><p><b>"
         << name(finding.subject) << "</b> " << message(finding.found) << "</p>";
    if (!finding.remedy.empty()) html << "<p class=\"do\">" << message(finding.remedy) << "</p>";
    if (!finding.command.empty()) html << "<p><code>" << message(finding.command) << "</code></p>";
    html << "</li>\n";
  }
  html << "</ul>\n";
  return html << left_out(findings.size() - std::min(findings.size(), kMostTroubleRows),
                          "findings: `kubectl compute-domain check` prints them");
}

bool is_well(const DomainHead& head) { return head.state == DomainState::Ready; }

// A link where the id is on the page, else the text alone.
Html link_html(const Html& text, const Html& id, bool is_there) {
  Html html;
  if (!is_there) return html << text;
  return html << "<a href=\"#" << id << "\">" << text << "</a>";
}

// Without a chain that stops, what the conditions say.
Html condition_item(const DomainHead& head) {
  Html html;
  if (head.state == DomainState::Hindered && !head.others.empty()) {
    const api::Condition& worst = head.others.front();
    html << "is Ready, but " << name(worst.reason) << ": " << message(worst.message) << "</p>";
    const auto reason = core::Reason::find(worst.reason);
    if (reason && !reason->row().next.empty()) {
      html << "<p class=\"do\">" << message(reason->row().next) << "</p>";
    }
    return html << "</li>\n";
  }
  return html << message(head.message.empty() ? "no controller has seen it" : head.message)
              << "</p></li>\n";
}

Html domain_item(const DomainHead& head, const WhyReport& why, bool has_id) {
  const bool is_calm = head.state == DomainState::Forming || head.state == DomainState::Ending;
  Html html, title;
  title << "<b>" << name(head.name) << "</b>";
  html << "<li class=\"" << (is_calm ? Literal("s-w") : Literal("s-t")) << "\"><p>"
       << link_html(title, domain_id(head), has_id) << " ";
  if (why.broken() == nullptr) return html << condition_item(head);
  html << message(why.cause) << "</p>";
  if (!why.remedy.empty()) html << "<p class=\"do\">" << message(why.remedy) << "</p>";
  if (!why.command.empty()) html << "<p><code>" << message(why.command) << "</code></p>";
  return html << "</li>\n";
}

Html domains_in_trouble(const std::vector<DomainHead>& domains,
                        const std::map<std::size_t, WhyReport>& whys, const Section& section) {
  Html html;
  const auto well = static_cast<std::size_t>(std::ranges::count_if(domains, is_well));
  if (well == domains.size()) return html;
  html << "<h3>ComputeDomains</h3>\n<ul class=\"list\">\n";
  for (const auto& [place, why] : whys) {
    html << domain_item(domains[place], why, section.has_id[place]);
  }
  html << "</ul>\n";
  return html << left_out(domains.size() - well - whys.size(),
                          "ComputeDomains that are not Ready, or have a trouble");
}

// A node in trouble or out, and the place of its clique.
struct WeakNode {
  const TopologyNode* node = nullptr;
  NodeState state = NodeState::Trouble;
  std::size_t clique = 0;
};

// Those in trouble before those that are out, which may be on purpose.
std::vector<WeakNode> weak_nodes(const TopologyReport& topology) {
  std::vector<WeakNode> nodes;
  for (std::size_t i = 0; i < topology.cliques.size(); ++i) {
    for (const TopologyNode& node : topology.cliques[i].nodes) {
      const NodeState state = state_of(node);
      if (state == NodeState::Trouble || state == NodeState::Out)
        nodes.push_back({&node, state, i});
    }
  }
  std::ranges::stable_sort(nodes, {}, &WeakNode::state);
  return nodes;
}

Html nodes_in_trouble(const TopologyReport& topology, const Section& cliques) {
  Html html;
  const std::vector<WeakNode> nodes = weak_nodes(topology);
  if (nodes.empty()) return html;
  html << "<h3>Nodes</h3>\n<table><thead><tr><th scope=\"col\">Node</th><th scope=\"col\">"
          "Trouble</th><th scope=\"col\">Used by</th></tr></thead><tbody>\n";
  const std::size_t shown = std::min(nodes.size(), kMostTroubleRows);
  for (const WeakNode& weak : std::span(nodes).first(shown)) {
    const TopologyNode& node = *weak.node;
    Html title;
    title << name(node.name);
    html << "<tr><th scope=\"row\" class=\""
         << (weak.state == NodeState::Out ? Literal("s-o") : Literal("s-t")) << "\">"
         << link_html(title, clique_id(weak.clique), cliques.has_id[weak.clique]) << "</th><td>"
         << message(node.trouble.empty() ? "the Node is not Ready, or not schedulable"
                                         : node.trouble)
         << "</td><td>" << names_html(node.domains, 3) << "</td></tr>\n";
  }
  html << "</tbody></table>\n";
  return html << left_out(nodes.size() - shown,
                          "nodes in trouble: `kubectl compute-domain check` prints them");
}

// By domain and by who reports it.
Html unreachable_html(const TopologyReport& topology, const std::vector<DomainHead>& domains,
                      const Section& section) {
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
         << names_html(to, 8) << "</td><td>";
    Html title;
    title << name(from.first);
    if (it == domains.end()) {
      html << title;
    } else {
      const auto place = static_cast<std::size_t>(it - domains.begin());
      html << link_html(title, domain_id(*it), section.has_id[place]);
    }
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
  const bool is_of_one = overview.is_of_one;
  const auto ready = std::ranges::count_if(overview.domains, &DomainHead::is_ready);
  const auto hindered =
      std::ranges::count(overview.domains, DomainState::Hindered, &DomainHead::state);
  Html html, below;
  html << "<dl class=\"tiles\">\n";
  below << "in " << counted(overview.topology.cliques.size(), "clique", "cliques");
  if (nodes.trouble > 0) below << ", <em>" << nodes.trouble << " in trouble</em>";
  if (nodes.out > 0) below << ", <em>" << nodes.out << " out</em>";
  html << tile(is_of_one ? Literal("Nodes in its cliques") : Literal("Nodes"),
               static_cast<std::int64_t>(nodes.all), below);
  below = Html();
  below.count(devices.in_use) << " in use, ";
  below.count(devices.free) << " free";
  if (devices.out > 0) below << ", <em>" << devices.out << " on nodes that are out</em>";
  html << tile(is_of_one ? Literal("Devices in its cliques") : Literal("Devices"),
               devices.free + devices.in_use + devices.out, below);
  below = Html();
  below.count(ready) << " Ready";
  const auto others = std::ssize(overview.domains) - ready;
  if (others > 0) below << ", <em>" << others << " not Ready</em>";
  if (hindered > 0) below << ", <em>" << hindered << " Ready, but in trouble</em>";
  html << tile(is_of_one ? Literal("This ComputeDomain") : Literal("ComputeDomains"),
               std::ssize(overview.domains), below);
  return html << "</dl>\n";
}

Html troubles_html(const Overview& overview, const std::map<std::size_t, WhyReport>& whys,
                   const Section& cliques, const Section& domains) {
  Html body;
  if (!overview.install.empty()) body << install_html(overview.install);
  body << domains_in_trouble(overview.domains, whys, domains)
       << nodes_in_trouble(overview.topology, cliques)
       << unreachable_html(overview.topology, overview.domains, domains);
  Html html;
  html << "<section id=\"troubles\" aria-labelledby=\"h-troubles\"><h2 id=\"h-troubles\">Troubles"
          "</h2>\n";
  if (body.empty()) {
    html << "<p class=\"fine\">"
         << (overview.is_of_one
                 ? Literal("None of this ComputeDomain: the install is healthy, it is Ready, and "
                           "each node in its cliques can serve.")
                 : Literal("None: the install is healthy, every ComputeDomain is Ready, and each "
                           "node can serve."))
         << "</p>\n";
  }
  return html << body << "</section>\n";
}

}  // namespace cdom::plugin::page
