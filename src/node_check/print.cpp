#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>

#include "compute_domain/base/text.h"
#include "compute_domain/base/utf8.h"
#include "compute_domain/node_check/findings.h"

namespace cdom::node_check {

using base::cat;
using base::count_characters;

namespace {

// The widths at which columns are broken into lines; a longer word stays whole.
constexpr std::size_t kFoundWidth = 44, kRemedyWidth = 60, kGap = 3;

std::vector<std::string> lines_of(const std::string& text, std::size_t width) {
  std::vector<std::string> lines(1);
  for (const std::string& word : base::split(text, ' ')) {
    if (!lines.back().empty() &&
        count_characters(lines.back()) + 1 + count_characters(word) > width) {
      lines.emplace_back();
    }
    lines.back() += cat(lines.back().empty() ? "" : " ", word);
  }
  return lines;
}

using Row = std::array<std::vector<std::string>, 4>;

std::size_t widest(const std::vector<Row>& rows, std::size_t column) {
  std::size_t width = 0;
  for (const Row& row : rows) {
    for (const std::string& line : row.at(column)) width = std::max(width, count_characters(line));
  }
  return width;
}

std::vector<std::string> requirements_that(const std::vector<Finding>& findings, Verdict verdict) {
  std::vector<std::string> names;
  for (const Finding& finding : findings) {
    if (finding.verdict == verdict) names.push_back(finding.requirement);
  }
  return names;
}

std::string summary_of(const std::string& node, const std::vector<Finding>& findings) {
  std::vector<std::string> parts;
  for (const Verdict verdict : {Verdict::Fails, Verdict::Warning, Verdict::Unknown}) {
    const auto names = requirements_that(findings, verdict);
    if (names.empty()) continue;
    // What nobody has seen from here is a number only: the table says who can.
    const std::string which = verdict == Verdict::Unknown ? "" : cat(": ", base::join(names, ", "));
    parts.push_back(cat(names.size(), " ", name_of(verdict), which));
  }
  return cat(node.empty() ? "this node" : node, ": ",
             parts.empty() ? "all requirements are met" : base::join(parts, "; "), "\n");
}

// Goes up when a program that reads what is printed would misread it.
constexpr int kFormat = 1;

std::string_view json_name_of(Verdict verdict) {
  switch (verdict) {
    case Verdict::Ok:
      return "ok";
    case Verdict::Warning:
      return "warning";
    case Verdict::Fails:
      return "fails";
    case Verdict::Unknown:
      break;
  }
  return "unknown";
}

}  // namespace

std::string table_of(const std::string& node, const std::vector<Finding>& findings) {
  std::vector<Row> rows{{{{"REQUIREMENT"}, {"FOUND"}, {"VERDICT"}, {"REMEDY"}}}};
  for (const Finding& finding : findings) {
    rows.push_back({{{finding.requirement},
                     lines_of(finding.found, kFoundWidth),
                     {std::string(name_of(finding.verdict))},
                     lines_of(finding.remedy, kRemedyWidth)}});
  }
  std::array<std::size_t, 4> widths{};
  for (std::size_t column = 0; column < widths.size(); ++column) {
    widths.at(column) = widest(rows, column) + kGap;
  }
  std::string text;
  for (const Row& row : rows) {
    const std::size_t lines = std::max(row[1].size(), row[3].size());
    for (std::size_t i = 0; i < lines; ++i) {
      std::string line;
      for (std::size_t column = 0; column < row.size(); ++column) {
        const std::string cell = i < row.at(column).size() ? row.at(column)[i] : "";
        line += cat(cell, std::string(widths.at(column) - count_characters(cell), ' '));
      }
      text += cat(line.substr(0, line.find_last_not_of(' ') + 1), "\n");
    }
  }
  return text + summary_of(node, findings);
}

std::string json_of(const std::string& node, const std::vector<Finding>& findings) {
  nlohmann::ordered_json all = nlohmann::ordered_json::array();
  for (const Finding& finding : findings) {
    all.push_back({{"check", finding.check},
                   {"name", finding.name},
                   {"requirement", finding.requirement},
                   {"verdict", json_name_of(finding.verdict)},
                   {"found", finding.found},
                   {"reason", finding.reason},
                   {"remedy", finding.remedy}});
  }
  const nlohmann::ordered_json report{
      {"format", kFormat}, {"node", node}, {"findings", std::move(all)}};
  // What is found on a node need not be UTF-8.
  return report.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

}  // namespace cdom::node_check
