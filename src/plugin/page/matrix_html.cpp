// Who reaches whom, as a heat map for each clique and as sentences for what is not as it should be.
#include <algorithm>

#include "compute_domain/base/text.h"
#include "plugin/page/heat_map.h"
#include "plugin/page/parts.h"

namespace cdom::plugin::page {

namespace {

using base::cat;

// Rectangles of one heat map; fewer than the second have a tooltip each, and a sign.
constexpr std::size_t kMostRects = 4000, kFewRects = 160;
// Nodes that are named beside their rows, and nodes whose numbers are listed below.
constexpr std::size_t kMostNamed = 36, kMostListed = 1200;
constexpr std::size_t kMostSentences = 30, kMostSigns = 160;
// Pixels that a sign needs.
constexpr double kSignSize = 12;
// Of cells that are smaller, what is wrong is drawn larger than it is.
constexpr double kThinCell = 4;
// The widest name beside a row, in bytes; and pixels: beside rows, for each byte, above columns.
constexpr std::size_t kRowName = 22;
constexpr double kNumbersWidth = 40, kLetterWidth = 6.5, kTop = 22;

Literal class_of(Reach reach) {
  switch (reach) {
    case Reach::Unreachable:
      return "r-x";
    case Reach::NotReported:
      return "r-q";
    case Reach::NotReady:
      return "r-d";
    case Reach::Connected:
    case Reach::Self:
      return "r-c";
  }
  return "";
}

Literal sign_of(Reach reach) {
  switch (reach) {
    case Reach::Unreachable:
      return "×";
    case Reach::NotReported:
      return "?";
    case Reach::NotReady:
      return "–";
    case Reach::Connected:
    case Reach::Self:
      return "";
  }
  return "";
}

Literal words_of(Reach reach) {
  switch (reach) {
    case Reach::Unreachable:
      return "cannot reach";
    case Reach::NotReported:
      return "has not reported yet of";
    case Reach::NotReady:
      return "has no daemon that is READY, so reports nothing of";
    case Reach::Connected:
    case Reach::Self:
      return "is connected to";
  }
  return "";
}

// Pixels of a cell's side.
double cell_size(const HeatMap& map) {
  if (map.cells <= 18) return 22;
  if (map.cells <= kMostNamed) return 16;
  return std::max(640.0 / static_cast<double>(map.cells), 1.0);
}

bool has_names(const HeatMap& map) { return map.nodes <= kMostNamed; }

// Pixels before the first column.
double left_of(const ReachGroup& group, const HeatMap& map) {
  if (!has_names(map)) return kNumbersWidth;
  std::size_t longest = 0;
  for (const std::string& node : group.nodes) longest = std::max(longest, node.size());
  return kNumbersWidth + kLetterWidth * static_cast<double>(std::min(longest, kRowName));
}

// "n01", "n01 to n04".
Html range_html(const ReachGroup& group, const HeatMap& map, std::size_t at, std::size_t count) {
  const std::size_t first = at * map.scale;
  const std::size_t last = std::min((at + count) * map.scale, map.nodes) - 1;
  Html html;
  html << name(group.nodes[first]);
  if (last > first) html << " to " << name(group.nodes[last]);
  return html;
}

Html rects_html(const ReachGroup& group, const HeatMap& map, bool are_few) {
  Html html;
  if (are_few) {
    for (const HeatRect& rect : map.rects) {
      html << "<rect class=\"" << class_of(rect.reach) << "\" x=\"" << rect.x << "\" y=\"" << rect.y
           << "\" width=\"" << rect.width << "\" height=\"" << rect.height << "\"><title>"
           << range_html(group, map, rect.y, rect.height) << " " << words_of(rect.reach) << " "
           << range_html(group, map, rect.x, rect.width) << "</title></rect>";
    }
    return html;
  }
  for (const Reach reach : {Reach::NotReported, Reach::NotReady, Reach::Unreachable}) {
    Html path;
    for (const HeatRect& rect : map.rects) {
      if (rect.reach != reach) continue;
      path << "M" << rect.x << " " << rect.y << "h" << rect.width << "v" << rect.height << "h-"
           << rect.width << "z";
    }
    if (!path.empty()) html << "<path class=\"" << class_of(reach) << "\" d=\"" << path << "\"/>";
  }
  return html;
}

// Signs, so that colour is not all that tells it: one in each cell, or in the middle of each
// rectangle where that would be many.
Html signs_html(const ReachGroup& group, const HeatMap& map, double size) {
  std::size_t area = 0;
  for (const HeatRect& rect : map.rects) area += rect.width * rect.height;
  Html html;
  const auto add = [&](double x, double y, Reach reach) {
    html << "<text class=\"sg " << class_of(reach) << "\" x=\"";
    html.decimal(left_of(group, map) + x * size) << "\" y=\"";
    html.decimal(kTop + y * size + size * 0.25) << "\">" << sign_of(reach) << "</text>";
  };
  const auto middle = [](std::size_t at, std::size_t count) {
    return static_cast<double>(at) + static_cast<double>(count) / 2;
  };
  for (const HeatRect& rect : map.rects) {
    const double thin = static_cast<double>(std::min(rect.width, rect.height)) * size;
    if (thin < kSignSize) continue;
    if (area > kMostSigns || size < kSignSize) {
      add(middle(rect.x, rect.width), middle(rect.y, rect.height), rect.reach);
      continue;
    }
    for (std::size_t y = rect.y; y < rect.y + rect.height; ++y) {
      for (std::size_t x = rect.x; x < rect.x + rect.width; ++x) {
        if (x != y) add(middle(x, 1), middle(y, 1), rect.reach);
      }
    }
  }
  return html;
}

// Names beside the rows and numbers above the columns, or only numbers where rows are thin.
Html axes_html(const ReachGroup& group, const HeatMap& map, double size) {
  const bool are_named = has_names(map);
  const std::size_t step = are_named ? 1 : map.cells > 250 ? 50 : 10;
  Html html;
  for (std::size_t i = 0; i < map.cells; i += i == 0 && step > 1 ? step - 1 : step) {
    const double middle = (static_cast<double>(i) + 0.5) * size;
    html << "<text class=\"ax\" x=\"";
    html.decimal(left_of(group, map) + middle) << "\" y=\"";
    html.decimal(kTop - 7) << "\">" << i * map.scale + 1 << "</text><text class=\"rw\" x=\"";
    html.decimal(left_of(group, map) - 8) << "\" y=\"";
    html.decimal(kTop + middle + 4) << "\">";
    if (are_named) {
      if (group.nodes[i].size() > kRowName) html << "<title>" << name(group.nodes[i]) << "</title>";
      html << Text{group.nodes[i], kRowName} << "<tspan class=\"no\" dx=\"6\">" << i + 1
           << "</tspan>";
    } else {
      html << i * map.scale + 1;
    }
    html << "</text>";
  }
  return html;
}

// "18 nodes: all 306 ordered pairs are connected".
Html summary_html(const HeatMap& map) {
  const std::size_t pairs = map.nodes * map.nodes - map.nodes;
  Html html;
  html << counted(map.nodes, "node", "nodes") << ": ";
  if (map.count(Reach::Connected) == pairs) {
    if (pairs == 0) return html << "there is no other to reach";
    html << "all ";
    html.count(static_cast<std::int64_t>(pairs)) << " directions are connected";
    return html;
  }
  html.count(static_cast<std::int64_t>(map.count(Reach::Connected))) << " of ";
  html.count(static_cast<std::int64_t>(pairs)) << " directions are connected";
  const auto add = [&](Reach reach, Literal words) {
    if (map.count(reach) == 0) return;
    html << ", ";
    html.count(static_cast<std::int64_t>(map.count(reach))) << " " << words;
  };
  add(Reach::Unreachable, "cannot be reached");
  add(Reach::NotReported, "not reported yet");
  add(Reach::NotReady, "whose own daemon is not READY");
  return html;
}

// Where a node meets itself: a cell each, or a line under what a cell of a pixel would hide.
Html diagonal_html(const HeatMap& map) {
  Html html;
  if (!has_names(map)) {
    return html << "<path class=\"dl\" d=\"M0 0L" << map.cells << " " << map.cells << "\"/>";
  }
  html << "<path class=\"dg\" d=\"M0 0";
  for (std::size_t i = 0; i < map.cells; ++i) html << "h1v1h-1zm1 1";
  return html << "\"/>";
}

Html grid_html(const HeatMap& map) {
  Html html;
  if (!has_names(map)) return html;
  html << "<path class=\"gr\" d=\"";
  for (std::size_t i = 0; i <= map.cells; ++i) {
    html << "M0 " << i << "h" << map.cells << "M" << i << " 0v" << map.cells;
  }
  return html << "\"/>";
}

Html svg_html(const ReachGroup& group, const HeatMap& map) {
  const double size = cell_size(map);
  const double side = size * static_cast<double>(map.cells);
  const bool are_few = map.rects.size() <= kFewRects;
  const Html rects = rects_html(group, map, are_few);
  Html html;
  html << "<div class=\"heat" << (size < kThinCell ? Literal(" thin") : Literal(""))
       << "\" role=\"region\" aria-label=\"Matrix of clique " << name(group.clique)
       << "\" tabindex=\"0\"><svg role=\"img\" aria-label=\"" << summary_html(map) << "\" width=\"";
  html.decimal(left_of(group, map) + side + 2) << "\" height=\"";
  html.decimal(kTop + side + 2) << "\"><g transform=\"translate(";
  html.decimal(left_of(group, map)) << " ";
  html.decimal(kTop) << ") scale(";
  html.decimal(size) << ")\"><rect class=\"r-c\" width=\"" << map.cells << "\" height=\""
                     << map.cells << "\"/>";
  // Of names, a rectangle may go over the node itself; of numbers, the line would hide what is
  // thin.
  if (has_names(map)) {
    html << rects << diagonal_html(map);
  } else {
    html << diagonal_html(map) << rects;
  }
  html << grid_html(map) << "</g>" << axes_html(group, map, size);
  if (are_few) html << signs_html(group, map, size);
  return html << "</svg></div>\n";
}

// Of each node what it does not reach, as a screen reader has it too.
Html sentences_html(const ReachGroup& group) {
  Html html;
  std::size_t count = 0;
  for (std::size_t i = 0; i < group.nodes.size(); ++i) {
    for (const Reach reach : {Reach::Unreachable, Reach::NotReady, Reach::NotReported}) {
      std::vector<std::string> to;
      for (std::size_t j = 0; j < group.nodes.size(); ++j) {
        if (group.cells[i][j] == reach) to.push_back(group.nodes[j]);
      }
      if (to.empty()) continue;
      if (++count > kMostSentences) continue;
      if (count == 1) html << "<ul class=\"says\">\n";
      html << "<li class=\"" << class_of(reach) << "\"><b>" << name(group.nodes[i]) << "</b> "
           << words_of(reach) << " ";
      if (to.size() + 1 == group.nodes.size() && to.size() > 1) {
        html << "all others";
      } else {
        html << message(base::list_names(to, 8));
      }
      html << "</li>\n";
    }
  }
  if (count == 0) return html;
  html << "</ul>\n";
  return html << left_out(count - std::min(count, kMostSentences), "such nodes");
}

// Which number is which node, where rows have no names.
Html numbers_html(const ReachGroup& group) {
  Html html;
  html << "<details class=\"num\"><summary>Which number is which node</summary><ol>";
  for (std::size_t i = 0; i < std::min(group.nodes.size(), kMostListed); ++i) {
    html << "<li>" << name(group.nodes[i]) << "</li>\n";
  }
  html << "</ol>"
       << left_out(group.nodes.size() - std::min(group.nodes.size(), kMostListed), "nodes");
  return html << "</details>\n";
}

Html group_html(const ReachGroup& group) {
  const HeatMap map = heat_map(group, kMostRects);
  Html html;
  html << "<h5>Clique <code>" << name(group.clique) << "</code></h5>\n<p class=\"fact\">"
       << summary_html(map) << ".";
  if (map.scale > 1) {
    html << " One cell stands for " << map.scale << " by " << map.scale
         << " nodes and shows the worst.";
  }
  html << "</p>\n" << svg_html(group, map) << sentences_html(group);
  if (!has_names(map)) html << numbers_html(group);
  return html;
}

}  // namespace

Html matrix_html(const MatrixReport& report) {
  Html html;
  html << "<h4>Who reaches whom</h4>\n";
  if (report.groups.empty() && report.others.empty()) {
    return html << "<p>No node has a pod of it.</p>\n";
  }
  if (report.host_managed) {
    html << "<p>The hosts run the IMEX daemons themselves: no node reports whom it reaches.</p>\n";
  }
  if (!report.groups.empty()) {
    html << "<p class=\"legend heat-legend\"><span class=\"r-c\">connected</span> <span "
            "class=\"r-x\">cannot reach</span> <span class=\"r-q\">not reported yet</span> <span "
            "class=\"r-d\">own daemon not READY</span> <span class=\"r-s\">itself</span></p>\n"
            "<p class=\"hint\">A row is what that node's own IMEX daemon reports. Memory is shared "
            "within a clique only.</p>\n";
  }
  for (const ReachGroup& group : report.groups) html << group_html(group);
  if (!report.others.empty()) {
    html << "<p>In no clique, so they share no memory: "
         << message(base::list_names(report.others, 20)) << "</p>\n";
  }
  return html;
}

}  // namespace cdom::plugin::page
