// A domain's timeline: bars for the phases up to Ready, a line of what came after, and a table.
#include <algorithm>
#include <array>
#include <cmath>
#include <set>

#include "compute_domain/base/text.h"
#include "plugin/age.h"
#include "plugin/page/parts.h"

namespace cdom::plugin::page {

namespace {

using base::cat;
using base::Duration;
using base::Time;
using std::chrono::seconds;

// Rows of the table.
constexpr std::size_t kMostEntries = 80;
// Marks on one line.
constexpr std::size_t kMostMarks = 60;
constexpr int kMostTicks = 5;

// "+1m05s", "-3s", "+2h", "+3d": what one reads at a glance.
std::string offset_text(Duration offset) {
  const bool is_before = offset < Duration::zero();
  const auto all = std::chrono::floor<seconds>(is_before ? -offset : offset).count();
  const std::string sign = is_before ? "-" : "+";
  const auto two = [](std::int64_t number) { return cat(number < 10 ? "0" : "", number); };
  if (all < 60) return cat(sign, all, "s");
  if (all < 3600) return cat(sign, all / 60, "m", two(all % 60), "s");
  if (all < 86'400) return cat(sign, all / 3600, "h", two(all / 60 % 60), "m");
  return cat(sign, all / 86'400, "d", two(all / 3600 % 24), "h");
}

std::string duration_text(Duration duration) { return offset_text(duration).substr(1); }

// A line of time, in percent of its width.
struct Scale {
  Time begin{}, end{};

  [[nodiscard]] double percent(Time time) const {
    const auto whole = std::chrono::duration<double>(between(begin, end)).count();
    if (whole <= 0) return 0;
    return std::clamp(std::chrono::duration<double>(between(begin, time)).count() / whole * 100,
                      0.0, 100.0);
  }
};

// The finest of the round steps that gives few ticks.
seconds step_of(Duration whole) {
  constexpr std::array<std::int64_t, 19> kSteps{1,      2,      5,      10,      15,     30,   60,
                                                120,    300,    600,    900,     1800,   3600, 7200,
                                                21'600, 43'200, 86'400, 172'800, 604'800};
  for (const std::int64_t step : kSteps) {
    if (whole / seconds(step) <= kMostTicks) return seconds(step);
  }
  return std::chrono::ceil<seconds>(whole / kMostTicks);
}

// "+2m", where the table has "+2m00s".
std::string tick_text(Duration offset) {
  std::string text = offset_text(offset);
  const bool is_round = text.size() > 4 && text.substr(text.size() - 3, 2) == "00";
  if (is_round) text.resize(text.size() - 3);
  return text;
}

Html axis_html(const Scale& scale, Time zero) {
  const Duration whole = between(scale.begin, scale.end);
  const seconds step = std::max(step_of(whole), seconds(1));
  Html html;
  html << "<div class=\"tl-row tl-axis\" aria-hidden=\"true\"><span></span><span class=\"track\">";
  // At round times since the first pod, as the table has them.
  const Duration before = between(zero, scale.begin) % step;
  for (Duration at = before.count() == 0 ? before : step - before; at <= whole; at += step) {
    const double percent = scale.percent(scale.begin + at);
    html << "<i" << (percent > 94 ? Literal(" class=\"end\"") : Literal("")) << " style=\"left:";
    html.decimal(percent) << "%\">" << name(tick_text(between(zero, scale.begin + at))) << "</i>";
  }
  return html << "</span><span></span></div>\n";
}

// Marks of what happened within the scale; several at one place are one mark. Warnings have room
// first, and lie above the others.
Html marks_html(const TimelineReport& report, const Scale& scale, Literal title) {
  Html calm, bad;
  std::set<std::pair<int, bool>> places;
  for (const bool are_bad : {true, false}) {
    for (const TimelineEntry& entry : report.entries) {
      const bool is_here = entry.time >= scale.begin && entry.time <= scale.end;
      if (!is_here || entry.is_warning != are_bad || places.size() >= kMostMarks) continue;
      const double percent = scale.percent(entry.time);
      if (!places.emplace(static_cast<int>(std::lround(percent * 2)), are_bad).second) continue;
      Html& html = are_bad ? bad : calm;
      html << "<i class=\"" << (are_bad ? Literal("mark bad") : Literal("mark"))
           << "\" style=\"left:";
      html.decimal(percent) << "%\" title=\"" << name(offset_text(between(report.zero, entry.time)))
                            << " " << name(entry.subject) << ": " << Text{entry.what, 120}
                            << "\"></i>";
    }
  }
  Html row;
  return row << "<div class=\"tl-row\" aria-hidden=\"true\"><span>" << title
             << "</span><span class=\"track\">" << calm << bad << "</span><span></span></div>\n";
}

Html phases_html(const TimelineReport& report, const Scale& scale) {
  Html html;
  Time at = report.zero;
  for (const TimelinePhase& phase : report.phases) {
    html << "<div class=\"tl-row\"><span>" << name(phase.name)
         << "</span><span class=\"track\"><i class=\"bar\" style=\"left:";
    html.decimal(scale.percent(at)) << "%;width:";
    html.decimal(scale.percent(at + phase.took) - scale.percent(at))
        << "%\"></i></span><span class=\"took\">" << name(duration_text(phase.took))
        << "</span></div>\n";
    at += phase.took;
  }
  return html;
}

// When it was Ready, in a sentence.
Html ready_html(const TimelineReport& report, Time taken) {
  const Literal zero =
      report.has_pods ? Literal("the first pod was created") : Literal("it was created");
  Html html;
  html << "<p class=\"fact\">";
  if (!report.ready) {
    const Duration waits = std::max(between(report.zero, taken), Duration::zero());
    return html << (report.may_have_been_ready
                        ? Literal("No time at which it was Ready is known (Events last an hour), ")
                        : Literal("It has not been Ready yet, "))
                << name(duration_text(waits)) << " after " << zero << ".</p>\n";
  }
  const Duration took = between(report.zero, *report.ready);
  return html << "Ready <b>" << name(duration_text(took)) << "</b>"
              << (took <= -seconds(1) ? Literal(" before ") : Literal(" after ")) << zero
              << ".</p>\n";
}

// From zero to the time at which this was taken, or to Ready and from there on.
Html chart_html(const TimelineReport& report, Time taken) {
  Html html = ready_html(report, taken);
  if (!report.ready || *report.ready <= report.zero - seconds(1)) {
    const Scale scale{report.zero, std::max(taken, report.zero + seconds(1))};
    return html << "<div class=\"tl\">\n"
                << marks_html(report, scale, "events") << axis_html(scale, report.zero)
                << "</div>\n";
  }
  const Scale scale{report.zero, std::max(*report.ready, report.zero + seconds(1))};
  html << "<div class=\"tl\">\n"
       << phases_html(report, scale) << marks_html(report, scale, "events")
       << axis_html(scale, report.zero) << "</div>\n";
  const bool came_more = std::ranges::any_of(report.entries, [&](const TimelineEntry& entry) {
    return entry.time > *report.ready + seconds(1);
  });
  if (!came_more) return html;
  const Scale after{*report.ready, std::max(taken, *report.ready + seconds(1))};
  return html << "<p class=\"fact\">After it was Ready, until "
                 "this was taken:</p>\n<div class=\"tl\">\n"
              << marks_html(report, after, "events") << axis_html(after, report.zero) << "</div>\n";
}

Html row_html(const TimelineReport& report, const TimelineEntry& entry) {
  Html html;
  const std::string time = base::to_rfc3339(entry.time);
  html << "<tr" << (entry.is_warning ? Literal(" class=\"warn\"") : Literal(""))
       << "><td class=\"at\">" << name(offset_text(between(report.zero, entry.time)))
       << "</td><td class=\"time\"><time>" << name(time) << "</time></td><td>"
       << name(entry.subject) << "</td><td>"
       << (entry.is_warning ? Literal("<span class=\"sign s-w\"></span>") : Literal(""))
       << message(entry.what) << "</td></tr>\n";
  return html;
}

// 0: before the first pod, 1: up to Ready, 2: after it. Compares seconds, as the order of the
// entries does.
int part_of(const TimelineReport& report, Time time) {
  const auto second = [](Time at) { return std::chrono::floor<seconds>(at); };
  if (second(time) < second(report.zero)) return 0;
  const bool was_ready = report.ready && second(*report.ready) >= second(report.zero);
  return was_ready && second(time) > second(*report.ready) ? 2 : 1;
}

Html gap_html(std::size_t entries) {
  Html html;
  return html << "<tr><td colspan=\"4\">" << left_out(entries, "entries here") << "</td></tr>\n";
}

// Which entries are shown when there are more than the table has rows: those of the objects
// themselves, which are few, then warnings, then the others; the first and the last of each kind.
std::set<std::size_t> shown_entries(const std::vector<TimelineEntry>& entries) {
  std::array<std::vector<std::size_t>, 3> kinds;
  for (std::size_t i = 0; i < entries.size(); ++i) {
    const std::size_t kind = entries[i].is_warning ? 1 : entries[i].is_event ? 2 : 0;
    kinds.at(kind).push_back(i);
  }
  std::set<std::size_t> shown;
  for (const std::vector<std::size_t>& kind : kinds) {
    const std::size_t room = std::min(kMostEntries - shown.size(), kind.size());
    const std::size_t first = room - room / 2;
    shown.insert(kind.begin(), kind.begin() + static_cast<std::ptrdiff_t>(first));
    shown.insert(kind.end() - static_cast<std::ptrdiff_t>(room - first), kind.end());
  }
  return shown;
}

Html part_head(const TimelineReport& report, int part) {
  Html html;
  return html << "<tbody><tr class=\"sec\"><th colspan=\"4\" scope=\"rowgroup\">"
              << (part == 0   ? (report.has_pods ? Literal("Before its first pod")
                                                 : Literal("Before it was created"))
                  : part == 1 ? (report.ready && *report.ready >= report.zero
                                     ? Literal("On the way to Ready")
                                     : Literal("So far"))
                              : Literal("After it was Ready"))
              << "</th></tr>\n";
}

Html table_html(const TimelineReport& report) {
  Html html;
  html << "<table class=\"events\"><thead><tr><th scope=\"col\">At</th><th scope=\"col\">Time</th>"
          "<th scope=\"col\">Object</th><th scope=\"col\">What</th></tr></thead>\n";
  int part = -1;
  std::size_t next = 0;  // the one behind the last that is shown
  for (const std::size_t i : shown_entries(report.entries)) {
    if (i > next && part >= 0) html << gap_html(i - next);
    const TimelineEntry& entry = report.entries[i];
    const int now = part_of(report, entry.time);
    if (now != part) {
      if (part >= 0) html << "</tbody>";
      html << part_head(report, now);
      part = now;
    }
    if (i > next && next == 0) html << gap_html(i);
    html << row_html(report, entry);
    next = i + 1;
  }
  const std::size_t all = report.entries.size();
  if (all > next) html << gap_html(all - next);
  return html << "</tbody></table>\n";
}

}  // namespace

Html timeline_html(const TimelineReport& report, Time taken) {
  Html html;
  html << "<h4>Timeline</h4>\n" << chart_html(report, taken);
  if (!report.entries.empty()) html << table_html(report);
  return html;
}

}  // namespace cdom::plugin::page
