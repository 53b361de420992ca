#include "core/node/daemon/hosts.h"

#include <algorithm>
#include <map>
#include <set>
#include <vector>

#include "compute_domain/base/ip_address.h"
#include "compute_domain/base/text.h"

namespace cdom::core {

namespace {

// The members, in the order in which they were given their slots.
std::vector<const api::NodeListEntry*> by_term(const api::NodeList& list) {
  std::vector<const api::NodeListEntry*> members;
  for (const api::NodeListEntry& entry : list.entries) {
    if (entry.member) members.push_back(&entry);
  }
  std::ranges::stable_sort(members, {}, &api::NodeListEntry::term);
  return members;
}

}  // namespace

// From 127.0.1.1 to 127.0.255.254: 64,770 slots, and a table has 10,000 at most.
std::string nobodys_address(std::int64_t slot) {
  constexpr std::int64_t kPerBlock = 254;
  return base::cat("127.0.", 1 + slot / kPerBlock % 255, ".", 1 + slot % kPerBlock);
}

WriteHosts hosts_of(const api::NodeList& list, const ServedImexGroup& served,
                    const std::string& own_address) {
  std::map<std::int64_t, std::string> addresses;
  std::set<std::string> taken{base::peer_address(own_address)};
  for (const api::NodeListEntry* entry : by_term(list)) {
    // A line break in an address would be a line of its own; and no member's name leads to another.
    const std::string address = base::peer_address(entry->address);
    if (!address.empty() && taken.insert(address).second) addresses[entry->slot] = address;
  }
  addresses[served.slot] = own_address;

  std::string text;
  for (std::int64_t slot = 0; slot < served.slots; ++slot) {
    const auto it = addresses.find(slot);
    text += base::cat(it == addresses.end() ? nobodys_address(slot) : it->second, "\t",
                      api::slot_host_name(served.group, slot), "\n");
  }
  std::string revision = base::hex64(base::fnv1a64(text));
  return {std::move(text), std::move(revision)};
}

}  // namespace cdom::core
