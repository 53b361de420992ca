#include "compute_domain/core/membership.h"

#include <algorithm>
#include <set>
#include <string_view>

#include "compute_domain/api/channel_config.h"
#include "compute_domain/api/domain_config.h"
#include "compute_domain/api/names.h"
#include "compute_domain/base/digest.h"
#include "compute_domain/base/text.h"
#include "compute_domain/core/channels.h"
#include "compute_domain/core/node_lists.h"

namespace cdom::core {

namespace {

bool asks_for_device(const api::ResourceClaimSpec& spec) {
  return std::ranges::any_of(spec.requests, [](const api::DeviceRequest& request) {
    return request.device_class == api::kChannelClass || request.device_class == api::kSharedClass;
  });
}

bool has_device(const api::Allocation& allocation) {
  return std::ranges::any_of(allocation.devices, [](const api::AllocatedDevice& device) {
    return device.driver == api::kDriver;
  });
}

template <class IsFit>
bool has_device_that(const api::ResourceClaim& claim, const IsFit& is_fit) {
  return claim.allocation &&
         std::ranges::any_of(claim.allocation->devices, [&](const auto& device) {
           return device.driver == api::kDriver && is_fit(device);
         });
}

// Whether the node's daemon serves the group, by its own report.
bool serves(const api::ComputeDomainNode& node, std::string_view group) {
  const api::ImexGroupReport* report = api::find_group(node.status, group);
  return report != nullptr && report->state != api::DaemonState::Stopped &&
         (report->state != api::DaemonState::None || !report->claims.empty());
}

// How much of a user's text is kept for an Event.
constexpr std::size_t kLongestQuote = 63;
std::string quoted(std::string text) { return base::shortened(std::move(text), kLongestQuote); }

// The API server makes UIDs of this form, and a label can hold them.
bool is_uid(std::string_view text) { return base::is_dns_label(text); }

bool admits_any(const api::NodeListEntry& entry, const std::vector<std::string>& claims) {
  return std::ranges::any_of(entry.admits, [&](const api::Admission& admission) {
    return std::ranges::find(claims, admission.claim_uid) != claims.end();
  });
}

// Until it is known where all of its pods are, a shared claim stays where it was admitted.
void add_admitted_nodes(const std::vector<StoredList>& lists, const std::string& claim,
                        std::vector<std::string>& nodes) {
  for (const StoredList& stored : lists) {
    if (!stored.list) continue;
    for (const api::NodeListEntry& entry : stored.list->entries) {
      const bool is_known = std::ranges::find(nodes, entry.node) != nodes.end();
      if (!is_known && admits_any(entry, {claim})) nodes.push_back(entry.node);
    }
  }
}

// Where pods are that cannot use the shared claim, it makes no member.
void drop_unusable(const api::ResourceClaim& claim, const NodeViews& views,
                   const std::vector<StoredList>& lists, std::vector<std::string>& nodes) {
  std::erase_if(nodes, [&](const std::string& node) {
    const auto it = views.find(node);
    const NodeView* view = it == views.end() ? nullptr : &it->second;
    const auto* report = view != nullptr && view->report ? &*view->report : nullptr;
    const auto* object = view != nullptr && view->node ? &*view->node : nullptr;
    return !is_usable_on(claim, node, report, object) &&
           std::ranges::none_of(
               lists, [&](const auto& list) { return keeps_on(list, claim, node, report); });
  });
}

// What was given to the node before: its entry in a node list of the domain, or the status.
void find_group_given(Membership& member, const DomainView& view,
                      const std::vector<StoredList>& lists) {
  for (const StoredList& stored : lists) {
    if (!stored.list || is_of_clique(stored.meta)) continue;
    const api::NodeListEntry* entry = find_entry(*stored.list, member.node);
    if (entry == nullptr || !entry->member) continue;
    if (!member.clique || stored.list->clique < *member.clique) member.clique = stored.list->clique;
    member.isolation = api::Isolation::Domain;
  }
  if (member.clique || !view.domain || !view.domain->status) return;
  for (const api::ComputeDomainNodeStatus& status : view.domain->status->nodes) {
    // Without a slot the status may only not have known the clique.
    if (status.name != member.node || status.index < 0) continue;
    member.clique = status.clique;
    member.isolation = status.channel > 0 ? api::Isolation::Channel : api::Isolation::Domain;
  }
}

// Slots of machines that bore the name before are not those of this one. Kubelet tells the boot,
// and no agent can.
bool is_of_this_boot(const api::NodeListEntry& entry, const NodeView* known) {
  if (known == nullptr || !known->node) return true;
  const std::string& boot = known->node->boot_id;
  return boot.empty() || entry.boot_id.empty() || entry.boot_id == boot;
}

// Whether the member would get a slot in one clique more than a node can have of a domain. Its
// slots in other cliques stay in their lists, so these are counted whatever the node says now.
// Without a fabric there are no slots, and one list for all.
bool is_one_too_many(const Membership& member, const std::vector<std::string_view>& has_slots_in) {
  if (member.isolation == api::Isolation::Channel || member.clique->empty()) return false;
  return has_slots_in.size() >= kMostCliquesOfNode &&
         std::ranges::find(has_slots_in, *member.clique) == has_slots_in.end();
}

// A node stays in the group that it serves. Else the group is that of its own report; until it has
// reported, the one that was given to it before: nobody else can tell its clique and isolation.
void find_group_of(Membership& member, const DomainView& view, const NodeViews& nodes,
                   const std::vector<StoredList>& lists) {
  const auto it = nodes.find(member.node);
  const NodeView* known = it == nodes.end() ? nullptr : &it->second;
  std::vector<std::string_view> has_slots_in;
  for (const StoredList& stored : lists) {
    if (!stored.list) continue;
    const api::NodeListEntry* entry = find_entry(*stored.list, member.node);
    if (entry == nullptr) continue;
    const bool of_clique = is_of_clique(stored.meta);
    const std::string& clique = stored.list->clique;
    if (!of_clique && !clique.empty() && is_of_this_boot(*entry, known)) {
      has_slots_in.emplace_back(clique);
    }
    const bool is_in =
        of_clique ? admits_any(*entry, member.claims)
                  : known != nullptr && known->report && serves(*known->report, stored.list->group);
    if (!is_in) continue;
    member.clique = clique;
    member.isolation = of_clique ? api::Isolation::Channel : api::Isolation::Domain;
    return;
  }
  if (known != nullptr && known->report) {
    member.clique = api::clique_of(known->report->status);
    if (member.clique) member.isolation = known->report->status.isolation;
  }
  if (!member.clique) {
    find_group_given(member, view, lists);
  } else if (is_one_too_many(member, has_slots_in)) {
    member.clique.reset();
    member.reports_too_many = true;
  }
}

}  // namespace

const api::OpaqueConfig* config_of_driver(const api::ResourceClaim& claim) {
  const api::OpaqueConfig* last = nullptr;
  for (const auto& config : claim.allocation ? claim.allocation->configs : claim.spec.configs) {
    if (config.driver == api::kDriver) last = &config;
  }
  return last;
}

// Later configs override earlier ones, and those of the claim come after those of the class.
DomainRef domain_ref_of(const api::ResourceClaim& claim) {
  if (claim.domain_ref) return *claim.domain_ref;
  if (claim.allocation && !has_device(*claim.allocation)) return {};
  bool has_domain_config = false, has_other = false;
  std::optional<std::string> uid;
  for (const auto& config : claim.allocation ? claim.allocation->configs : claim.spec.configs) {
    if (config.driver != api::kDriver) continue;
    api::ConfigWords words = api::config_words_in(config.parameters);
    if (words.domain_uid) uid = std::move(words.domain_uid);
    (words.kind == api::kDomainConfigKind ? has_domain_config : has_other) = true;
  }
  if (uid && has_domain_config) return {DomainRef::Kind::Contradictory, *std::move(uid)};
  if (uid && !is_uid(*uid)) return {DomainRef::Kind::Invalid, quoted(*std::move(uid))};
  if (uid) return {DomainRef::Kind::Named, *std::move(uid)};
  if (has_other) return {};
  const bool is_ours = claim.allocation || has_domain_config || asks_for_device(claim.spec);
  return {is_ours ? DomainRef::Kind::Automatic : DomainRef::Kind::None, {}};
}

std::optional<std::string> domain_of(const api::ResourceClaim& claim) {
  DomainRef ref = domain_ref_of(claim);
  if (ref.kind != DomainRef::Kind::Named) return std::nullopt;
  return std::move(ref.uid);
}

bool has_admin_access(const api::ResourceClaim& claim) {
  if (!claim.allocation) {
    return std::ranges::any_of(claim.spec.requests, &api::DeviceRequest::admin_access);
  }
  return std::ranges::any_of(claim.allocation->devices, [](const api::AllocatedDevice& device) {
    return device.driver == api::kDriver && device.admin_access;
  });
}

std::vector<std::string> nodes_of(const api::ResourceClaim& claim) {
  if (!claim.allocation || !has_device(*claim.allocation)) return {};
  if (!claim.allocation->node.empty()) return {claim.allocation->node};
  std::set<std::string> nodes;
  for (const api::ClaimConsumer& consumer : claim.reserved_for) {
    if (!consumer.node.empty()) nodes.insert(consumer.node);
  }
  return {nodes.begin(), nodes.end()};
}

bool is_shared(const api::ResourceClaim& claim) {
  return claim.allocation && claim.allocation->node.empty() && has_device(*claim.allocation);
}

std::optional<std::string> shared_clique_of(const api::AllocatedDevice& device) {
  constexpr std::string_view kPrefix = api::kSharedPoolPrefix;
  if (!device.pool.starts_with(kPrefix)) return std::nullopt;
  return device.pool.substr(kPrefix.size());
}

bool is_usable_on(const api::ResourceClaim& claim, const std::string& node,
                  const api::ComputeDomainNode* report, const api::Node* object) {
  auto clique = report == nullptr ? std::nullopt : api::clique_of(report->status);
  if (!clique && object != nullptr) clique = object->meta.label(api::kNodeCliqueLabel);
  return has_device_that(claim, [&](const api::AllocatedDevice& device) {
    const auto shared_in = shared_clique_of(device);
    return shared_in ? shared_in == clique : device.pool == node;
  });
}

bool keeps_on(const StoredList& stored, const api::ResourceClaim& claim, const std::string& node,
              const api::ComputeDomainNode* report) {
  if (!stored.list) return false;
  // A node of which it is not known serves the group that it was given before.
  const bool is_in = is_of_clique(stored.meta) || report == nullptr ||
                     !api::clique_of(report->status) || serves(*report, stored.list->group);
  if (!is_in) return false;
  const api::NodeListEntry* entry = find_entry(*stored.list, node);
  return entry != nullptr && admits_any(*entry, {claim.meta.uid}) &&
         has_device_that(claim, [&](const api::AllocatedDevice& device) {
           return shared_clique_of(device) == stored.list->clique;
         });
}

bool waits_for_nodes(const api::ResourceClaim& claim, const DomainView& view) {
  const Standing standing = standing_of(claim, view);
  if (standing == Standing::Pending) return true;
  return standing == Standing::Reserved && is_shared(claim) &&
         std::ranges::any_of(claim.reserved_for, [](const api::ClaimConsumer& consumer) {
           return consumer.node.empty();
         });
}

bool takes_seat(const api::ResourceClaim& claim) {
  return claim.allocation && has_device(*claim.allocation) && !is_shared(claim) &&
         !has_admin_access(claim);
}

Standing standing_of(const api::ResourceClaim& claim, const DomainView& view) {
  if (view.domain && claim.meta.ns != view.domain->meta.ns) return Standing::WrongNamespace;
  if (!claim.allocation) return Standing::Pending;
  if (has_admin_access(claim)) return Standing::AdminAccess;
  return claim.reserved_for.empty() ? Standing::Held : Standing::Reserved;
}

std::vector<Membership> memberships_of(const DomainView& view, const NodeViews& nodes,
                                       const std::vector<StoredList>& lists) {
  std::map<std::string, Membership> by_node;
  for (const api::ResourceClaim& claim : view.claims) {
    const Standing standing = standing_of(claim, view);
    if (standing != Standing::Held && standing != Standing::Reserved) continue;
    std::vector<std::string> used_on = nodes_of(claim);
    if (is_shared(claim) && waits_for_nodes(claim, view)) {
      add_admitted_nodes(lists, claim.meta.uid, used_on);
    }
    if (is_shared(claim)) drop_unusable(claim, nodes, lists, used_on);
    for (const std::string& node : used_on) {
      Membership& membership = by_node[node];
      membership.node = node;
      membership.counted = membership.counted || standing == Standing::Reserved;
      membership.claims.push_back(claim.meta.uid);
    }
  }
  std::vector<Membership> memberships;
  for (auto& [node, membership] : by_node) {
    std::ranges::sort(membership.claims);
    find_group_of(membership, view, nodes, lists);
    memberships.push_back(std::move(membership));
  }
  return memberships;
}

std::vector<Membership> members_of(const World& world, const ImexGroupKey& key) {
  std::vector<Membership> members = memberships_of(world.view, world.nodes, world.lists);
  std::erase_if(members, [&](const Membership& m) {
    return m.clique != key.clique || group_of(world.view.uid, m) != key;
  });
  return members;
}

// Without a fabric there is nothing to keep apart.
ImexGroupKey group_of(const std::string& domain_uid, const Membership& membership) {
  const std::string& clique = membership.clique.value();
  const bool by_channel = membership.isolation == api::Isolation::Channel && !clique.empty();
  return {by_channel ? "" : domain_uid, clique};
}

bool is_of_clique(const api::ObjectMeta& list) {
  return list.label(api::kIsolationLabel) == api::to_string(api::Isolation::Channel);
}

bool is_own(const api::ObjectMeta& list, const std::string& domain_uid) {
  return list.label(api::kDomainLabel) == domain_uid;
}

std::vector<ImexGroupKey> groups_of(const DomainView& view, const NodeViews& nodes,
                                    const std::vector<StoredList>& lists) {
  std::set<ImexGroupKey> keys;
  for (const Membership& membership : memberships_of(view, nodes, lists)) {
    if (membership.clique) keys.insert(group_of(view.uid, membership));
  }
  for (const StoredList& stored : lists) {
    // The label outlives a text that is no longer believed.
    keys.insert({is_of_clique(stored.meta) ? "" : view.uid,
                 stored.list ? stored.list->clique : stored.meta.label(api::kCliqueLabel)});
  }
  return {keys.begin(), keys.end()};
}

std::set<std::string> held_claims(const std::string& domain_uid,
                                  const std::vector<StoredList>& lists,
                                  const std::vector<api::ResourceClaim>& claims) {
  std::set<std::string> admitted, by_channel;
  bool is_readable = true, is_automatic = false;
  for (const StoredList& stored : lists) {
    const bool of_clique = is_of_clique(stored.meta);
    is_readable = is_readable && stored.list;
    is_automatic = is_automatic || !stored.meta.label(api::kWorkloadLabel).empty() ||
                   (of_clique && !stored.list);
    if (!stored.list) continue;
    const auto channel = of_clique ? channel_of(*stored.list, domain_uid) : std::nullopt;
    for (const api::NodeListEntry& entry : stored.list->entries) {
      for (const api::Admission& admission : entry.admits) {
        if (!of_clique) admitted.insert(admission.claim_uid);
        if (channel == admission.channel) by_channel.insert(admission.claim_uid);
      }
    }
  }
  std::set<std::string> held;
  for (const api::ResourceClaim& claim : claims) {
    if (!claim.allocation) continue;
    const DomainRef ref = domain_ref_of(claim);
    const bool is_named = ref.kind == DomainRef::Kind::Named && ref.uid == domain_uid;
    if (by_channel.contains(claim.meta.uid)) held.insert(claim.meta.uid);
    if (!is_named && !(is_automatic && ref.kind == DomainRef::Kind::Automatic)) continue;
    if (!is_readable || admitted.contains(claim.meta.uid)) held.insert(claim.meta.uid);
  }
  return held;
}

std::string group_id(const ImexGroupKey& key) {
  return base::digest128(base::cat(key.domain_uid, "/", key.clique));
}

std::string node_list_name(std::string_view group) {
  return base::cat("compute-domain-group-", group);
}

}  // namespace cdom::core
