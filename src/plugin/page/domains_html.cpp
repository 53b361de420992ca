// The ComputeDomains of a page: a line each, and behind it who reaches whom and the timeline.
#include <algorithm>
#include <functional>
#include <map>
#include <span>
#include <tuple>

#include "compute_domain/core/reasons.h"
#include "compute_domain/core/status.h"
#include "plugin/page/parts.h"
#include "plugin/page/room.h"

namespace cdom::plugin::page {

namespace {

// Conditions that are written out; the API has fewer.
constexpr std::size_t kMostConditions = 8;

// How much a condition that is False weighs. The weight of another writer's is not known.
std::pair<core::Severity, bool> weight_of(const api::Condition& condition) {
  const auto reason = core::Reason::find(condition.reason);
  const bool is_ours = reason && reason->row().subject == core::Subject::Domain;
  if (!is_ours) return {core::Severity::Fine, false};
  // One without an Event only points at another condition.
  return {reason->row().severity, reason->row().event != core::EventType::None};
}

// Those beside Ready that are False, the worst first.
std::vector<api::Condition> other_conditions(const DomainFacts& facts) {
  std::vector<api::Condition> others;
  if (!facts.status) return others;
  for (const api::Condition& condition : facts.status->conditions) {
    const bool is_false = condition.status == api::ConditionStatus::False;
    if (is_false && condition.type != core::kConditionReady) others.push_back(condition);
  }
  std::ranges::stable_sort(others, std::greater(), weight_of);
  return others;
}

DomainState domain_state(const DomainFacts& facts, const std::vector<api::Condition>& others) {
  if (facts.object->meta.is_deleting()) return DomainState::Ending;
  const bool is_hindered =
      !others.empty() && weight_of(others.front()).first >= core::Severity::Blocked;
  const api::Condition* ready = facts.condition(core::kConditionReady);
  if (ready == nullptr) return is_hindered ? DomainState::Trouble : DomainState::Forming;
  if (ready->status == api::ConditionStatus::True) {
    return is_hindered ? DomainState::Hindered : DomainState::Ready;
  }
  const auto reason = core::Reason::find(ready->reason);
  const bool is_calm = reason && (reason->row().severity <= core::Severity::Forming);
  return is_calm && !is_hindered ? DomainState::Forming : DomainState::Trouble;
}

DomainHead head_of(const Facts& facts, const api::ComputeDomain& object) {
  const DomainFacts domain = facts.facts_of(object);
  DomainHead head{.object = &object, .name = api::to_string(api::name_of(object.meta))};
  head.others = other_conditions(domain);
  head.state = domain_state(domain, head.others);
  if (const api::Condition* ready = domain.condition(core::kConditionReady)) {
    head.reason = ready->reason;
    head.message = ready->message;
  }
  if (domain.status) head.ready_nodes = domain.status->ready_nodes;
  return head;
}

int rank_of(DomainState state) {
  switch (state) {
    case DomainState::Trouble:
      return 0;
    case DomainState::Hindered:
      return 1;
    case DomainState::Ending:
      return 2;
    case DomainState::Forming:
      return 3;
    case DomainState::Ready:
      return 4;
  }
  return 4;
}

Literal class_of(DomainState state) {
  switch (state) {
    case DomainState::Trouble:
    case DomainState::Hindered:
      return "s-t";
    case DomainState::Ending:
    case DomainState::Forming:
      return "s-w";
    case DomainState::Ready:
      return "s-ok";
  }
  return "";
}

Literal words_of(DomainState state) {
  switch (state) {
    case DomainState::Trouble:
      return "not Ready";
    case DomainState::Hindered:
      return "Ready, in trouble";
    case DomainState::Ending:
      return "being deleted";
    case DomainState::Forming:
      return "forming";
    case DomainState::Ready:
      return "Ready";
  }
  return "";
}

// What it is, and how it is.
Html facts_html(const DomainHead& head) {
  Html html;
  html << "<span class=\"sign " << class_of(head.state) << "\"></span><h3>" << name(head.name)
       << "</h3><span class=\"fact\"><b>" << words_of(head.state) << "</b>";
  if (!head.ready_nodes.empty()) html << " " << name(head.ready_nodes) << " nodes";
  html << "</span><span class=\"fact msg\">";
  if (!head.is_ready()) {
    html << name(head.reason);
  } else if (head.state == DomainState::Hindered) {
    html << name(head.others.front().reason);
  }
  return html << "</span>";
}

Html line_html(const DomainHead& head) {
  Html html;
  return html << "<div class=\"part bare\" id=\"" << domain_id(head) << "\">" << facts_html(head)
              << "</div>\n";
}

Html conditions_html(const std::vector<api::Condition>& others) {
  Html html;
  if (others.empty()) return html;
  const std::size_t shown = std::min(others.size(), kMostConditions);
  html << "<dl class=\"why\">\n";
  for (const api::Condition& condition : std::span(others).first(shown)) {
    html << "<div><dt>" << name(condition.type) << "</dt><dd>" << name(condition.reason) << ": "
         << message(condition.message) << "</dd></div>\n";
  }
  html << "</dl>\n";
  return html << left_out(others.size() - shown, "conditions that are False");
}

Html domain_html(const Facts& facts, const DomainHead& head, bool is_open, std::size_t room) {
  const DomainFacts domain = facts.facts_of(*head.object);
  const Html timeline = timeline_html(timeline_of(facts, domain), facts.now());
  Html html;
  html << "<details class=\"part cd\"" << (is_open ? Literal(" open") : Literal("")) << "><summary>"
       << facts_html(head) << "</summary>\n<div class=\"in\" id=\"" << domain_id(head) << "\">\n";
  if (!head.message.empty()) html << "<p>" << message(head.message) << "</p>\n";
  html << conditions_html(head.others);
  const Literal end = "</div></details>\n";
  const std::size_t taken = html.size() + timeline.size() + end.markup.size();
  return html << matrix_html(matrix_of(facts, domain), room - std::min(room, taken)) << timeline
              << end;
}

}  // namespace

std::vector<DomainHead> domain_heads(const Facts& facts) {
  std::vector<DomainHead> heads;
  heads.reserve(facts.view().domains.size());
  for (const api::ComputeDomain& object : facts.view().domains) {
    heads.push_back(head_of(facts, object));
  }
  std::ranges::stable_sort(
      heads, {}, [](const DomainHead& head) { return std::tuple(rank_of(head.state), head.name); });
  for (std::size_t i = 0; i < heads.size(); ++i) heads[i].number = i + 1;
  return heads;
}

std::vector<std::size_t> fair_order(const std::vector<DomainHead>& domains) {
  // By state, and by how many of the same namespace and state come before.
  std::map<std::pair<int, std::string>, std::size_t> before;
  std::vector<std::tuple<int, std::size_t, std::size_t>> order;
  order.reserve(domains.size());
  for (std::size_t place = 0; place < domains.size(); ++place) {
    const int rank = rank_of(domains[place].state);
    order.emplace_back(rank, before[{rank, domains[place].object->meta.ns}]++, place);
  }
  std::ranges::sort(order);
  std::vector<std::size_t> places;
  places.reserve(order.size());
  for (const auto& [rank, turn, place] : order) places.push_back(place);
  return places;
}

Section domains_html(const Facts& facts, const std::vector<DomainHead>& domains, std::size_t room) {
  Section section;
  Html& html = section.html;
  html
      << "<section id=\"domains\" aria-labelledby=\"h-domains\"><h2 id=\"h-domains\">ComputeDomains"
         "</h2>\n";
  if (domains.empty()) html << "<p>There is none.</p>\n";
  // One of many leaves room for others, however large it is.
  const bool is_alone = domains.size() == 1;
  const std::size_t rest = room - kSectionFrame;
  const Fitted parts = fitted(
      fair_order(domains), rest, [&](std::size_t place) { return line_html(domains[place]); },
      [&](std::size_t place) {
        return domain_html(facts, domains[place], is_alone, is_alone ? rest * 9 / 10 : rest / 4);
      });
  section.has_id.resize(domains.size());
  for (const auto& [place, piece] : parts.pieces) {
    section.has_id[place] = true;
    html << piece;
  }
  html << left_out(domains.size() - parts.whole,
                   "ComputeDomains with their matrix and timeline: `kubectl compute-domain matrix "
                   "NAME --html FILE` has the page of one")
       << left_out(domains.size() - parts.pieces.size(), "names of ComputeDomains")
       << "</section>\n";
  return section;
}

Html domain_id(const DomainHead& head) {
  Html html;
  return html << "d" << head.number;
}

}  // namespace cdom::plugin::page
