// What `timeline` prints.
#include <nlohmann/json.hpp>

#include "compute_domain/base/text.h"
#include "compute_domain/plugin/timeline.h"
#include "plugin/age.h"
#include "plugin/text/json_report.h"
#include "plugin/text/text_table.h"

namespace cdom::plugin {

namespace {

using base::cat;
using Json = nlohmann::ordered_json;

constexpr std::size_t kLongestText = 160;

double seconds_of(base::Duration duration) {
  return std::chrono::duration<double>(std::chrono::floor<std::chrono::milliseconds>(duration))
      .count();
}

// "+1m05s", "-3s": to the second, as most times are no finer.
std::string offset_text(base::Duration offset) {
  const bool is_before = offset < base::Duration::zero();
  const auto seconds =
      std::chrono::floor<std::chrono::seconds>(is_before ? -offset : offset).count();
  const auto rest = seconds % 60;
  if (seconds < 60) return cat(is_before ? "-" : "+", seconds, "s");
  return cat(is_before ? "-" : "+", seconds / 60, "m", rest < 10 ? "0" : "", rest, "s");
}

}  // namespace

std::string text_of(const TimelineReport& report) {
  TextTable table({"TIME", "AT", "", "OBJECT", "WHAT"});
  for (const TimelineEntry& entry : report.entries) {
    table.add({base::to_rfc3339(entry.time), offset_text(between(report.zero, entry.time)),
               entry.is_warning ? "!" : "", entry.subject,
               base::shortened(entry.what, kLongestText)});
  }
  std::string text = cat("ComputeDomain ", report.domain, "\n\n", table.text("  "), "\n");
  if (!report.ready) {
    return cat(text, report.may_have_been_ready
                         ? "No time at which it was Ready is known (Events last an hour).\n"
                         : "It has not been Ready yet.\n");
  }
  const base::Duration took = between(report.zero, *report.ready);
  text += cat("Ready ", offset_text(took).substr(1),
              took <= -std::chrono::seconds(1) ? " before" : " after",
              report.has_pods ? " the first pod" : " it", " was created");
  std::vector<std::string> parts;
  parts.reserve(report.phases.size());
  for (const TimelinePhase& phase : report.phases) {
    parts.push_back(cat(phase.name, " ", offset_text(phase.took)));
  }
  return cat(text, parts.empty() ? "" : cat(": ", base::join(parts, ", ")), "\n");
}

std::string json_of(const TimelineReport& report) {
  Json entries = Json::array(), phases = Json::array();
  for (const TimelineEntry& entry : report.entries) {
    entries.push_back({{"time", base::to_rfc3339(entry.time)},
                       {"offsetSeconds", seconds_of(between(report.zero, entry.time))},
                       {"object", entry.subject},
                       {"what", entry.what},
                       {"warning", entry.is_warning}});
  }
  for (const TimelinePhase& phase : report.phases) {
    phases.push_back(
        {{"phase", phase.key}, {"name", phase.name}, {"seconds", seconds_of(phase.took)}});
  }
  Json json{{"format", kReportFormat},
            {"domain", report.domain},
            {"zero", base::to_rfc3339(report.zero)},
            {"entries", std::move(entries)},
            {"phases", std::move(phases)}};
  if (report.ready) json["readyAfterSeconds"] = seconds_of(between(report.zero, *report.ready));
  return json_report(json);
}

}  // namespace cdom::plugin
