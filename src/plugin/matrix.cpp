#include "compute_domain/plugin/matrix.h"

#include <map>
#include <set>

#include "compute_domain/core/slots.h"
#include "plugin/facts.h"
#include "plugin/reports.h"

namespace cdom::plugin {

namespace {

using Members = std::vector<const core::MemberView*>;

// What a member's daemon reports of the others.
struct Reported {
  bool has_daemon = true;  // that is READY
  std::set<std::string> unreachable;
  std::set<std::int64_t> connected;
};

// Of one without a report that could be believed nothing is known.
Reported reported_by(const Facts& facts, const DomainFacts& domain,
                     const core::MemberView& member) {
  const api::ComputeDomainNode* node = facts.report(member.membership.node);
  if (node == nullptr || facts.doubt_of(member.membership.node)) return {};
  const std::string group =
      core::group_id(core::group_of(domain.object->meta.uid, member.membership));
  const api::ImexGroupReport* report = api::find_group(node->status, group);
  if (report == nullptr || report->state != api::DaemonState::Ready) return {.has_daemon = false};
  return Reported{.unreachable = {report->unreachable.begin(), report->unreachable.end()},
                  .connected = core::parse_slot_ranges(report->connected)};
}

Reach reach_of(const core::MemberView& from, const Reported& reported, const core::MemberView& to) {
  const std::string& other = to.membership.node;
  if (from.membership.node == other) return Reach::Self;
  if (!reported.has_daemon) return Reach::NotReady;
  if (reported.unreachable.contains(other)) return Reach::Unreachable;
  return reported.connected.contains(to.slot) ? Reach::Connected : Reach::NotReported;
}

ReachGroup group_of(const Facts& facts, const DomainFacts& domain, const std::string& clique,
                    const Members& members) {
  ReachGroup group{.clique = clique, .nodes = {}, .cells = {}};
  group.nodes.reserve(members.size());
  group.cells.reserve(members.size());
  for (const core::MemberView* from : members) {
    group.nodes.push_back(from->membership.node);
    const Reported reported = reported_by(facts, domain, *from);
    std::vector<Reach>& row = group.cells.emplace_back();
    row.reserve(members.size());
    for (const core::MemberView* to : members) row.push_back(reach_of(*from, reported, *to));
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
  return matrix_of(facts, facts.facts_of(*object));
}

MatrixReport matrix_of(const Facts& facts, const DomainFacts& domain) {
  MatrixReport report;
  report.domain = api::to_string(api::name_of(domain.object->meta));
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
