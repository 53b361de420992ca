// NodeList: what a group's ConfigMap says, the one document between controller and agents.
//
// A group is what one set of IMEX daemons serves: its table has a fixed number of slots, each with
// a name that never changes, so that a daemon which has read the table never has to be restarted.
// Which node has a slot, and at which address, may change; the hosts file follows it.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "compute_domain/api/core.h"
#include "compute_domain/base/result.h"

namespace cdom::api {

// A claim that the list admits on a node, and the channel that its containers get.
struct Admission {
  std::string claim_uid;
  std::int64_t channel = 0;

  friend auto operator<=>(const Admission&, const Admission&) = default;
};

struct NodeListEntry {
  std::string node;
  std::int64_t slot = -1;  // -1 in a group without a table (no fabric)
  std::string address;     // "" while the node has not reported one
  std::string instance;    // of the node's daemon; "" while none has been reported
  std::string boot_id;     // of the node when it got the slot; "" when not known
  // Counts up each time a node of the group is admitted again. A report of "stopped" frees the
  // node's slot only when it is of this term, not of an earlier one.
  std::int64_t term = 0;
  // A current member: some claim of it is reserved, or with isolation by channel the node says that
  // it is of this clique. False: the entry only keeps the slot.
  bool member = false;
  std::vector<Admission> admits;  // by claim UID

  friend bool operator==(const NodeListEntry&, const NodeListEntry&) = default;
};

// A channel of a clique whose domains differ by channel.
struct Channel {
  std::int64_t number = 0;
  std::string domain_uid;  // that has it, or had it; "": of a list that was lost, nobody knows
  std::string domain;      // its name, "team-a/train", as far as it is known; for people
  // Not 0: the channel was taken back, and this is the number of that release in the group. It is
  // given to no other domain before the node in each of `slots` has said that it knows of it and
  // does not use it.
  std::int64_t release = 0;
  std::set<std::int64_t> slots;  // of the nodes on which it has been admitted

  friend bool operator==(const Channel&, const Channel&) = default;
};

struct NodeList {
  std::string group;   // id
  std::string clique;  // "" : no fabric, empty table, the group only admits
  std::int64_t slots = 0;
  // The whole domain has its members and each has an address: daemons may start at once.
  bool complete = false;
  std::int64_t last_term = 0;          // the highest term given so far
  std::vector<NodeListEntry> entries;  // by slot, then node
  // With isolation by channel: by number; and the number that was given last.
  std::vector<Channel> channels;
  std::int64_t last_channel = 0;
  std::int64_t releases = 0;  // of channels, so far
  // A domain waits for a channel that was taken back: nodes say at once that they know of it.
  bool scarce = false;
  std::string domain = {};  // with isolation by domain its name, "team-a/train"; for people

  friend bool operator==(const NodeList&, const NodeList&) = default;
};

// The name of a slot in every node table and hosts file: "compute-domain-daemon-0003-<group>".
std::string slot_host_name(std::string_view group, std::int64_t slot);
// The text of the node table: one name a line, in the order of the slots.
std::string table_text(const NodeList& list);
// The hash of table_text(), which a daemon's READY refers to. "" for a group without a table.
std::string table_hash(const NodeList& list);

// The ConfigMap's data: key "nodes", text that people read with kubectl: a line "name value" for
// each of what the list says as a whole, an empty line, and a table of the nodes, a line each; with
// isolation by channel an empty line and a table of the channels. encode() is canonical: equal
// lists give equal text. decode() passes over names, columns and tables that it does not know.
std::string encode_node_list(const NodeList& list);
// Invalid: names the key, or the line and the column, that is missing or wrong.
base::Result<NodeList> decode_node_list(const ConfigMap& map);

inline constexpr char kNodeListKey[] = "nodes";

}  // namespace cdom::api
