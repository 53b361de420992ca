#include "compute_domain/core/status.h"

#include <algorithm>
#include <map>

#include "compute_domain/api/kind.h"
#include "compute_domain/base/text.h"
#include "compute_domain/core/templates.h"
#include "core/domain/accusations.h"
#include "core/domain/waiting_words.h"

namespace cdom::core {

namespace {

using base::cat;

constexpr Reason kMembersNotConnected = "MembersNotConnected";
constexpr Reason kUnreachable = "Unreachable";

struct Finding {
  api::ConditionStatus status = api::ConditionStatus::False;
  Reason reason;
  std::string message;
};

std::size_t ready_count(const Readiness& readiness) {
  return static_cast<std::size_t>(
      std::ranges::count(readiness.members, MemberState("Ready"), &MemberView::state));
}

std::int64_t expected_count(const api::ComputeDomain& domain, const Readiness& readiness) {
  return std::max<std::int64_t>(domain.spec.num_nodes, std::ssize(readiness.members));
}

// Members that lack the same, by name.
struct Lack {
  MemberState state;
  std::string detail;
  std::vector<std::string> nodes;
};

// The worst comes first. What is wrong in one member is not reported again for another.
std::vector<Lack> lacks_of(const Readiness& readiness) {
  std::vector<const MemberView*> members;
  members.reserve(readiness.members.size());
  for (const MemberView& member : readiness.members) {
    if (member.state != "Ready") members.push_back(&member);
  }
  std::ranges::stable_sort(members, [](const MemberView* a, const MemberView* b) {
    return a->state.is_worse_than(b->state);
  });
  std::vector<Lack> lacks;
  for (const MemberView* member : members) {
    const auto is_same = [&](const Lack& lack) {
      return lack.state == member->state && lack.detail == member->detail;
    };
    auto same = std::ranges::find_if(lacks, is_same);
    if (same == lacks.end()) same = lacks.insert(same, {member->state, member->detail, {}});
    same->nodes.push_back(member->membership.node);
  }
  return lacks;
}

std::optional<Finding> finding_on_members(const Readiness& readiness,
                                          const std::vector<Lack>& lacks) {
  if (lacks.empty()) return std::nullopt;
  constexpr std::size_t kMostLacks = 3;
  std::string message =
      cat(ready_count(readiness), " of ", readiness.members.size(), " nodes ready");
  std::size_t left = 0;
  for (std::size_t i = 0; i < lacks.size(); ++i) {
    if (i >= kMostLacks) {
      left += lacks[i].nodes.size();
      continue;
    }
    message += cat("; ", base::list_names(lacks[i].nodes), ": ", lacks[i].detail);
  }
  if (left > 0) message += cat("; and ", left, left == 1 ? " more node" : " more nodes");
  return Finding{api::ConditionStatus::False, lacks.front().state, message};
}

// Whether the status already reports that members are not connected.
bool has_reported_pairs(const World& world) {
  const auto& status = world.view.domain->status;
  const auto* ready = status ? api::find_condition(status->conditions, kConditionReady) : nullptr;
  return ready != nullptr &&
         (ready->reason == kMembersNotConnected.name() || ready->reason == kUnreachable.name());
}

// Who complains first may be the one that is lost, and has seen its first loss. So nobody is
// accused before the pairs are reported: an accusation is a detail then, and the pace of the status
// holds it back for its interval.
Finding finding_on_pairs(const World& world, const Readiness& readiness) {
  const std::vector<std::string> lines = accusations(readiness);
  if (lines.empty()) {
    const OpenPair& first = readiness.open_pairs.front();
    return {api::ConditionStatus::False, "Connecting",
            readiness.open_pairs.size() == 1
                ? cat("nodes ", first.from, " and ", first.to, " are not connected yet")
                : cat(readiness.open_pairs.size(),
                      " pairs of nodes are not connected yet, the first: ", first.from, " and ",
                      first.to)};
  }
  return {api::ConditionStatus::False, kMembersNotConnected,
          cat(has_reported_pairs(world) ? base::join(lines, ", ") : complaints(readiness),
              "; check TCP port 50000 between the compute-domain-imex pods of these nodes")};
}

// Members whose claims were made for another clique than the domain has now.
std::vector<std::string> members_elsewhere(const World& world, const Readiness& readiness) {
  std::vector<std::string> nodes;
  if (!world.reservation) return nodes;
  for (const MemberView& member : readiness.members) {
    const auto& clique = member.membership.clique;
    if (clique && *clique != world.reservation->clique) nodes.push_back(member.membership.node);
  }
  return nodes;
}

// Until this process has looked for a clique, what was reported before stands.
Finding placement_finding(const World& world, const Readiness& readiness) {
  const auto& status = world.view.domain->status;
  const auto* before = status ? api::find_condition(status->conditions, kConditionPlaced) : nullptr;
  if (!world.placement && before != nullptr) {
    return {before->status, Reason::find(before->reason).value_or(Reason("Choosing")),
            before->message};
  }
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

std::map<std::string, std::int64_t> members_by_clique(const Readiness& readiness) {
  std::map<std::string, std::int64_t> counts;
  for (const MemberView& member : readiness.members) {
    if (member.membership.clique) ++counts[*member.membership.clique];
  }
  return counts;
}

// "3 nodes are", "1 node is".
std::string nodes_are(std::int64_t count) {
  return cat(count, count == 1 ? " node is" : " nodes are");
}

// Only members of one clique are connected.
std::string ready_text(const Readiness& readiness) {
  const auto count = std::ssize(readiness.members);
  std::map<std::string, std::int64_t> cliques = members_by_clique(readiness);
  const auto without = cliques.extract("");
  if (cliques.empty()) {
    return count == 1 ? "1 node is ready; it has no NVLink fabric"
                      : cat(count,
                            " nodes are ready; none has an NVLink fabric, so they share no "
                            "memory: choose nodes that have one");
  }
  if (cliques.size() == 1 && without.empty()) {
    if (count == 1) return "1 node is ready";
    return cat(nodes_are(count), readiness.host_managed
                                     ? " ready; their hosts' own IMEX daemons connect them"
                                     : " ready and connected");
  }
  std::vector<std::string> sizes;
  sizes.reserve(cliques.size());
  for (const auto& [clique, size] : cliques) sizes.push_back(std::to_string(size));
  const std::string in_cliques =
      cat(cliques.size(), cliques.size() == 1 ? " clique (" : " cliques (",
          base::join(sizes, " + "), ")");
  if (without.empty()) {
    return cat(
        nodes_are(count), " ready in ", in_cliques,
        "; no memory is shared between cliques: spec.placement.clique Single keeps pods in one");
  }
  return cat(nodes_are(count), " ready, in ", in_cliques, " and ", without.mapped(),
             " without an NVLink fabric; memory is shared within a clique only");
}

// An automatic domain has its pods: their claims come.
std::string no_pods_text(const api::ComputeDomainSpec& spec, const TemplateVerdict& verdict) {
  const bool can_pods_name_it = verdict.what == TemplateVerdict::What::Ready && !spec.workload;
  return cat("no pod has a claim of this domain yet",
             can_pods_name_it && spec.channel
                 ? cat("; pods get one by resourceClaimTemplateName: ", spec.channel->template_name)
                 : "");
}

Finding ready_finding(const World& world, const Readiness& readiness,
                      const TemplateVerdict& verdict, const WaitsFor& waits_for) {
  const api::ComputeDomain& domain = *world.view.domain;
  if (domain.meta.is_deleting()) {
    return {api::ConditionStatus::False, "Deleting",
            waits_for.empty() ? "is being deleted"
                              : cat("waits for ", base::list_names(waits_for.what),
                                    waits_for.remedy.empty() ? "" : ": ", waits_for.remedy)};
  }
  if (world.view.has_predecessor) {
    return {api::ConditionStatus::Unknown, kServedByPredecessor,
            waits_for.empty()
                ? "removing objects left by NVIDIA's DRA driver"
                : cat("NVIDIA's DRA driver serves it; new pods wait until these are gone: ",
                      base::list_names(waits_for.what))};
  }
  if (is_refused(domain)) {
    return {api::ConditionStatus::False, "PlacementUnsupported",
            placement_finding(world, readiness).message};
  }
  using What = TemplateVerdict::What;
  if (readiness.members.empty() &&
      (verdict.what == What::NameTaken || verdict.what == What::NameInvalid)) {
    return {api::ConditionStatus::False,
            verdict.what == What::NameTaken ? Reason("TemplateNameTaken")
                                            : Reason("InvalidTemplateName"),
            verdict.message};
  }
  if (readiness.members.empty() && verdict.what == What::NotPlaced) {
    return {api::ConditionStatus::False, "NotPlaced", placement_finding(world, readiness).message};
  }
  const std::vector<Lack> lacks = lacks_of(readiness);
  std::vector<Lack> severe = lacks;
  std::erase_if(severe, [](const Lack& lack) { return !lack.state.is_severe(); });
  if (auto finding = finding_on_members(readiness, severe)) return *std::move(finding);
  const auto count = std::ssize(readiness.members);
  const std::string waiting = waiting_text(world);
  if (count == 0) {
    return {api::ConditionStatus::False, "WaitingForPods",
            waiting.empty() ? no_pods_text(domain.spec, verdict) : waiting};
  }
  if (count < domain.spec.num_nodes) {
    return {api::ConditionStatus::False, "WaitingForNodes",
            cat(count, " of ", domain.spec.num_nodes, " nodes have a pod with a claim, ",
                ready_count(readiness), " of them ready; ",
                waiting.empty() ? "create the pods that are missing, or lower spec.numNodes"
                                : waiting)};
  }
  std::optional<Finding> lacking = finding_on_members(readiness, lacks);
  if (!lacking && !readiness.open_pairs.empty()) lacking = finding_on_pairs(world, readiness);
  Finding finding =
      lacking.value_or(Finding{api::ConditionStatus::True, "AllNodesReady", ready_text(readiness)});
  // More nodes than spec.numNodes may be wanted.
  if (!waiting.empty()) finding.message += cat("; ", waiting);
  return finding;
}

// An answer of the API server may quote whole objects: it is cut at this many bytes.
constexpr std::size_t kLongestRefusal = 1000;

std::optional<Finding> refusal_finding(const World& world) {
  if (world.refusals.empty() && world.failures.empty()) return std::nullopt;
  std::vector<std::string> texts;
  for (const std::string& text : world.refusals)
    texts.push_back(base::shortened(text, kLongestRefusal));
  for (const LastingFailure& failure : world.failures) {
    texts.push_back(cat(base::shortened(failure.what, kLongestRefusal), " (it has failed since ",
                        base::to_rfc3339(failure.since), ")"));
  }
  const char* remedy = world.refusals.empty() ? "look for an admission webhook that does not answer"
                                              : "change what refuses it";
  return Finding{
      api::ConditionStatus::False, "WriteRefused",
      cat("cannot go on: ", base::join(texts, "; "), "; it is tried again; if it lasts, ", remedy)};
}

Finding with_refusals(const World& world, Finding ready) {
  const auto refused = refusal_finding(world);
  if (!refused || ready.status == api::ConditionStatus::True) return ready;
  if (!ready.reason.is_severe() && ready.reason != kServedByPredecessor) return *refused;
  ready.message += cat("; ", refused->message);
  return ready;
}

std::optional<Finding> template_finding(const TemplateVerdict& verdict) {
  using What = TemplateVerdict::What;
  switch (verdict.what) {
    case What::NotWanted:
      return std::nullopt;
    case What::Ready:
      return Finding{api::ConditionStatus::True, "Created", verdict.message};
    case What::Missing:
    case What::Inherited:
      return Finding{api::ConditionStatus::False, "Pending", verdict.message};
    case What::NotPlaced:
      return Finding{api::ConditionStatus::False, "NotPlaced", verdict.message};
    case What::Outdated:
      return Finding{api::ConditionStatus::False, "Pending", verdict.message};
    case What::NameTaken:
      return Finding{api::ConditionStatus::False, "TemplateNameTaken", verdict.message};
    case What::NameInvalid:
      return Finding{api::ConditionStatus::False, "InvalidTemplateName", verdict.message};
    case What::BeingDeleted:
      return Finding{api::ConditionStatus::False, "BeingDeleted", verdict.message};
  }
  return std::nullopt;
}

std::optional<Finding> clique_finding(const std::map<std::string, std::int64_t>& counts) {
  if (counts.empty()) return std::nullopt;
  if (counts.size() == 1) {
    const auto& [clique, count] = *counts.begin();
    if (clique.empty() && count > 1) {
      return Finding{api::ConditionStatus::False, "NoFabric",
                     "no node has an NVLink fabric, so they share no memory"};
    }
    return Finding{api::ConditionStatus::True, "OneClique",
                   clique.empty() ? "the only node has no NVLink fabric"
                                  : cat("all nodes are in clique ", clique)};
  }
  std::vector<std::string> parts;
  parts.reserve(counts.size());
  for (const auto& [clique, count] : counts) {
    parts.push_back(
        cat(clique.empty() ? "no fabric" : clique, " (", count, count == 1 ? " node)" : " nodes)"));
  }
  return Finding{api::ConditionStatus::False, "SeveralCliques",
                 cat("nodes of different cliques share no memory: ", base::list_names(parts))};
}

// As the definition bounds it (metav1.Condition).
constexpr std::size_t kMostInMessage = 32768;

void set_condition(std::vector<api::Condition>& conditions, const std::string& type,
                   const std::optional<Finding>& finding, const World& world) {
  const auto it = std::ranges::find(conditions, type, &api::Condition::type);
  if (!finding) {
    if (it != conditions.end()) conditions.erase(it);
    return;
  }
  api::Condition condition{.type = type,
                           .status = finding->status,
                           .reason = std::string(finding->reason.name()),
                           .message = base::shortened(finding->message, kMostInMessage),
                           .last_transition = std::chrono::floor<std::chrono::seconds>(world.now),
                           .observed_generation = world.view.domain->meta.generation};
  if (it == conditions.end()) {
    conditions.push_back(std::move(condition));
  } else {
    if (it->status == condition.status) condition.last_transition = it->last_transition;
    *it = std::move(condition);
  }
}

// A reservation that is lost is made again of the template, if this still says that it was placed.
std::string placed_clique(const World& world) {
  if (world.reservation) return world.reservation->clique;
  const auto& status = world.view.domain->status;
  const bool is_asked_for = status && std::ranges::any_of(world.templates, [&](const auto& object) {
                              const auto made = placement_of(object);
                              return is_owned_by(object.meta, world.view.uid) && made &&
                                     made->clique == status->placed_clique;
                            });
  return is_asked_for ? status->placed_clique : "";
}

}  // namespace

api::ComputeDomainStatus computed_status(const World& world, const Readiness& readiness,
                                         const TemplateVerdict& verdict,
                                         const WaitsFor& waits_for) {
  const api::ComputeDomain& domain = *world.view.domain;
  const Finding ready = with_refusals(world, ready_finding(world, readiness, verdict, waits_for));
  const std::map<std::string, std::int64_t> cliques = members_by_clique(readiness);

  api::ComputeDomainStatus status;
  status.ready = ready.status == api::ConditionStatus::True;
  status.observed_generation = domain.meta.generation;
  status.ready_nodes = cat(ready_count(readiness), "/", expected_count(domain, readiness));
  status.cliques = std::ssize(cliques) - (cliques.contains("") ? 1 : 0);
  for (const MemberView& member : readiness.members) {
    const bool is_ready = member.state == "Ready";
    status.nodes.push_back({.name = member.membership.node,
                            .ip_address = member.address,
                            .clique = member.membership.clique.value_or(""),
                            .index = member.slot,
                            .channel = member.channel,
                            .ready = is_ready,
                            .reason = is_ready ? "" : std::string(member.state.name()),
                            .message = is_ready ? "" : base::shortened(member.detail, 1024),
                            .restarts = member.restarts,
                            .last_failure = member.last_failure,
                            .last_loss = member.last_loss});
  }
  if (world.view.has_predecessor && domain.status) status.nodes = domain.status->nodes;
  // Conditions of other writers stay as they are.
  if (domain.status) status.conditions = domain.status->conditions;
  set_condition(status.conditions, kConditionReady, ready, world);
  set_condition(status.conditions, kConditionTemplate, template_finding(verdict), world);
  set_condition(status.conditions, kConditionCliques, clique_finding(cliques), world);
  set_condition(status.conditions, kConditionWrites, refusal_finding(world), world);
  if (api::wants_one_clique(domain)) {
    status.placed_clique = placed_clique(world);
    set_condition(status.conditions, kConditionPlaced, placement_finding(world, readiness), world);
  }
  std::ranges::sort(status.conditions, {}, &api::Condition::type);
  return status;
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
