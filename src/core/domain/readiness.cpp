#include "compute_domain/core/readiness.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "compute_domain/api/names.h"
#include "compute_domain/base/text.h"
#include "compute_domain/core/channels.h"
#include "compute_domain/core/membership.h"
#include "compute_domain/core/memory_lost.h"
#include "compute_domain/core/node_lists.h"
#include "compute_domain/core/node_world.h"
#include "compute_domain/core/reconcile.h"
#include "compute_domain/core/slots.h"
#include "core/domain/node_doubt.h"
#include "core/imex_group/list_draft.h"

namespace cdom::core {

namespace {

using base::cat;

struct Verdict {
  MemberState state = "Ready";
  std::string detail = {};
};

// What is known of one member before anybody asks its peers.
struct Evidence {
  const NodeView* view = nullptr;
  const api::NodeList* list = nullptr;
  const api::NodeListEntry* entry = nullptr;
  const api::ImexGroupReport* report = nullptr;
  const std::string* table_hash = nullptr;  // of the list
};

const api::ComputeDomainNodeStatus* status_before(const World& world, const std::string& node) {
  if (!world.view.domain || !world.view.domain->status) return nullptr;
  const auto& nodes = world.view.domain->status->nodes;
  const auto it = std::ranges::find(nodes, node, &api::ComputeDomainNodeStatus::name);
  return it == nodes.end() ? nullptr : &*it;
}

// Its grace had ended already. A controller that has just started knows only this of it.
bool was_without_agent(const World& world, const std::string& node) {
  const api::ComputeDomainNodeStatus* before = status_before(world, node);
  return before != nullptr && before->reason == MemberState("AgentUnknown").name();
}

Verdict verdict_on_node(const Evidence& evidence, const std::string& node, const World& world) {
  const NodeView* view = evidence.view;
  if (auto doubt =
          doubt_of(view, node, world.settings.agent_grace, was_without_agent(world, node))) {
    return {doubt->state, std::move(doubt->detail)};
  }
  if (!view->report) {
    return {"NotReported",
            "there is no ComputeDomainNode; check that the compute-domain-agent runs there"};
  }
  return {};
}

// What a claim of the member waits for on its node, as kubelet is answered; "" when none is
// reported as pending.
std::string pending_reason(const Evidence& evidence, const Membership& membership) {
  if (evidence.view == nullptr || !evidence.view->report) return "";
  for (const api::PendingClaim& claim : evidence.view->report->status.pending_claims) {
    if (std::ranges::binary_search(membership.claims, claim.uid)) return claim.message;
  }
  return "";
}

// With what keeps the node from starting any daemon, where it reports that: another one may run
// there that is somebody else's, and the end of ours alone does not say so.
std::string with_imex_fault(const std::string& said, const NodeView& view) {
  const api::Condition* fault =
      view.report ? api::find_condition(view.report->status.conditions, kFaultImex) : nullptr;
  const bool is_news = fault != nullptr && fault->status == api::ConditionStatus::False &&
                       said.find(fault->message) == std::string::npos;
  return is_news ? cat(said, "; ", fault->message) : said;
}

Verdict verdict_on_daemon(const Evidence& evidence, const Membership& membership) {
  const api::ImexGroupReport* report = evidence.report;
  if (report == nullptr) {
    const std::string waits = pending_reason(evidence, membership);
    return {"Starting", with_imex_fault(cat("it has not prepared a claim yet",
                                            waits.empty() ? "" : ": ", waits),
                                        *evidence.view)};
  }
  const std::string& said = report->message;
  switch (report->state) {
    case api::DaemonState::None:
    case api::DaemonState::Starting:
      return {"Starting", said.empty() ? "its IMEX daemon is not READY yet" : said};
    case api::DaemonState::Stopped:
      return {"Starting", "its IMEX daemon has stopped; it starts with the next claim"};
    case api::DaemonState::Recovering:
      return {"Recovering",
              cat(said.empty() ? "its IMEX daemon waits for peers of an earlier run" : said,
                  "; delete the pods of the earlier run that still end")};
    case api::DaemonState::Failed:
      return {"ImexFailed", with_imex_fault(said.empty() ? "its IMEX daemon does not run" : said,
                                            *evidence.view)};
    case api::DaemonState::Ready:
      break;
  }
  if (report->slot != evidence.entry->slot || report->table_hash != *evidence.table_hash) {
    return {"WrongNodeTable",
            "its IMEX daemon runs with another node table; if this lasts, check the "
            "compute-domain-agent pod there"};
  }
  return {};
}

bool has_prepared(const Evidence& evidence, const Membership& membership) {
  return evidence.report != nullptr &&
         std::ranges::any_of(membership.claims, [&](const std::string& uid) {
           return std::ranges::find(evidence.report->claims, uid) != evidence.report->claims.end();
         });
}

// Whatever its daemon says: until kubelet has its claim no container of it starts.
Verdict verdict_on_claim(const Evidence& evidence, const Membership& membership) {
  if (has_prepared(evidence, membership)) return {};
  std::string said = pending_reason(evidence, membership);
  if (said.empty() && evidence.report != nullptr) said = evidence.report->message;
  return {"Starting", cat("its claim is not prepared yet", said.empty() ? "" : ": ", said)};
}

// The channel that containers of the member have, where that is another one.
std::optional<std::int64_t> other_channel(const Evidence& evidence, const Membership& membership,
                                          std::int64_t channel) {
  std::set<std::int64_t> numbers = parse_slot_ranges(evidence.report->channels);
  bool is_known = false;
  for (const api::ClaimChannel& claim : evidence.report->claim_channels) {
    if (!std::ranges::binary_search(membership.claims, claim.claim_uid)) continue;
    if (claim.channel != channel) return claim.channel;
    is_known = true;
  }
  // An older agent tells the channels of all claims together.
  if (is_known || numbers.contains(channel) || numbers.empty()) return std::nullopt;
  return *numbers.begin();
}

bool is_admitted(const Evidence& evidence, const Membership& membership) {
  return std::ranges::any_of(evidence.entry->admits, [&](const api::Admission& admission) {
    return std::ranges::binary_search(membership.claims, admission.claim_uid);
  });
}

std::string name_of(const World& world) {
  return world.view.domain ? api::to_string(api::name_of(world.view.domain->meta)) : "";
}

// The daemon runs before there is a claim, so its report alone says nothing about the domain.
Verdict verdict_on_channel(const Evidence& evidence, const Membership& membership,
                           const World& world) {
  const std::string& clique = evidence.list->clique;
  const auto channel = channel_of(*evidence.list, world.view.uid);
  if (!is_admitted(evidence, membership) &&
      !ListRoom(*evidence.list).take(membership.claims.front(), !channel, name_of(world))) {
    return {"NodeListFull", cat("the node list of clique ", clique,
                                " is full; delete pods or ComputeDomains that have ended")};
  }
  if (channel) {
    Verdict claim = verdict_on_claim(evidence, membership);
    if (claim.state != "Ready") return claim;
    const auto other = other_channel(evidence, membership, *channel);
    if (!other) return {};
    return {"WrongChannel",
            cat("its containers have IMEX channel ", *other, ", and the domain has channel ",
                *channel, " in clique ", clique, "; delete its pods, so that they are made again")};
  }
  if (!has_free_channel(*evidence.list, world.settings)) {
    return {"ChannelsUsedUp",
            cat("all ", usable_channels(world.settings), " IMEX channels of clique ", clique,
                " are taken; delete ComputeDomains that have ended")};
  }
  return {"Starting", "it has no channel yet"};
}

// With isolation by channel a node is in no node list before its clique is confirmed.
std::string unconfirmed_clique(const Evidence& evidence, const Membership& membership,
                               const World& world) {
  if (membership.isolation != api::Isolation::Channel || membership.clique->empty()) return "";
  if (evidence.entry != nullptr && evidence.entry->member) return "";
  // When the list is lost, the status remembers who was in it.
  const api::ComputeDomainNodeStatus* before = status_before(world, membership.node);
  const bool was_given =
      before != nullptr && before->channel > 0 && before->clique == membership.clique;
  if (evidence.list == nullptr && was_given) return "";
  return why_not_confirmed(evidence.view->node->meta, *membership.clique);
}

Verdict verdict_on(const Evidence& evidence, const Membership& membership, const World& world) {
  if (Verdict node = verdict_on_node(evidence, membership.node, world); node.state != "Ready") {
    return node;
  }
  if (membership.reports_too_many) {
    // The clique is left out: the message stays when the node says another one again.
    return {"TooManyCliques", cat("it has slots in ", kMostCliquesOfNode,
                                  " cliques of the domain and reports yet another one; unless its "
                                  "GPUs were repartitioned "
                                  "so often, find out who writes its ComputeDomainNode; then "
                                  "delete the ComputeDomain and "
                                  "create it again")};
  }
  if (!membership.clique) {
    const auto& report = evidence.view->report;
    const std::string error = report ? report->status.fabric_error : "";
    return {"NotReported", error.empty() ? "its clique is not known yet"
                                         : cat("its NVLink fabric cannot be read: ", error)};
  }
  if (std::string why = unconfirmed_clique(evidence, membership, world); !why.empty()) {
    return {"CliqueNotConfirmed", std::move(why)};
  }
  if (evidence.list == nullptr) return {"Starting", "its node list is not written yet"};
  if (evidence.list->slots == 0) {
    // Without a fabric there is no daemon: prepared is ready.
    return verdict_on_claim(evidence, membership);
  }
  const bool by_channel = membership.isolation == api::Isolation::Channel;
  if (evidence.entry == nullptr) {
    if (std::ssize(evidence.list->entries) >= evidence.list->slots) {
      return {"GroupFull", cat("the IMEX group has ", evidence.list->slots,
                               " slots and all are taken; use fewer nodes in one clique")};
    }
    return {"Starting", "it has no slot yet"};
  }
  if (std::string why = why_address_refused(*evidence.view, *evidence.list, *evidence.entry);
      !why.empty()) {
    return {"AddressRefused", std::move(why)};
  }
  Verdict verdict = verdict_on_daemon(evidence, membership);
  if (verdict.state != "Ready") return verdict;
  return by_channel ? verdict_on_channel(evidence, membership, world)
                    : verdict_on_claim(evidence, membership);
}

// What is not known now takes nothing back: when a list is lost, only the status remembers which
// slot and channel the node has.
void keep_what_was_given(MemberView& member, const World& world) {
  const api::ComputeDomainNodeStatus* before = status_before(world, member.membership.node);
  if (before == nullptr || before->index < 0) return;
  const auto& clique = member.membership.clique;
  const bool by_channel = member.membership.isolation == api::Isolation::Channel;
  if (clique && (*clique != before->clique || by_channel != (before->channel > 0))) return;
  member.membership.clique = before->clique;
  member.slot = before->index;
  member.channel = before->channel;
}

// Whether the member has part in the reported loss. A daemon may have users of other domains, and
// of this one that are gone: what its status tells of already it goes on telling.
bool has_part_in_loss(const MemberView& member, const api::ImexGroupReport& report,
                      const api::ComputeDomainNodeStatus* before) {
  using std::chrono::seconds;
  const bool is_known = before != nullptr && loss_of(*before) &&
                        std::chrono::floor<seconds>(loss_of(*before)->time) ==
                            std::chrono::floor<seconds>(report.last_loss->time);
  return is_known || std::ranges::any_of(report.lost_claims, [&](const std::string& uid) {
           return std::ranges::binary_search(member.membership.claims, uid);
         });
}

// A failure stays reported while the node says nothing about the group.
void note_failures(MemberView& member, const api::ImexGroupReport* report, const World& world) {
  const auto* before = status_before(world, member.membership.node);
  if (report != nullptr) {
    member.restarts = report->restarts;
    member.last_failure = report->last_failure;
    if (report->last_loss && !has_part_in_loss(member, *report, before)) {
      if (report->last_failure == report->last_loss) member.last_failure.reset();
    } else if (report->last_loss) {
      member.last_loss = report->last_loss;
      member.lost_claims = report->lost_claims;
      // A status whose definition is of before 0.2 keeps only that.
      if (!member.last_failure || member.last_failure->time <= member.last_loss->time) {
        member.last_failure = member.last_loss;
      }
    } else if (report->last_failure || !report->message.empty()) {
      // An older agent does not say which; what has only waited there has lost nothing.
      member.lost_claims = report->claims;
    }
    std::ranges::sort(member.lost_claims);
  } else if (before != nullptr) {
    member.restarts = before->restarts;
    member.last_failure = before->last_failure;
    member.last_loss = before->last_loss;
  }
}

// Daemons of different groups share no memory.
void set_apart(std::vector<MemberView>& members) {
  std::set<std::string> by_channel;
  for (const MemberView& member : members) {
    const Membership& of = member.membership;
    if (of.clique && of.isolation == api::Isolation::Channel) by_channel.insert(*of.clique);
  }
  for (MemberView& member : members) {
    const Membership& of = member.membership;
    if (!of.clique || of.clique->empty() || of.isolation == api::Isolation::Channel) continue;
    if (!by_channel.contains(*of.clique)) continue;
    member.state = "MixedIsolation";
    member.detail =
        "it still isolates by domain, others of its clique by channel: their daemons share no "
        "memory. It changes over when the last claim on it has ended: delete the pods on it, so "
        "that they are made again";
  }
}

// One ready member of a group, as its peers see it and as it sees them.
struct Peer {
  MemberView* member;
  std::set<std::int64_t> connected;
  const std::vector<std::string>* unreachable;

  [[nodiscard]] bool complains_of(const Peer& other) const {
    return std::ranges::find(*unreachable, other.member->membership.node) != unreachable->end();
  }
  [[nodiscard]] bool reaches(const Peer& other) const {
    return connected.contains(other.member->slot);
  }
};

void add_open_pairs(const std::vector<Peer>& peers, std::vector<OpenPair>& open) {
  for (std::size_t i = 0; i < peers.size(); ++i) {
    for (std::size_t j = i + 1; j < peers.size(); ++j) {
      const Peer& a = peers[i];
      const Peer& b = peers[j];
      const bool is_reported = a.complains_of(b) || b.complains_of(a);
      if (!is_reported && (a.reaches(b) || b.reaches(a))) continue;
      const bool from_b = is_reported && !a.complains_of(b);
      open.push_back({(from_b ? b : a).member->membership.node,
                      (from_b ? a : b).member->membership.node, is_reported});
    }
  }
}

// "2 of 3 members".
std::string share_text(std::size_t count, std::size_t of) {
  return cat(count, " of ", of, of == 1 ? " member" : " members");
}

std::string complaints_text(std::size_t complaints, std::size_t others) {
  return cat(share_text(complaints, others), " cannot reach its IMEX daemon");
}

std::string loss_text(const Peer& lost, const std::vector<Peer>& peers) {
  const std::size_t others = peers.size() - 1;
  std::size_t accusers = 0, accused = 0;
  for (const Peer& other : peers) {
    accusers += other.complains_of(lost) ? 1 : 0;
    accused += lost.complains_of(other) ? 1 : 0;
  }
  const std::string what = accusers >= accused || 2 * accusers >= others
                               ? complaints_text(accusers, others)
                               : cat("its IMEX daemon cannot reach ", share_text(accused, others));
  return what + "; check its network";
}

// The number of pairs of a member that are not connected, and how often it is the accused.
using Blame = std::pair<std::size_t, std::size_t>;

Blame blame_of(const Peer& peer, const std::vector<const Peer*>& peers) {
  Blame blame;
  for (const Peer* other : peers) {
    const bool is_accused = other->complains_of(peer);
    if (is_accused || peer.complains_of(*other)) ++blame.first;
    if (is_accused) ++blame.second;
  }
  return blame;
}

// A member that is not connected with most of the others is the one that is lost, not they. The
// worst goes first, with its complaints and those about it; then the rest is counted again. Between
// two members one complaint is enough. Among more, a single complaint blames nobody: the member
// that complains may be the lost one, and this its first loss.
void blame_the_lost(const std::vector<Peer>& peers) {
  std::vector<const Peer*> left;
  left.reserve(peers.size());
  for (const Peer& peer : peers) left.push_back(&peer);
  while (left.size() > 1) {
    std::vector<Blame> blames;
    blames.reserve(left.size());
    for (const Peer* peer : left) blames.push_back(blame_of(*peer, left));
    const Blame worst = *std::ranges::max_element(blames);
    if (2 * worst.first <= left.size() - 1) return;
    std::vector<const Peer*> others;
    for (std::size_t i = 0; i < left.size(); ++i) {
      if (blames[i] != worst) {
        others.push_back(left[i]);
        continue;
      }
      left[i]->member->state = "Unreachable";
      left[i]->member->detail = loss_text(*left[i], peers);
    }
    left = std::move(others);
  }
}

bool are_of_one_group(const Membership& a, const Membership& b) {
  return a.clique == b.clique && a.isolation == b.isolation;
}

// When a node is silent, its peers may know more of it.
void tell_complaints_of_silent(std::vector<MemberView>& members,
                               const std::vector<Evidence>& evidence) {
  for (MemberView& member : members) {
    if (member.state != "NodeUnknown" && member.state != "AgentUnknown") {
      continue;
    }
    std::size_t peers = 0, complaints = 0;
    for (std::size_t i = 0; i < members.size(); ++i) {
      if (members[i].state != "Ready" || evidence[i].report == nullptr) continue;
      if (!are_of_one_group(members[i].membership, member.membership)) continue;
      ++peers;
      const auto& unreachable = evidence[i].report->unreachable;
      if (std::ranges::find(unreachable, member.membership.node) != unreachable.end()) ++complaints;
    }
    if (complaints == 0) continue;
    member.detail += cat("; ", complaints_text(complaints, peers), " either");
  }
}

}  // namespace

Readiness readiness_of(const World& world, const std::vector<Membership>& memberships) {
  Readiness readiness;
  std::map<std::string, std::vector<std::size_t>> ready_by_group;
  std::map<const api::NodeList*, std::string> table_hashes;
  std::vector<Evidence> evidence;
  for (const Membership& membership : memberships) {
    if (!membership.counted) continue;
    MemberView member{
        .membership = membership, .state = "NotReported", .detail = {}, .slot = -1, .address = {}};
    Evidence known;
    if (const auto it = world.nodes.find(membership.node); it != world.nodes.end()) {
      known.view = &it->second;
    }
    member.address = reported_address(known.view);
    std::string group;
    if (membership.clique) {
      group = group_id(group_of(world.view.uid, membership));
      known.list = find_list(world.lists, group);
      if (known.list != nullptr) {
        known.entry = find_entry(*known.list, membership.node);
        const auto [hash, is_new] = table_hashes.try_emplace(known.list);
        if (is_new) hash->second = api::table_hash(*known.list);
        known.table_hash = &hash->second;
      }
      if (known.view != nullptr && known.view->report) {
        known.report = api::find_group(known.view->report->status, group);
      }
    }
    if (known.list != nullptr) {
      member.channel = channel_of(*known.list, world.view.uid).value_or(0);
    }
    if (known.entry != nullptr) {
      member.slot = known.entry->slot;
      if (!known.entry->address.empty()) member.address = known.entry->address;
    }
    if (known.list == nullptr) keep_what_was_given(member, world);
    note_failures(member, known.report, world);
    const Verdict verdict = verdict_on(known, membership, world);
    member.state = verdict.state;
    member.detail = verdict.detail;
    if (known.view != nullptr) {
      const auto left = agent_grace_left(*known.view, world.settings.agent_grace);
      if (left) readiness.look_again = std::min(readiness.look_again.value_or(*left), *left);
    }
    const bool host_managed =
        known.view != nullptr && known.view->report && known.view->report->status.host_managed;
    readiness.host_managed |= host_managed;
    if (member.state == "Ready" && known.list->slots > 0 && !host_managed) {
      ready_by_group[group].push_back(readiness.members.size());
    }
    readiness.members.push_back(std::move(member));
    evidence.push_back(known);
  }
  for (const auto& [group, indexes] : ready_by_group) {
    std::vector<Peer> peers;
    for (const std::size_t index : indexes) {
      const api::ImexGroupReport& report = *evidence[index].report;
      peers.push_back(
          {&readiness.members[index], parse_slot_ranges(report.connected), &report.unreachable});
    }
    add_open_pairs(peers, readiness.open_pairs);
    blame_the_lost(peers);
  }
  tell_complaints_of_silent(readiness.members, evidence);
  set_apart(readiness.members);
  return readiness;
}

}  // namespace cdom::core
