#include "compute_domain/plugin/matrix.h"

#include <algorithm>
#include <map>

#include "compute_domain/core/slots.h"
#include "plugin/facts.h"

namespace cdom::plugin {

namespace {

using Members = std::vector<const core::MemberView*>;

// What a member's daemon reports; null: nothing that could be believed.
const api::GroupReport* report_of(const Facts& facts, const DomainFacts& domain,
                                  const core::MemberView& member) {
  const api::ComputeDomainNode* node = facts.report(member.membership.node);
  if (node == nullptr || facts.doubt_of(member.membership.node)) return nullptr;
  const std::string group =
      core::group_id(core::group_of(domain.object->meta.uid, member.membership));
  const api::GroupReport* report = api::find_group(node->status, group);
  const bool is_ready = report != nullptr && report->state == api::DaemonState::Ready;
  return is_ready ? report : nullptr;
}

Reach reach_of(const core::MemberView& from, const api::GroupReport* report,
               const core::MemberView& to) {
  const std::string& other = to.membership.node;
  if (from.membership.node == other) return Reach::Self;
  if (report == nullptr) return Reach::NotReady;
  if (std::ranges::find(report->unreachable, other) != report->unreachable.end()) {
    return Reach::Unreachable;
  }
  return core::parse_slot_ranges(report->connected).contains(to.slot) ? Reach::Connected
                                                                      : Reach::NotReported;
}

ReachGroup group_of(const Facts& facts, const DomainFacts& domain, const std::string& clique,
                    const Members& members) {
  ReachGroup group{.clique = clique, .nodes = {}, .cells = {}};
  group.nodes.reserve(members.size());
  group.cells.reserve(members.size());
  for (const core::MemberView* from : members) {
    group.nodes.push_back(from->membership.node);
    const api::GroupReport* report = report_of(facts, domain, *from);
    std::vector<Reach>& row = group.cells.emplace_back();
    row.reserve(members.size());
    for (const core::MemberView* to : members) row.push_back(reach_of(*from, report, *to));
  }
  return group;
}

}  // namespace

std::string_view name_of(Reach reach) {
  switch (reach) {
    case Reach::Self:
      return "self";
    case Reach::Connected:
      return "connected";
    case Reach::Unreachable:
      return "unreachable";
    case Reach::NotReported:
      return "notReported";
    case Reach::NotReady:
      return "notReady";
  }
  return "";
}

base::Result<MatrixReport> matrix(const ClusterView& view, const api::ObjectName& name) {
  const Facts facts(view);
  const api::ComputeDomain* object = facts.domain(name);
  if (object == nullptr) return no_such_domain(view, name);
  const DomainFacts domain = facts.facts_of(*object);
  MatrixReport report;
  report.domain = api::to_string(name);
  report.host_managed = domain.readiness.host_managed;
  std::map<std::string, Members> by_clique;
  for (const core::MemberView& member : domain.readiness.members) {
    const auto& clique = member.membership.clique;
    if (!clique || clique->empty()) {
      report.others.push_back(member.membership.node);
    } else {
      by_clique[*clique].push_back(&member);
    }
  }
  report.groups.reserve(by_clique.size());
  for (const auto& [clique, members] : by_clique) {
    report.groups.push_back(group_of(facts, domain, clique, members));
  }
  return report;
}

}  // namespace cdom::plugin
