// ListDraft: a group's node list while it is being decided on.
//
// What the two kinds of groups have in common: who keeps, gets and has left a slot for good, which
// term and boot an entry is of, when a daemon's instance is worth a write. Pure.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "compute_domain/api/compute_domain.h"
#include "compute_domain/core/plan.h"
#include "compute_domain/core/world.h"

namespace cdom::core {

const NodeView* find_view(const NodeViews& nodes, const std::string& node);
// The address at which the node reports its daemon; "": none yet, or not one that a peer can reach
// (base::peer_address), which must not get into its peers' hosts files.
std::string reported_address(const NodeView* view);
// Why the list does not have the address that a member reports; "" when it has, or will have.
std::string why_address_refused(const NodeView& view, const api::NodeList& list,
                                const api::NodeListEntry& entry);
// What the node says of the group; nullptr: nothing.
const api::ImexGroupReport* find_report(const NodeViews& nodes, const std::string& node,
                                        std::string_view group);

// What a node is to have in the list.
struct Seating {
  bool is_member = false;
  std::vector<api::Admission> admits;  // by claim UID
};

struct ListDraft {
  const NodeViews& nodes;
  std::string group;
  std::string clique;
  std::int64_t slots = 0;                 // of a new table
  const StoredList* stored = nullptr;     // the object, believed or not
  const api::NodeList* before = nullptr;  // only when it is believed
  std::map<std::string, Seating> seats;   // by node; others only keep a slot
  // Nodes whose reports prove nothing.
  std::set<std::string> strangers = {};
  // Slots that a status remembers.
  std::vector<api::ComputeDomainNodeStatus> remembered;
  // Daemons run for members, whether or not a claim is admitted; else for claims.
  bool serves_members = false;
};

const api::NodeListEntry* entry_before(const ListDraft& draft, const std::string& node);

struct DraftedList {
  api::NodeList list;             // without `complete` and instances
  std::vector<std::string> full;  // nodes that found no slot
};
DraftedList drafted_list(const ListDraft& draft);

// An instance is for peers that have to reach its daemon again. It is written when it changed, when
// somebody cannot reach it, when the list is written anyway, and when all members have their first;
// so a formation costs one such write and not one per node.
void update_instances(const ListDraft& draft, api::NodeList& list);

// When what a restless node has reported gets into the list; nullopt: none waits for that.
std::optional<base::Duration> next_rest(const ListDraft& draft, const api::NodeList& list);

// Whether the object has all labels that it is to have.
bool has_labels_of(const StoredList* stored, const api::ConfigMap& desired);

}  // namespace cdom::core
