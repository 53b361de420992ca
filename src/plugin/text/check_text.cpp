// What `check` prints.
#include <algorithm>
#include <nlohmann/json.hpp>

#include "compute_domain/base/text.h"
#include "compute_domain/base/utf8.h"
#include "compute_domain/plugin/check.h"
#include "plugin/text/json_report.h"
#include "plugin/text/text_table.h"

namespace cdom::plugin {

namespace {

using base::cat;
using base::count_characters;

std::string lines_of(const std::vector<Finding>& findings) {
  std::size_t width = 0;
  for (const Finding& finding : findings)
    width = std::max(width, count_characters(finding.subject));
  const std::string indent(width + 8, ' ');
  std::string text;
  for (const Finding& finding : findings) {
    const std::string verdict(name_of(finding.verdict));
    text += cat(verdict, std::string(5 - verdict.size(), ' '), " ", finding.subject,
                std::string(width - count_characters(finding.subject) + 2, ' '),
                wrapped(finding.found, kTextWidth, indent), "\n");
    if (finding.remedy.empty()) continue;
    text += cat(indent, "do: ", wrapped(finding.remedy, kTextWidth, indent), "\n");
    if (!finding.command.empty()) text += cat(indent, "    ", finding.command, "\n");
  }
  return text;
}

std::string_view json_name_of(Verdict verdict) {
  switch (verdict) {
    case Verdict::Ok:
      return "ok";
    case Verdict::Warning:
      return "warning";
    case Verdict::Fails:
      return "fails";
  }
  return "";
}

nlohmann::ordered_json json_of_findings(const std::vector<Finding>& findings) {
  auto list = nlohmann::ordered_json::array();
  for (const Finding& finding : findings) {
    list.push_back({{"check", finding.check},
                    {"name", finding.name},
                    {"subject", finding.subject},
                    {"verdict", json_name_of(finding.verdict)},
                    {"found", finding.found},
                    {"reason", finding.reason},
                    {"remedy", finding.remedy},
                    {"command", finding.command}});
  }
  return list;
}

std::int64_t count(const CheckReport& report, Verdict verdict) {
  return std::ranges::count(report.install, verdict, &Finding::verdict) +
         std::ranges::count(report.nodes, verdict, &Finding::verdict) +
         std::ranges::count(report.domains, verdict, &Finding::verdict);
}

}  // namespace

std::string text_of(const CheckReport& report) {
  const std::int64_t fails = count(report, Verdict::Fails);
  const std::int64_t warnings = count(report, Verdict::Warning);
  const std::string also =
      warnings == 0 ? "" : cat(", ", warnings, warnings == 1 ? " warning" : " warnings");
  return cat("Install\n", lines_of(report.install),
             report.nodes.empty() ? "" : cat("\nNodes\n", lines_of(report.nodes)),
             report.domains.empty() ? "" : cat("\nComputeDomains\n", lines_of(report.domains)),
             "\n",
             fails == 0 ? cat("healthy", also, "\n")
                        : cat("not healthy: ", fails,
                              fails == 1 ? " finding fails" : " findings fail", also, "\n"));
}

std::string json_of(const CheckReport& report) {
  return json_report({{"format", kReportFormat},
                      {"healthy", report.is_healthy()},
                      {"install", json_of_findings(report.install)},
                      {"nodes", json_of_findings(report.nodes)},
                      {"domains", json_of_findings(report.domains)}});
}

}  // namespace cdom::plugin
