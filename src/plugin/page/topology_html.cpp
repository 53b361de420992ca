// Topology on a page: a map of all cliques, then each with a box for every node.
#include <algorithm>
#include <array>
#include <map>
#include <numeric>
#include <span>

#include "compute_domain/base/text.h"
#include "plugin/page/parts.h"
#include "plugin/page/room.h"

namespace cdom::plugin::page {

namespace {

using base::cat;

// Boxes of one clique, and troubles that are written out below them.
constexpr std::size_t kMostBoxes = 1200;
constexpr std::size_t kMostTroubles = 40;
// Cliques on the map.
constexpr std::size_t kMostOnMap = 1200;
// Cliques that start open because of a trouble.
constexpr std::size_t kMostOpen = 4;
// A clique on the map: cells in a row, and how many there are at most.
constexpr std::size_t kMapColumns = 18, kMostMapCells = 72;

constexpr std::array kStates{NodeState::Trouble, NodeState::Out,  NodeState::InUse,
                             NodeState::Partly,  NodeState::Free, NodeState::None};
using StateCounts = std::array<std::size_t, kStates.size()>;

Literal class_of(NodeState state) {
  switch (state) {
    case NodeState::Trouble:
      return "s-t";
    case NodeState::Out:
      return "s-o";
    case NodeState::InUse:
      return "s-u";
    case NodeState::Partly:
      return "s-p";
    case NodeState::Free:
      return "s-f";
    case NodeState::None:
      return "s-n";
  }
  return "";
}

Literal words_of(NodeState state) {
  switch (state) {
    case NodeState::Trouble:
      return "in trouble";
    case NodeState::Out:
      return "out";
    case NodeState::InUse:
      return "in use";
    case NodeState::Partly:
      return "partly in use";
    case NodeState::Free:
      return "free";
    case NodeState::None:
      return "without a device";
  }
  return "";
}

StateCounts state_counts(const TopologyClique& clique) {
  StateCounts counts{};
  for (const TopologyNode& node : clique.nodes)
    ++counts.at(static_cast<std::size_t>(state_of(node)));
  return counts;
}

// "1 in trouble, 8 in use, 9 free".
Html counts_html(const StateCounts& counts) {
  Html html;
  for (const NodeState state : kStates) {
    const std::size_t count = counts.at(static_cast<std::size_t>(state));
    if (count == 0) continue;
    if (!html.empty()) html << ", ";
    html << count << " " << words_of(state);
  }
  return html;
}

// The states of a clique's nodes, in their order; when there are too many, the shares of the
// states.
std::vector<NodeState> map_cells(const TopologyClique& clique, const StateCounts& counts) {
  std::vector<NodeState> cells;
  if (clique.nodes.size() <= kMostMapCells) {
    for (const TopologyNode& node : clique.nodes) cells.push_back(state_of(node));
    return cells;
  }
  for (const NodeState state : kStates) {
    const std::size_t count = counts.at(static_cast<std::size_t>(state));
    const std::size_t share = count * kMostMapCells / clique.nodes.size();
    cells.insert(cells.end(), count == 0 ? 0 : std::max<std::size_t>(share, 1), state);
  }
  return cells;
}

// A shape for each state, as colours are not enough: 4 by 10, from its upper left corner.
Literal shape_of(NodeState state) {
  switch (state) {
    case NodeState::Trouble:
      return "m2 0l2.5 10h-5z";
    case NodeState::Out:
      return "m0 4h4v2h-4z";
    case NodeState::InUse:
      return "h4v10h-4z";
    case NodeState::Partly:
      return "m0 5h4v5h-4z";
    case NodeState::Free:
      return "h4v10h-4zm1 1v8h2v-8z";
    case NodeState::None:
      return "m1 4h2v1h-2z";
  }
  return "";
}

// Cells of 5 by 12, a path for each state.
Html cells_svg(const std::vector<NodeState>& cells) {
  const std::size_t rows = (cells.size() + kMapColumns - 1) / kMapColumns;
  Html html;
  html << "<svg width=\"" << std::min(cells.size(), kMapColumns) * 5 << "\" height=\"" << rows * 12
       << "\" aria-hidden=\"true\" focusable=\"false\">";
  for (const NodeState state : kStates) {
    Html path;
    for (std::size_t i = 0; i < cells.size(); ++i) {
      if (cells[i] != state) continue;
      path << "M" << i % kMapColumns * 5 << " " << i / kMapColumns * 12 << shape_of(state);
    }
    if (!path.empty()) html << "<path class=\"" << class_of(state) << "\" d=\"" << path << "\"/>";
  }
  return html << "</svg>";
}

bool is_weak(const TopologyNode& node) {
  return state_of(node) == NodeState::Trouble || state_of(node) == NodeState::Out;
}

std::string clique_name(const TopologyClique& clique) {
  return clique.name.empty() ? "no clique" : clique.name;
}

// "<cluster UUID>." where all cliques' names begin with it; else "".
std::string common_start(const TopologyReport& topology) {
  const std::string& first = topology.cliques.front().name;
  const std::string start = first.substr(0, first.rfind('.') + 1);
  const bool is_common = std::ranges::all_of(topology.cliques, [&](const TopologyClique& clique) {
    return clique.name.empty() || clique.name.starts_with(start);
  });
  return is_common ? start : "";
}

// What tells cliques apart is at the end of their names.
std::string short_name(const TopologyClique& clique, const std::string& start) {
  const std::string full = clique_name(clique);
  if (!start.empty() && full.starts_with(start)) return full.substr(start.size());
  return full.size() <= 12 ? full : cat("…", full.substr(full.size() - 8));
}

// A clique on the map: a link where the clique has its id on the page.
Html map_item(const TopologyClique& clique, std::size_t index, const std::string& start,
              bool has_id) {
  const StateCounts counts = state_counts(clique);
  Html html;
  html << "<a";
  if (has_id) html << " href=\"#" << clique_id(index) << "\"";
  return html << (is_in_trouble(clique) ? Literal(" class=\"bad\"") : Literal("")) << " title=\""
              << name(clique_name(clique)) << ": " << counts_html(counts) << "\">"
              << cells_svg(map_cells(clique, counts)) << "<span>" << name(short_name(clique, start))
              << "</span></a>\n";
}

// How many cliques the map has within `room` bytes.
std::size_t count_on_map(const TopologyReport& topology, std::size_t room) {
  const std::string start = common_start(topology);
  std::size_t size = 0;
  for (std::size_t i = 0; i < std::min(topology.cliques.size(), kMostOnMap); ++i) {
    size += map_item(topology.cliques[i], i, start, true).size();
    if (size > room) return i;
  }
  return std::min(topology.cliques.size(), kMostOnMap);
}

Html map_html(const TopologyReport& topology, std::size_t count, const std::vector<bool>& has_id) {
  const std::string start = common_start(topology);
  Html html;
  if (!start.empty()) {
    html << "<p class=\"hint\">Cliques of <code>" << name(start.substr(0, start.size() - 1))
         << "</code>, each with its nodes:</p>\n";
  }
  html << "<nav class=\"map\" aria-label=\"Cliques\">\n";
  for (std::size_t i = 0; i < count; ++i) {
    html << map_item(topology.cliques[i], i, start, has_id[i]);
  }
  html << "</nav>\n";
  return html << left_out(topology.cliques.size() - count, "cliques on the map");
}

Html legend_html() {
  Html html;
  html << "<p class=\"legend\">";
  for (const NodeState state : kStates) {
    html << "<span class=\"" << class_of(state) << "\">" << words_of(state) << "</span> ";
  }
  return html << "</p>\n";
}

std::string device_words(const DeviceCount& devices) {
  const std::int64_t all = devices.free + devices.in_use + devices.out;
  return all > 1 ? cat(devices.free, " of ", all, " free") : "";
}

class CliqueWriter {
 public:
  CliqueWriter(const TopologyReport& topology, const std::vector<DomainHead>& domains,
               const std::vector<bool>& has_domain)
      : topology_(topology) {
    for (std::size_t place = 0; place < domains.size(); ++place) {
      if (has_domain[place]) domains_.try_emplace(domains[place].name, &domains[place]);
    }
  }

  [[nodiscard]] Html line(std::size_t index) const {
    Html html;
    return html << "<div class=\"part bare\" id=\"" << clique_id(index) << "\">"
                << facts(topology_.cliques[index], Html()) << "</div>\n";
  }

  [[nodiscard]] Html html(std::size_t index, bool is_open) const {
    const TopologyClique& clique = topology_.cliques[index];
    Html html, strip;
    strip << "<span class=\"strip\">" << cells_svg(map_cells(clique, state_counts(clique)))
          << "</span>";
    html << "<details class=\"part\"" << (is_open ? Literal(" open") : Literal("")) << "><summary>"
         << facts(clique, strip) << "</summary>\n";
    html << "<div class=\"in\" id=\"" << clique_id(index) << "\"><ul class=\"nodes\">\n";
    for (std::size_t i = 0; i < std::min(clique.nodes.size(), kMostBoxes); ++i) {
      html << box(clique.nodes[i]);
    }
    html << "</ul>\n"
         << left_out(clique.nodes.size() - std::min(clique.nodes.size(), kMostBoxes),
                     "nodes of this clique");
    return html << troubles(clique) << "</div></details>\n";
  }

 private:
  // What it is, and how its nodes are.
  [[nodiscard]] static Html facts(const TopologyClique& clique, const Html& strip) {
    Html html;
    return html << "<span class=\"sign "
                << (is_in_trouble(clique) ? Literal("s-t") : Literal("s-ok")) << "\"></span><h3>"
                << (clique.name.empty() ? Literal("") : Literal("Clique ")) << "<code>"
                << name(clique_name(clique)) << "</code></h3>" << strip << "<span class=\"fact\">"
                << counted(clique.nodes.size(), "node", "nodes") << ": "
                << counts_html(state_counts(clique)) << "</span>";
  }

  [[nodiscard]] Html links(const TopologyNode& node) const {
    Html html;
    for (std::size_t i = 0; i < std::min<std::size_t>(node.domains.size(), 2); ++i) {
      const auto it = domains_.find(node.domains[i]);
      if (it == domains_.end()) {
        html << "<i>" << name(node.domains[i]) << "</i>";
      } else {
        html << "<a href=\"#" << domain_id(*it->second) << "\">" << name(node.domains[i]) << "</a>";
      }
    }
    if (node.domains.size() > 2) html << "<i>and " << node.domains.size() - 2 << " more</i>";
    return html;
  }

  [[nodiscard]] Html box(const TopologyNode& node) const {
    const NodeState state = state_of(node);
    Html html;
    html << "<li class=\"" << class_of(state) << "\"><b>" << name(node.name) << "</b>";
    if (node.domains.empty()) html << "<i>" << words_of(state) << "</i>";
    html << links(node);
    if (const std::string words = device_words(node.devices); !words.empty()) {
      html << "<i>" << name(words) << "</i>";
    }
    // READY is what one expects.
    if (!node.daemon.empty() && node.daemon != api::to_string(api::DaemonState::Ready)) {
      html << "<i class=\"imex\">IMEX " << name(node.daemon) << "</i>";
    }
    if (!node.isolation.empty() && node.isolation != api::to_string(api::Isolation::Domain)) {
      html << "<i>isolation by " << name(node.isolation) << "</i>";
    }
    return html << "</li>\n";
  }

  [[nodiscard]] static Html troubles(const TopologyClique& clique) {
    std::vector<const TopologyNode*> nodes;
    for (const TopologyNode& node : clique.nodes) {
      if (!node.trouble.empty()) nodes.push_back(&node);
    }
    Html html;
    if (nodes.empty()) return html;
    // Those first that nobody wanted.
    std::ranges::stable_sort(nodes, {}, [](const TopologyNode* node) { return node->is_meant; });
    const std::size_t shown = std::min(nodes.size(), kMostTroubles);
    html << "<dl class=\"why\">\n";
    for (const TopologyNode* node : std::span(nodes).first(shown)) {
      html << "<div><dt>" << name(node->name) << "</dt><dd>" << message(node->trouble)
           << "</dd></div>\n";
    }
    html << "</dl>\n";
    return html << left_out(nodes.size() - shown, "troubles of this clique");
  }

  const TopologyReport& topology_;
  std::map<std::string, const DomainHead*> domains_;
};

// The places of cliques: those with a node in trouble, those with one that is out, the others.
std::vector<std::size_t> worst_first(const TopologyReport& topology) {
  std::vector<std::size_t> order(topology.cliques.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, {}, [&](std::size_t index) {
    const auto& nodes = topology.cliques[index].nodes;
    NodeState worst = NodeState::None;
    for (const TopologyNode& node : nodes) worst = std::min(worst, state_of(node));
    return std::min(worst, NodeState::InUse);
  });
  return order;
}

}  // namespace

NodeState state_of(const TopologyNode& node) {
  const DeviceCount& devices = node.devices;
  if (!node.is_meant) return NodeState::Trouble;
  if (!node.trouble.empty() || devices.out > 0) return NodeState::Out;
  if (devices.in_use > 0) return devices.free > 0 ? NodeState::Partly : NodeState::InUse;
  return devices.free > 0 ? NodeState::Free : NodeState::None;
}

bool is_in_trouble(const TopologyClique& clique) {
  return std::ranges::any_of(clique.nodes, is_weak);
}

Section topology_html(const Overview& overview, const std::vector<bool>& has_domain,
                      std::size_t room) {
  const TopologyReport& topology = overview.topology;
  Section section;
  Html& html = section.html;
  html << "<section id=\"topology\" aria-labelledby=\"h-topology\"><h2 id=\"h-topology\">Topology"
          "</h2>\n";
  if (topology.cliques.empty()) {
    html << (overview.is_of_one ? Literal("<p>No clique has a device of it yet.</p>")
                                : Literal("<p>No node has a GPU or an agent.</p>"))
         << "\n</section>\n";
    return section;
  }
  const std::size_t all = topology.cliques.size();
  section.has_id.resize(all);
  const std::size_t on_map = all > 1 ? count_on_map(topology, room / 2) : 0;
  const std::size_t map_size =
      all > 1 ? map_html(topology, on_map, std::vector<bool>(all, true)).size() : 0;

  const std::vector<std::size_t> order = worst_first(topology);
  const CliqueWriter writer(topology, overview.domains, has_domain);
  std::size_t open = 0;
  const Fitted parts = fitted(
      order, room - std::min(room, map_size + kSectionFrame),
      [&](std::size_t index) { return writer.line(index); },
      [&](std::size_t index) {
        const bool is_open =
            all <= kFewParts || (is_in_trouble(topology.cliques[index]) && open++ < kMostOpen);
        return writer.html(index, is_open);
      });
  for (const auto& [index, piece] : parts.pieces) section.has_id[index] = true;
  html << legend_html();
  if (all > 1) html << map_html(topology, on_map, section.has_id);
  for (const std::size_t index : order) {
    const auto piece = parts.pieces.find(index);
    if (piece != parts.pieces.end()) html << piece->second;
  }
  html << left_out(all - parts.whole,
                   "cliques with their nodes: `kubectl compute-domain topology` prints them")
       << left_out(all - parts.pieces.size(), "names of cliques") << "</section>\n";
  return section;
}

Html clique_id(std::size_t index) {
  Html html;
  return html << "c" << index + 1;
}

}  // namespace cdom::plugin::page
