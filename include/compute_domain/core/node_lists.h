// Node lists as objects: a group's NodeList to and from its ConfigMap. Pure.
#pragma once

#include <string>

#include "compute_domain/core/world.h"

namespace cdom::core {

// The list that a ConfigMap holds. A text that does not decode, or whose checksum says that
// somebody else edited it, gives no list and says why: nothing of it is believed. The reservations
// are kept as it is.
StoredList stored_list(const api::ConfigMap& map);

// The ConfigMap for a group of a domain, with its labels and without the metadata that the server
// gives.
api::ConfigMap config_map_of(const api::NodeList& list, const api::ComputeDomain& domain,
                             const Settings& settings);

// The same for a clique whose domains differ by channel.
api::ConfigMap config_map_of(const api::NodeList& list, const Settings& settings);

// The list of that group among `lists`; nullptr when there is none, or none that is believed.
const api::NodeList* find_list(const std::vector<StoredList>& lists, std::string_view group);

const api::NodeListEntry* find_entry(const api::NodeList& list, std::string_view node);

}  // namespace cdom::core
