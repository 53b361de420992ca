#include "compute_domain/core/node_lists.h"

#include <algorithm>

#include "compute_domain/api/names.h"
#include "compute_domain/base/text.h"
#include "compute_domain/core/membership.h"

namespace cdom::core {

namespace {

// The checksum beside the list shows an edit by hand, which is undone rather than believed.
constexpr char kChecksumKey[] = "checksum";

}  // namespace

StoredList stored_list(const api::ConfigMap& map) {
  StoredList stored{.meta = map.meta, .list = {}, .problem = {}, .reservations = {}};
  if (map.meta.name == kReservationsName) {
    stored.reservations = map;
    return stored;
  }
  const auto text = map.data.find(api::kNodeListKey);
  const auto checksum = map.data.find(kChecksumKey);
  if (text != map.data.end() && (checksum == map.data.end() ||
                                 checksum->second != base::hex64(base::fnv1a64(text->second)))) {
    stored.problem = "was edited by somebody else";
    return stored;
  }
  base::Result<api::NodeList> list = api::decode_node_list(map);
  if (!list) {
    stored.problem = list.error().message;
    return stored;
  }
  // A list of another domain or clique than its labels say is not believed: the controller too
  // puts labels back on an object that is in the way.
  const ImexGroupKey key{map.meta.label(api::kDomainLabel), list->clique};
  if (map.meta.label(api::kGroupLabel) != list->group ||
      map.meta.name != node_list_name(list->group) || list->group != group_id(key)) {
    stored.problem = "holds the list of another group";
    return stored;
  }
  stored.list = std::move(*list);
  return stored;
}

api::ConfigMap config_map_of(const api::NodeList& list, const api::ComputeDomain& domain,
                             const Settings& settings) {
  api::ConfigMap map = config_map_of(list, settings);
  map.meta.labels[api::kIsolationLabel] = api::to_string(api::Isolation::Domain);
  map.meta.labels[api::kDomainLabel] = domain.meta.uid;
  map.meta.labels[api::kDomainNamespaceLabel] = domain.meta.ns;
  if (const std::string workload = domain.meta.label(api::kWorkloadLabel); !workload.empty()) {
    map.meta.labels[api::kWorkloadLabel] = workload;
  }
  return map;
}

api::ConfigMap config_map_of(const api::NodeList& list, const Settings& settings) {
  api::ConfigMap map;
  map.meta.name = node_list_name(list.group);
  map.meta.ns = settings.operator_namespace;
  map.meta.labels = {{api::kGroupLabel, list.group},
                     {api::kCliqueLabel, list.clique},
                     {api::kIsolationLabel, std::string(api::to_string(api::Isolation::Channel))}};
  const std::string text = api::encode_node_list(list);
  map.data = {{api::kNodeListKey, text}, {kChecksumKey, base::hex64(base::fnv1a64(text))}};
  return map;
}

const api::NodeList* find_list(const std::vector<StoredList>& lists, std::string_view group) {
  const auto it = std::ranges::find_if(
      lists, [&](const StoredList& stored) { return stored.list && stored.list->group == group; });
  return it == lists.end() ? nullptr : &*it->list;
}

const api::NodeListEntry* find_entry(const api::NodeList& list, std::string_view node) {
  const auto it = std::ranges::find(list.entries, node, &api::NodeListEntry::node);
  return it == list.entries.end() ? nullptr : &*it;
}

}  // namespace cdom::core
