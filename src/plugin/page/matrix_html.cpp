// Who reaches whom, as a heat map for each clique and as sentences for what is not as it should be.
#include <algorithm>
#include <numeric>

#include "compute_domain/base/text.h"
#include "plugin/page/heat_map.h"
#include "plugin/page/parts.h"
#include "plugin/page/room.h"

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
// In smaller cells, what is wrong is drawn larger than it is.
constexpr double kThinCell = 4;
// What says how many cliques are left out, at most.
constexpr std::size_t kMatrixFrame = 300;
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
      return "has not reported, or is not believed, of";
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

std::size_t longest_of(const std::vector<std::string>& names) {
  std::size_t longest = 0;
  for (const std::string& text : names) longest = std::max(longest, text.size());
  return longest;
}

// How many bytes all names have in common at their ends, from a "." or a "-" on.
std::size_t common_end(const std::vector<std::string>& names) {
  const std::string& first = names.front();
  std::size_t size = first.size();
  for (const std::string& text : names) {
    const auto [a, b] = std::mismatch(first.rbegin(), first.rend(), text.rbegin(), text.rend());
    size = std::min(size, static_cast<std::size_t>(a - first.rbegin()));
  }
  const auto at = first.find_first_of("-.", first.size() - size);
  return at == std::string::npos ? 0 : first.size() - at;
}

// And at their starts, up to a "." or a "-".
std::size_t common_start(const std::vector<std::string>& names) {
  const std::string& first = names.front();
  std::size_t size = first.size();
  for (const std::string& text : names) {
    const auto [a, b] = std::mismatch(first.begin(), first.end(), text.begin(), text.end());
    size = std::min(size, static_cast<std::size_t>(a - first.begin()));
  }
  return first.substr(0, size).find_last_of("-.") + 1;  // npos + 1 is 0
}

// What rows are called: without what does not tell nodes apart, where their names are long.
std::vector<std::string> row_names(const ReachGroup& group) {
  std::vector<std::string> names = group.nodes;
  if (names.size() < 2 || longest_of(names) <= kRowName) return names;
  if (const std::size_t end = common_end(names); end > 0) {
    for (std::string& text : names) text = cat(text.substr(0, text.size() - end), "…");
  }
  if (longest_of(names) <= kRowName) return names;
  if (const std::size_t start = common_start(names); start > 0) {
    for (std::string& text : names) text = cat("…", text.substr(start));
  }
  return names;
}

// Where a picture has its rows, in pixels.
struct Rows {
  std::vector<std::string> names;  // none where rows have numbers only
  double left = kNumbersWidth;     // before the first column
};

Rows rows_of(const ReachGroup& group, const HeatMap& map) {
  Rows rows;
  if (!has_names(map)) return rows;
  rows.names = row_names(group);
  rows.left += kLetterWidth * static_cast<double>(std::min(longest_of(rows.names), kRowName));
  return rows;
}

// Whether some node is called by less than its name.
bool are_cut(const ReachGroup& group, const Rows& rows) {
  return rows.names != group.nodes || longest_of(rows.names) > kRowName;
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
Html signs_html(const Rows& rows, const HeatMap& map, double size) {
  std::size_t area = 0;
  for (const HeatRect& rect : map.rects) area += rect.width * rect.height;
  Html html;
  const auto add = [&](double x, double y, Reach reach) {
    html << "<text class=\"sg " << class_of(reach) << "\" x=\"";
    html.decimal(rows.left + x * size) << "\" y=\"";
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
Html axes_html(const ReachGroup& group, const Rows& rows, const HeatMap& map, double size) {
  const bool are_named = has_names(map);
  const std::size_t step = are_named ? 1 : map.cells > 250 ? 50 : 10;
  Html html;
  for (std::size_t i = 0; i < map.cells; i += i == 0 && step > 1 ? step - 1 : step) {
    const double middle = (static_cast<double>(i) + 0.5) * size;
    html << "<text class=\"ax\" x=\"";
    html.decimal(rows.left + middle) << "\" y=\"";
    html.decimal(kTop - 7) << "\">" << i * map.scale + 1 << "</text><text class=\"rw\" x=\"";
    html.decimal(rows.left - 8) << "\" y=\"";
    html.decimal(kTop + middle + 4) << "\">";
    if (are_named) {
      const std::string& row = rows.names[i];
      if (row != group.nodes[i] || row.size() > kRowName) {
        html << "<title>" << name(group.nodes[i]) << "</title>";
      }
      html << Text{row, kRowName} << "<tspan class=\"no\" dx=\"6\">" << i + 1 << "</tspan>";
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
  add(Reach::NotReported, "not reported, or not believed");
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

Html svg_html(const ReachGroup& group, const Rows& rows, const HeatMap& map) {
  const double size = cell_size(map);
  const double side = size * static_cast<double>(map.cells);
  const bool are_few = map.rects.size() <= kFewRects;
  const Html rects = rects_html(group, map, are_few);
  Html html;
  html << "<div class=\"heat" << (size < kThinCell ? Literal(" thin") : Literal(""))
       << "\" role=\"region\" aria-label=\"Matrix of clique " << name(group.clique)
       << "\" tabindex=\"0\"><svg role=\"img\" aria-label=\"" << summary_html(map) << "\" width=\"";
  html.decimal(rows.left + side + 2) << "\" height=\"";
  html.decimal(kTop + side + 2) << "\"><g transform=\"translate(";
  html.decimal(rows.left) << " ";
  html.decimal(kTop) << ") scale(";
  html.decimal(size) << ")\"><rect class=\"r-c\" width=\"" << map.cells << "\" height=\""
                     << map.cells << "\"/>";
  // With names, rectangles may cover the diagonal; with numbers, the diagonal would hide thin
  // rectangles.
  if (has_names(map)) {
    html << rects << diagonal_html(map);
  } else {
    html << diagonal_html(map) << rects;
  }
  html << grid_html(map) << "</g>" << axes_html(group, rows, map, size);
  if (are_few) html << signs_html(rows, map, size);
  return html << "</svg></div>\n";
}

// What each node does not reach, in sentences, also for a screen reader.
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
        html << names_html(to, 8);
      }
      html << "</li>\n";
    }
  }
  if (count == 0) return html;
  html << "</ul>\n";
  return html << left_out(count - std::min(count, kMostSentences), "such nodes");
}

// Which number is which node, where rows do not have their whole names.
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
  const Rows rows = rows_of(group, map);
  Html html;
  html << "<h5>Clique <code>" << name(group.clique) << "</code></h5>\n<p class=\"fact\">"
       << summary_html(map) << ".";
  if (map.scale > 1) {
    html << " One cell stands for " << map.scale << " by " << map.scale
         << " nodes and shows the worst.";
  }
  html << "</p>\n" << svg_html(group, rows, map) << sentences_html(group);
  if (are_cut(group, rows)) html << numbers_html(group);
  return html;
}

bool is_connected(const ReachGroup& group) {
  return std::ranges::all_of(group.cells, [](const std::vector<Reach>& row) {
    return std::ranges::all_of(
        row, [](Reach reach) { return reach == Reach::Self || reach == Reach::Connected; });
  });
}

// Those with a trouble have room first; the order on the page is that of the report.
Html groups_html(const std::vector<ReachGroup>& groups, std::size_t room) {
  std::vector<std::size_t> order(groups.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, {},
                           [&](std::size_t place) { return is_connected(groups[place]); });
  const Fitted parts = fitted(
      order, room, [](std::size_t) { return Html(); },
      [&](std::size_t place) { return group_html(groups[place]); });
  Html html;
  std::size_t shown = 0;
  for (const auto& [place, piece] : parts.pieces) {
    if (piece.empty()) continue;
    ++shown;
    html << piece;
  }
  return html << left_out(groups.size() - shown,
                          "cliques of it: `kubectl compute-domain matrix NAME` prints them");
}

}  // namespace

Html matrix_html(const MatrixReport& report, std::size_t room) {
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
            "class=\"r-x\">cannot reach</span> <span class=\"r-q\">not reported, or not "
            "believed</span> <span "
            "class=\"r-d\">own daemon not READY</span> <span class=\"r-s\">itself</span></p>\n"
            "<p class=\"hint\">A row is what that node's own IMEX daemon reports. Memory is shared "
            "within a clique only.</p>\n";
  }
  Html others;
  if (!report.others.empty()) {
    others << "<p>In no clique, so they share no memory: " << names_html(report.others, 20)
           << "</p>\n";
  }
  const std::size_t taken = html.size() + others.size() + kMatrixFrame;
  return html << groups_html(report.groups, room - std::min(room, taken)) << others;
}

}  // namespace cdom::plugin::page
