// What `why` prints.
#include <algorithm>
#include <nlohmann/json.hpp>

#include "compute_domain/base/text.h"
#include "compute_domain/plugin/why.h"
#include "plugin/text/json_report.h"
#include "plugin/text/text_table.h"

namespace cdom::plugin {

namespace {

using base::cat;

std::string mark_of(Link::State state) {
  switch (state) {
    case Link::State::Good:
      return "  ok    ";
    case Link::State::Broken:
      return "> STOP  ";
    case Link::State::NotReached:
      return "  -     ";
  }
  return "";
}

// As programs name it: one word.
std::string key_of(const Link& link) {
  if (link.name == "Node list") return "NodeList";
  if (link.name == "IMEX daemon") return "ImexDaemon";
  return link.name;
}

}  // namespace

std::string_view name_of(Link::State state) {
  switch (state) {
    case Link::State::Good:
      return "good";
    case Link::State::Broken:
      return "broken";
    case Link::State::NotReached:
      return "notReached";
  }
  return "";
}

const Link* WhyReport::broken() const {
  const auto it = std::ranges::find(links, Link::State::Broken, &Link::state);
  return it == links.end() ? nullptr : &*it;
}

std::string text_of(const WhyReport& report) {
  std::size_t width = 0;
  for (const Link& link : report.links) width = std::max(width, link.name.size());
  const Link* broken = report.broken();
  std::string text =
      cat(report.subject,
          broken == nullptr ? ": nothing is broken" : cat(": stops at ", broken->name), "\n\n");
  const std::string indent(width + 10, ' ');
  for (const Link& link : report.links) {
    const std::string line =
        cat(mark_of(link.state), link.name, std::string(width - link.name.size() + 2, ' '),
            wrapped(link.text, kTextWidth, indent));
    text += cat(line.substr(0, line.find_last_not_of(' ') + 1), "\n");
  }
  if (broken == nullptr) return text;
  return cat(text, "\nCause:  ", wrapped(report.cause, kTextWidth, "        "),
             "\nDo:     ", wrapped(report.remedy, kTextWidth, "        "), "\n",
             report.command.empty() ? "" : cat("        ", report.command, "\n"));
}

std::string json_of(const WhyReport& report) {
  auto links = nlohmann::ordered_json::array();
  for (const Link& link : report.links) {
    links.push_back({{"link", key_of(link)}, {"state", name_of(link.state)}, {"text", link.text}});
  }
  const Link* broken = report.broken();
  return json_report({{"format", kReportFormat},
                      {"subject", report.subject},
                      {"stopsAt", broken == nullptr ? "" : key_of(*broken)},
                      {"links", std::move(links)},
                      {"cause", report.cause},
                      {"remedy", report.remedy},
                      {"command", report.command}});
}

}  // namespace cdom::plugin
