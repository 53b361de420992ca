#include "compute_domain/core/status.h"

#include <algorithm>
#include <map>

#include "compute_domain/api/kind.h"
#include "compute_domain/base/text.h"

namespace cdom::core {

namespace {

using base::cat;

struct Finding {
  api::ConditionStatus status = api::ConditionStatus::False;
  std::string reason;
  std::string message;
};

// From the worst to what is normal while a domain forms.
constexpr MemberState kBySeverity[] = {
    MemberState::Failed,       MemberState::NodeUnknown, MemberState::Rebooted,
    MemberState::AgentUnknown, MemberState::Unreachable, MemberState::WrongTable,
    MemberState::NoSlot,       MemberState::NoChannel,   MemberState::Apart,
    MemberState::Recovering,   MemberState::NotReported, MemberState::Starting};

bool is_normal_while_forming(MemberState state) {
  return state == MemberState::Ready || state == MemberState::Starting ||
         state == MemberState::NotReported;
}

bool is_severe(std::string_view reason) {
  for (const MemberState state : kBySeverity) {
    if (!is_normal_while_forming(state) && to_string(state) == reason) return true;
  }
  return reason == "MembersNotConnected" || reason == "Deleting";
}

// Why a domain may stop being Ready without anything being wrong: its pods end. (A daemon that
// fails says so; one that has stopped, or starts, does as it was told.)
bool is_calm(std::string_view reason) {
  return reason == to_string(MemberState::Starting) || reason == "WaitingForPods" ||
         reason == "WaitingForNodes" || reason == kServedByPredecessor;
}

std::size_t ready_count(const Readiness& readiness) {
  return static_cast<std::size_t>(
      std::ranges::count(readiness.members, MemberState::Ready, &MemberView::state));
}

std::int64_t expected_count(const api::ComputeDomain& domain, const Readiness& readiness) {
  return std::max<std::int64_t>(domain.spec.num_nodes, std::ssize(readiness.members));
}

// The worst state that a member is in, with the members in it and what the first of them needs.
Finding finding_on_members(const Readiness& readiness, bool severe_only) {
  for (const MemberState state : kBySeverity) {
    if (severe_only && is_normal_while_forming(state)) continue;
    std::vector<std::string> nodes;
    std::string detail;
    for (const MemberView& member : readiness.members) {
      if (member.state != state) continue;
      if (nodes.empty()) detail = member.detail;
      nodes.push_back(member.membership.node);
    }
    if (nodes.empty()) continue;
    return {api::ConditionStatus::False, std::string(to_string(state)),
            cat(ready_count(readiness), " of ", readiness.members.size(), " nodes ready; ",
                base::list_names(nodes), ": ", detail)};
  }
  return {};
}

Finding finding_on_pairs(const Readiness& readiness) {
  std::map<std::string, std::vector<std::string>> told;
  for (const OpenPair& pair : readiness.open_pairs) {
    if (pair.told) told[pair.from].push_back(pair.to);
  }
  if (told.empty()) {
    const OpenPair& first = readiness.open_pairs.front();
    return {api::ConditionStatus::False, "Connecting",
            cat(readiness.open_pairs.size(), " pairs of nodes are not connected yet, the first: ",
                first.from, " and ", first.to)};
  }
  std::vector<std::string> lines;
  lines.reserve(told.size());
  for (const auto& [from, to] : told) {
    lines.push_back(cat(from, " cannot reach ", base::list_names(to)));
  }
  return {api::ConditionStatus::False, "MembersNotConnected", base::list_names(lines, 3)};
}

// Members whose claims were made for another clique than the domain has now.
std::vector<std::string> members_elsewhere(const World& world, const Readiness& readiness) {
  std::vector<std::string> nodes;
  if (!world.promise) return nodes;
  for (const MemberView& member : readiness.members) {
    const auto& clique = member.membership.clique;
    if (clique && *clique != world.promise->clique) nodes.push_back(member.membership.node);
  }
  return nodes;
}

// Until this process has looked for a clique, what was told before stands.
Finding placement_finding(const World& world, const Readiness& readiness) {
  const auto& status = world.view.domain->status;
  const auto* told = status ? api::find_condition(status->conditions, kConditionPlaced) : nullptr;
  if (!world.placement && told != nullptr) return {told->status, told->reason, told->message};
  if (!world.placement) {
    return {api::ConditionStatus::Unknown, "Choosing", "a clique is being chosen"};
  }
  Finding finding{world.placement->holds ? api::ConditionStatus::True : api::ConditionStatus::False,
                  world.placement->reason, world.placement->message};
  if (const auto nodes = members_elsewhere(world, readiness); !nodes.empty()) {
    finding.status = api::ConditionStatus::False;
    finding.reason = "PodsElsewhere";
    finding.message += cat("; its pods on ", base::list_names(nodes),
                           " are in another clique: delete them, so that they get new claims");
    return finding;
  }
  std::vector<std::string> claims;
  for (const api::ResourceClaim* claim : former_claims(world)) claims.push_back(claim->meta.name);
  if (claims.empty()) return finding;
  finding.reason = "PodsOfFormerClique";
  finding.message +=
      cat("; claims that were made for the clique before wait for it: delete the "
          "pods of ",
          base::list_names(claims));
  return finding;
}

// Its nodes could be of any clique, which is not what was asked for: no list admits its claims.
bool is_refused(const api::ComputeDomain& domain) {
  return domain.spec.workload && api::wants_one_clique(domain);
}

Finding ready_finding(const World& world, const Readiness& readiness,
                      const TemplateVerdict& verdict, const WaitsFor& waits_for) {
  const api::ComputeDomain& domain = *world.view.domain;
  if (domain.meta.is_deleting()) {
    return {api::ConditionStatus::False, "Deleting",
            waits_for.empty()
                ? "is being deleted"
                : cat("is deleted once these are gone: ", base::list_names(waits_for))};
  }
  if (world.view.has_predecessor) {
    return {api::ConditionStatus::Unknown, kServedByPredecessor,
            waits_for.empty()
                ? "what the driver that was here before has left is being removed"
                : cat("the driver that was here before serves it, and pods that come now wait, "
                      "until these are gone: ",
                      base::list_names(waits_for))};
  }
  if (is_refused(domain)) {
    return {api::ConditionStatus::False, kPlacementUnsupported,
            placement_finding(world, readiness).message};
  }
  using What = TemplateVerdict::What;
  if (readiness.members.empty() &&
      (verdict.what == What::NameTaken || verdict.what == What::NameInvalid)) {
    return {api::ConditionStatus::False,
            verdict.what == What::NameTaken ? "TemplateNameTaken" : "InvalidTemplateName",
            verdict.message};
  }
  if (readiness.members.empty() && verdict.what == What::NotPlaced) {
    return {api::ConditionStatus::False, "NotPlaced", placement_finding(world, readiness).message};
  }
  if (Finding severe = finding_on_members(readiness, true); !severe.reason.empty()) return severe;
  const auto count = std::ssize(readiness.members);
  if (count == 0) {
    return {api::ConditionStatus::False, "WaitingForPods", "no pod has a claim of this domain yet"};
  }
  if (count < domain.spec.num_nodes) {
    return {api::ConditionStatus::False, "WaitingForNodes",
            cat(count, " of ", domain.spec.num_nodes, " nodes have a pod with a claim, ",
                ready_count(readiness), " of them ready")};
  }
  if (Finding forming = finding_on_members(readiness, false); !forming.reason.empty()) {
    return forming;
  }
  if (!readiness.open_pairs.empty()) return finding_on_pairs(readiness);
  return {api::ConditionStatus::True, "AllNodesReady",
          cat(count, count == 1 ? " node is" : " nodes are",
              readiness.host_managed ? " ready; their hosts' own IMEX daemons connect them"
                                     : " ready and connected")};
}

std::optional<Finding> template_finding(const TemplateVerdict& verdict) {
  using What = TemplateVerdict::What;
  switch (verdict.what) {
    case What::NotWanted:
      return std::nullopt;
    case What::Ready:
      return Finding{api::ConditionStatus::True, "Created", verdict.message};
    case What::Missing:
      return Finding{api::ConditionStatus::False, "Pending", verdict.message};
    case What::NotPlaced:
      return Finding{api::ConditionStatus::False, "NotPlaced", verdict.message};
    case What::Outdated:
      return Finding{api::ConditionStatus::False, "Pending", verdict.message};
    case What::NameTaken:
      return Finding{api::ConditionStatus::False, "NameTaken", verdict.message};
    case What::NameInvalid:
      return Finding{api::ConditionStatus::False, "InvalidName", verdict.message};
    case What::BeingDeleted:
      return Finding{api::ConditionStatus::False, "BeingDeleted", verdict.message};
  }
  return std::nullopt;
}

std::map<std::string, std::int64_t> members_by_clique(const Readiness& readiness) {
  std::map<std::string, std::int64_t> counts;
  for (const MemberView& member : readiness.members) {
    if (member.membership.clique) ++counts[*member.membership.clique];
  }
  return counts;
}

std::optional<Finding> clique_finding(const std::map<std::string, std::int64_t>& counts) {
  if (counts.empty()) return std::nullopt;
  if (counts.size() == 1) {
    const std::string& clique = counts.begin()->first;
    return Finding{
        api::ConditionStatus::True, "OneClique",
        clique.empty() ? "no node has an NVLink fabric" : cat("all nodes are in clique ", clique)};
  }
  std::vector<std::string> parts;
  parts.reserve(counts.size());
  for (const auto& [clique, count] : counts) {
    parts.push_back(cat(clique.empty() ? "no fabric" : clique, " (", count, " nodes)"));
  }
  return Finding{api::ConditionStatus::False, "SeveralCliques",
                 cat("nodes of different cliques share no memory: ", base::list_names(parts))};
}

void set_condition(std::vector<api::Condition>& conditions, const std::string& type,
                   const std::optional<Finding>& finding, const World& world) {
  const auto it = std::ranges::find(conditions, type, &api::Condition::type);
  if (!finding) {
    if (it != conditions.end()) conditions.erase(it);
    return;
  }
  api::Condition condition{.type = type,
                           .status = finding->status,
                           .reason = finding->reason,
                           .message = finding->message,
                           .last_transition = std::chrono::floor<std::chrono::seconds>(world.now),
                           .observed_generation = world.view.domain->meta.generation};
  if (it == conditions.end()) {
    conditions.push_back(std::move(condition));
  } else {
    if (it->status == condition.status) condition.last_transition = it->last_transition;
    *it = std::move(condition);
  }
}

// "NodeImexFailed", "NodeRebooted".
std::string reason_of_event(MemberState state) {
  const std::string_view name = to_string(state);
  return name.starts_with("Node") ? std::string(name) : cat("Node", name);
}

const api::ComputeDomainNodeStatus* find_node(const api::ComputeDomainStatus& status,
                                              std::string_view name) {
  const auto it = std::ranges::find(status.nodes, name, &api::ComputeDomainNodeStatus::name);
  return it == status.nodes.end() ? nullptr : &*it;
}

}  // namespace

api::ComputeDomainStatus computed_status(const World& world, const Readiness& readiness,
                                         const TemplateVerdict& verdict,
                                         const WaitsFor& waits_for) {
  const api::ComputeDomain& domain = *world.view.domain;
  const Finding ready = ready_finding(world, readiness, verdict, waits_for);
  const std::map<std::string, std::int64_t> cliques = members_by_clique(readiness);

  api::ComputeDomainStatus status;
  status.ready = ready.status == api::ConditionStatus::True;
  status.observed_generation = domain.meta.generation;
  status.ready_nodes = cat(ready_count(readiness), "/", expected_count(domain, readiness));
  status.cliques = std::ssize(cliques) - (cliques.contains("") ? 1 : 0);
  for (const MemberView& member : readiness.members) {
    status.nodes.push_back({.name = member.membership.node,
                            .ip_address = member.address,
                            .clique = member.membership.clique.value_or(""),
                            .index = member.slot,
                            .channel = member.channel,
                            .ready = member.state == MemberState::Ready});
  }
  if (world.view.has_predecessor && domain.status) status.nodes = domain.status->nodes;
  // Conditions of other writers stay as they are.
  if (domain.status) status.conditions = domain.status->conditions;
  set_condition(status.conditions, kConditionReady, ready, world);
  set_condition(status.conditions, kConditionTemplate, template_finding(verdict), world);
  set_condition(status.conditions, kConditionCliques, clique_finding(cliques), world);
  if (api::wants_one_clique(domain)) {
    status.placed_clique = world.promise ? world.promise->clique : "";
    set_condition(status.conditions, kConditionPlaced, placement_finding(world, readiness), world);
  }
  std::ranges::sort(status.conditions, {}, &api::Condition::type);
  return status;
}

std::vector<RecordEvent> events_for(const api::ComputeDomain& domain,
                                    const api::ComputeDomainStatus& before,
                                    const api::ComputeDomainStatus& after,
                                    const Readiness& readiness) {
  std::vector<RecordEvent> events;
  const auto record = [&](bool good, std::string reason, std::string message) {
    events.push_back(
        {reference_to(domain), good ? "Normal" : "Warning", std::move(reason), std::move(message)});
  };
  const api::Condition* was_ready = api::find_condition(before.conditions, kConditionReady);
  bool was_in_trouble = was_ready != nullptr && is_severe(was_ready->reason);
  for (const MemberView& member : readiness.members) {
    const api::ComputeDomainNodeStatus* old = find_node(before, member.membership.node);
    if (old == nullptr) continue;
    const bool ready = member.state == MemberState::Ready;
    if (old->ready && !ready) {
      record(is_calm(to_string(member.state)), reason_of_event(member.state),
             cat("node ", member.membership.node, ": ", member.detail));
    } else if (!old->ready && ready && was_in_trouble) {
      record(true, "NodeReady", cat("node ", member.membership.node, " is ready again"));
    }
  }
  for (const api::Condition& condition : after.conditions) {
    const bool is_ready = condition.type == kConditionReady;
    if (!is_ready && condition.type != kConditionTemplate && condition.type != kConditionCliques &&
        condition.type != kConditionPlaced) {
      continue;
    }
    const api::Condition* old = api::find_condition(before.conditions, condition.type);
    const bool good = condition.status == api::ConditionStatus::True;
    const bool changed = old == nullptr || old->status != condition.status;
    const bool reason_changed = old == nullptr || old->reason != condition.reason;
    // What is normal while a domain forms or waits is told by the status alone.
    const bool first_good_news = old == nullptr && good && !is_ready;
    const bool normal_bad_news =
        !good && is_ready && !is_severe(condition.reason) && (old == nullptr || !changed);
    const bool pending =
        condition.reason == "Choosing" ||
        (condition.type == kConditionTemplate &&
         (condition.reason == "Pending" || condition.reason == "NotPlaced"));  // as Placed tells
    if (first_good_news || normal_bad_news || pending) continue;
    if (changed || (reason_changed && !good)) {
      record(good || (is_ready && is_calm(condition.reason)),
             is_ready && good ? "Ready" : condition.reason, condition.message);
    }
  }
  return events;
}

std::vector<const api::ResourceClaim*> former_claims(const World& world) {
  std::vector<const api::ResourceClaim*> claims;
  if (!world.promise || !api::wants_one_clique(*world.view.domain)) return claims;
  for (const api::ResourceClaim& claim : world.view.claims) {
    if (standing_of(claim, world.view) != Standing::Pending) continue;
    const std::string clique = asked_clique(claim.spec);
    if (!clique.empty() && clique != world.promise->clique) claims.push_back(&claim);
  }
  std::ranges::sort(claims, {}, [](const auto* claim) { return claim->meta.name; });
  return claims;
}

api::ObjectReference reference_to(const api::ComputeDomain& domain) {
  return {"resource.nvidia.com/v1beta1", "ComputeDomain", domain.meta.ns, domain.meta.name,
          domain.meta.uid};
}

api::ObjectReference reference_to(const api::ResourceClaim& claim) {
  return {api::api_version_of(claim), "ResourceClaim", claim.meta.ns, claim.meta.name,
          claim.meta.uid};
}

}  // namespace cdom::core
