// Slots: which node has which line of a group's node table.
//
// How it goes: 1. recorded_slots() unites what is on record. 2. A node that has a slot keeps it;
// others get, by name, the lowest slot that nobody has on record. 3. When none is left, they get
// the lowest slot whose holder is neither a member nor possibly running. What it guarantees: no two
// nodes have one slot, and no slot changes hands while a daemon may still run in it. Pure.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "compute_domain/core/world.h"

namespace cdom::core {

struct SlotRecord {
  std::int64_t slot = -1;
  std::string boot_id;    // of the node when it got the slot; "" when not known
  std::int64_t term = 0;  // of its last admission

  friend bool operator==(const SlotRecord&, const SlotRecord&) = default;
};
using SlotRecords = std::map<std::string, SlotRecord>;  // by node

// Step 1, for one group with `slots` slots: the node list comes first, then the domain's status.
// The nodes' reports count only when the list is lost, only for slots that neither of the two has
// given to anybody, and not those of `strangers`. A record outside of the table is dropped. When
// two nodes have one slot, the one with the stronger source keeps it (among reports, the one of a
// running daemon), else the first by name.
SlotRecords recorded_slots(const std::string& group, const api::NodeList* list,
                           const std::vector<api::ComputeDomainNodeStatus>& status_of_clique,
                           const NodeViews& nodes, std::int64_t slots,
                           const std::set<std::string>& strangers = {});

// In which slots nodes that are on no record say that their daemons run, with the terms that they
// say; by node.
SlotRecords reported_slots(const std::string& group, const SlotRecords& records,
                           const NodeViews& nodes);

// Whether it is proven that no daemon of `node` runs in its slot of the group any more: the node
// reports "stopped", it has another boot, or an administrator says so. Absence proves nothing.
bool is_fenced(const NodeView& node, const std::string& group, const SlotRecord& record);

struct SlotAssignment {
  SlotRecords slots;              // of all nodes that hold one, members or not
  std::vector<std::string> full;  // members that found none, by name
};

// Steps 2 and 3. `members` get slots; holders that are no members keep theirs until step 3. A
// member whose daemon runs in a free slot by its own word (`reported`) gets that one, and others
// get it last.
SlotAssignment assigned_slots(SlotRecords records, const std::set<std::string>& members,
                              const std::set<std::string>& fenced, std::int64_t slots,
                              const SlotRecords& reported = {});

// "0-3,7" and back. A text that is not such a list gives an empty set.
std::string slot_ranges(const std::set<std::int64_t>& slots);
std::set<std::int64_t> parse_slot_ranges(std::string_view text);

}  // namespace cdom::core
