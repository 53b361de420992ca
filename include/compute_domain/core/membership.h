// Membership: which nodes belong to a domain, from its claims alone.
//
// The node of an allocated claim that is reserved for somebody, without admin access, is a member.
// Allocated but unreserved keeps its slot and is not counted. These functions are the only ones
// that know where membership comes from. Pure.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "compute_domain/core/world.h"

namespace cdom::core {

using api::DomainRef;

// Which domain a claim is for: by the configuration of its allocation where there is one, else of
// its spec. Read leniently; an agent refuses a config that is wrong. Where the claim has a
// domain_ref that is the answer, and costs nothing.
DomainRef domain_ref_of(const api::ResourceClaim& claim);

// The one configuration of this driver that counts, as later ones override earlier ones; or null.
const api::OpaqueConfig* config_of_driver(const api::ResourceClaim& claim);

// The domain that a claim names; nullopt unless its DomainRef is Named.
std::optional<std::string> domain_of(const api::ResourceClaim& claim);

// Whether it has admin access, or asks for it as long as it is not allocated.
bool has_admin_access(const api::ResourceClaim& claim);

// The nodes on which an allocated claim is used, in order: one for a device of a node; for a shared
// device those of the pods that the claim is reserved for, as far as they are known, whether they
// can use it there or not.
std::vector<std::string> nodes_of(const api::ResourceClaim& claim);

// Whether what is allocated may be used from every node of a clique.
bool is_shared(const api::ResourceClaim& claim);

// The clique whose nodes share the device; nullopt: it is a node's own.
std::optional<std::string> shared_clique_of(const api::AllocatedDevice& device);

// Whether a pod on the node can use the shared claim: anybody may bind a pod to any node, and only
// those of the clique have the device. The node's report says which it is of, or else the label by
// which the scheduler goes; either may be null.
bool is_usable_on(const api::ResourceClaim& claim, const std::string& node,
                  const api::ComputeDomainNode* report, const api::Node* object);
// Whether the list is of the shared claim's clique and admits it on a node that serves the list's
// group still: there it stays, whatever the node says of its clique by now.
bool keeps_on(const StoredList& stored, const api::ResourceClaim& claim, const std::string& node,
              const api::ComputeDomainNode* report);

// Whether it has a seat of a node that no other claim can have then.
bool takes_seat(const api::ResourceClaim& claim);

// What a claim means for the domain that it names.
enum class Standing {
  Pending,         // not allocated yet
  Held,            // allocated and not reserved: keeps its slot, is not counted
  Reserved,        // makes its node a member
  AdminAccess,     // uses the channel of the group that runs there; starts nothing, makes no member
  WrongNamespace,  // names a domain of another namespace
};
Standing standing_of(const api::ResourceClaim& claim, const DomainView& view);

// Whether it will have a node, or one more, as soon as its pods have theirs: it is Pending, or
// reserved for a pod whose node is not known.
bool waits_for_nodes(const api::ResourceClaim& claim, const DomainView& view);

// In how many cliques a node can get a slot of one domain. Each makes a node list that stays for as
// long as the domain; so whatever its nodes report, a domain has at most as many for each of them.
inline constexpr std::size_t kMostCliquesOfNode = 8;

// A node of the domain with the claims that put it there, by UID.
struct Membership {
  std::string node;
  std::optional<std::string> clique;  // nullopt: not reported yet, or one too many
  api::Isolation isolation = api::Isolation::Domain;
  bool counted = false;           // some claim of it is reserved
  bool reports_too_many = false;  // it has slots in kMostCliquesOfNode, and reports another clique
  std::vector<std::string> claims;

  friend bool operator==(const Membership&, const Membership&) = default;
};

// All nodes of the domain, by name.
std::vector<Membership> memberships_of(const DomainView& view, const NodeViews& nodes,
                                       const std::vector<StoredList>& lists);

// Those of one group with isolation by domain.
std::vector<Membership> members_of(const World& world, const ImexGroupKey& key);

// The group that a member is in; its clique is known.
ImexGroupKey group_of(const std::string& domain_uid, const Membership& membership);

// Whether the list is of a whole clique, where domains differ by channel.
bool is_of_clique(const api::ObjectMeta& list);
// Whether it is this domain's own.
bool is_own(const api::ObjectMeta& list, const std::string& domain_uid);

// The groups that the domain's nodes are in, and of its node lists, by clique.
std::vector<ImexGroupKey> groups_of(const DomainView& view, const NodeViews& nodes,
                                    const std::vector<StoredList>& lists);

// UIDs of the domain's claims that one of the node lists admits and that are still allocated: their
// containers may run. A list that cannot be read may admit every allocated claim of the domain, and
// for an automatic domain every one that names no domain.
std::set<std::string> held_claims(const std::string& domain_uid,
                                  const std::vector<StoredList>& lists,
                                  const std::vector<api::ResourceClaim>& claims);

// Sixteen hex digits: names of objects and hosts are made from it.
std::string group_id(const ImexGroupKey& key);
// "compute-domain-group-<id>", in the operator's namespace.
std::string node_list_name(std::string_view group);

}  // namespace cdom::core
