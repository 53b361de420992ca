// What `matrix` prints.
#include <nlohmann/json.hpp>

#include "compute_domain/base/text.h"
#include "compute_domain/plugin/matrix.h"
#include "plugin/text/json_report.h"
#include "plugin/text/text_table.h"

namespace cdom::plugin {

namespace {

using base::cat;
using Json = nlohmann::ordered_json;

std::string sign_of(Reach reach) {
  switch (reach) {
    case Reach::Self:
      return ".";
    case Reach::Connected:
      return "+";
    case Reach::Unreachable:
      return "X";
    case Reach::NotReported:
      return "?";
    case Reach::NotReady:
      return "-";
  }
  return "";
}

// Columns are numbered, as names of nodes are long.
std::string text_of_group(const ReachGroup& group) {
  std::vector<std::string> head{"FROM", ""};
  head.reserve(head.size() + group.nodes.size());
  for (std::size_t i = 0; i < group.nodes.size(); ++i) head.push_back(cat(i + 1));
  TextTable table(std::move(head));
  for (std::size_t i = 0; i < group.nodes.size(); ++i) {
    std::vector<std::string> row{group.nodes[i], cat(i + 1)};
    row.reserve(row.size() + group.nodes.size());
    for (const Reach reach : group.cells[i]) row.push_back(sign_of(reach));
    table.add(std::move(row));
  }
  return cat("Clique ", group.clique, "\n", table.text("  "));
}

}  // namespace

std::string text_of(const MatrixReport& report) {
  std::string text = cat("ComputeDomain ", report.domain, "\n");
  for (const ReachGroup& group : report.groups) text += cat("\n", text_of_group(group));
  if (!report.others.empty()) {
    text += cat("\nIn no clique, so they share no memory: ", base::join(report.others, ", "), "\n");
  }
  if (report.groups.empty() && report.others.empty()) return text + "\nno node has a pod of it\n";
  if (report.host_managed) {
    text += "\nThe hosts run the IMEX daemons themselves: no node reports whom it reaches.\n";
  }
  if (!report.groups.empty()) {
    text +=
        "\n+ connected   X cannot reach   ? not reported, or the report is not believed   - its "
        "own "
        "daemon is not READY\n";
  }
  return text;
}

std::string json_of(const MatrixReport& report) {
  Json groups = Json::array();
  for (const ReachGroup& group : report.groups) {
    Json rows = Json::array();
    for (std::size_t i = 0; i < group.nodes.size(); ++i) {
      // Each name is there once, so the member is appended: operator[] of an ordered object would
      // search for it.
      Json::object_t to;
      for (std::size_t j = 0; j < group.nodes.size(); ++j) {
        to.push_back({group.nodes[j], name_of(group.cells[i][j])});
      }
      rows.push_back({{"from", group.nodes[i]}, {"to", std::move(to)}});
    }
    groups.push_back({{"clique", group.clique}, {"rows", std::move(rows)}});
  }
  return json_report({{"format", kReportFormat},
                      {"domain", report.domain},
                      {"cliques", std::move(groups)},
                      {"inNoClique", report.others},
                      {"hostManaged", report.host_managed}});
}

}  // namespace cdom::plugin
