// The ComputeDomains of a page: a line each, and behind it who reaches whom and the timeline.
#include <algorithm>
#include <map>
#include <tuple>

#include "compute_domain/core/reasons.h"
#include "compute_domain/core/status.h"
#include "plugin/page/parts.h"

namespace cdom::plugin::page {

namespace {

// Domains that find no room before no other is tried.
constexpr std::size_t kMostMisses = 20;

DomainState domain_state(const DomainFacts& facts) {
  if (facts.object->meta.is_deleting()) return DomainState::Ending;
  const api::Condition* ready = facts.condition(core::kConditionReady);
  if (ready == nullptr) return DomainState::Forming;
  if (ready->status == api::ConditionStatus::True) return DomainState::Ready;
  const auto reason = core::Reason::find(ready->reason);
  const bool is_calm = reason && (reason->row().severity <= core::Severity::Forming);
  return is_calm ? DomainState::Forming : DomainState::Trouble;
}

DomainHead head_of(const Facts& facts, const api::ComputeDomain& object) {
  const DomainFacts domain = facts.facts_of(object);
  DomainHead head{.object = &object,
                  .name = api::to_string(api::name_of(object.meta)),
                  .state = domain_state(domain)};
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
    case DomainState::Ending:
      return 1;
    case DomainState::Forming:
      return 2;
    case DomainState::Ready:
      return 3;
  }
  return 3;
}

Literal class_of(DomainState state) {
  switch (state) {
    case DomainState::Trouble:
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
    case DomainState::Ending:
      return "being deleted";
    case DomainState::Forming:
      return "forming";
    case DomainState::Ready:
      return "Ready";
  }
  return "";
}

Html domain_html(const Facts& facts, const DomainHead& head, bool is_open) {
  const DomainFacts domain = facts.facts_of(*head.object);
  Html html;
  html << "<details class=\"part cd\"" << (is_open ? Literal(" open") : Literal(""))
       << "><summary><span class=\"sign " << class_of(head.state) << "\"></span><h3>"
       << name(head.name) << "</h3><span class=\"fact\"><b>" << words_of(head.state) << "</b>";
  if (!head.ready_nodes.empty()) html << " " << name(head.ready_nodes) << " nodes";
  html << "</span><span class=\"fact msg\">";
  if (head.state != DomainState::Ready) html << name(head.reason);
  html << "</span></summary>\n<div class=\"in\" id=\"" << domain_id(head) << "\">\n";
  if (!head.message.empty()) html << "<p>" << message(head.message) << "</p>\n";
  html << matrix_html(matrix_of(facts, domain))
       << timeline_html(timeline_of(facts, domain), facts.now());
  return html << "</div></details>\n";
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

Html domains_html(const Facts& facts, const std::vector<DomainHead>& domains, std::size_t room) {
  Html html;
  html
      << "<section id=\"domains\" aria-labelledby=\"h-domains\"><h2 id=\"h-domains\">ComputeDomains"
         "</h2>\n";
  if (domains.empty()) html << "<p>There is none.</p>\n";
  std::map<std::size_t, Html> pieces;  // by place
  std::size_t size = html.size(), misses = 0;
  for (const std::size_t place : fair_order(domains)) {
    // Smaller ones may still find room; of very many not each is tried.
    if (misses == kMostMisses) break;
    Html piece = domain_html(facts, domains[place], domains.size() == 1);
    if (size + piece.size() > room) {
      ++misses;
    } else {
      size += piece.size();
      pieces.emplace(place, std::move(piece));
    }
  }
  for (const auto& [place, piece] : pieces) html << piece;
  html << left_out(
      domains.size() - pieces.size(),
      "ComputeDomains: `kubectl compute-domain matrix NAME --html FILE` has the page of "
      "one");
  return html << "</section>\n";
}

Html domain_id(const DomainHead& head) {
  Html html;
  return html << "d" << head.number;
}

}  // namespace cdom::plugin::page
