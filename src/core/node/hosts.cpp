#include "core/node/hosts.h"

#include <map>

#include "compute_domain/base/text.h"

namespace cdom::core {

WriteHosts hosts_of(const api::NodeList& list, const ServedGroup& served,
                    const std::string& own_address) {
  std::map<std::int64_t, std::string> addresses;
  for (const api::NodeListEntry& entry : list.entries) {
    // A line break in an address would be a line of its own.
    if (entry.member && base::is_ip_address(entry.address)) addresses[entry.slot] = entry.address;
  }
  addresses[served.slot] = own_address;

  std::string text;
  for (std::int64_t slot = 0; slot < served.slots; ++slot) {
    const auto it = addresses.find(slot);
    text += base::cat(it == addresses.end() ? kNobodysAddress : it->second, "\t",
                      api::slot_host_name(served.group, slot), "\n");
  }
  std::string revision = base::hex64(base::fnv1a64(text));
  return {std::move(text), std::move(revision)};
}

}  // namespace cdom::core
