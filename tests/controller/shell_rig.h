// ShellRig: stores that a test fills by hand, with the triggers behind them: which keys a change
// brings, and what the core would do for a key.
#pragma once

#include <set>
#include <string>

#include "compute_domain/api/names.h"
#include "compute_domain/base/text.h"
#include "compute_domain/core/node_lists.h"
#include "controller/triggers.h"

namespace cdom::controller {

struct ShellRig {
  FilledStores filled;
  const Stores stores = filled.view();
  base::ManualClock clock;
  core::Settings settings;
  Memory memory;
  Workloads workloads;
  const Sources sources{stores, memory, settings, clock, workloads};
  std::set<Key> keys;  // since they were last taken
  const Triggers triggers{sources, memory, workloads, [this](const Key& key) { keys.insert(key); }};

  template <class T>
  void put(const T& object) {
    tell(filled.of<T>().put(as_stored(object)));
  }
  template <class T>
  void remove(const api::ObjectName& name) {
    tell(filled.of<T>().remove(name));
  }

  std::set<Key> taken_keys() { return std::exchange(keys, {}); }

 private:
  template <class T>
  void tell(const kube::Change<T>& change) {
    triggers.on_change(change.before.get(), change.after.get());
  }
  template <class T>
  static const T& as_stored(const T& object) {
    return object;
  }
  static core::StoredList as_stored(const api::ConfigMap& object) { return stored(object); }
};

// Objects with no more than what tells them apart.

template <class T>
T object_named(const std::string& name, const std::string& ns = "team-a") {
  T object;
  object.meta.name = name;
  object.meta.ns = ns;
  object.meta.uid = "uid-" + name;
  object.meta.resource_version = "1";
  return object;
}

inline api::ComputeDomain domain_named(const std::string& name, const std::string& ns = "team-a") {
  auto domain = object_named<api::ComputeDomain>(name, ns);
  domain.spec.channel = api::ComputeDomainChannel{.template_name = name + "-channel"};
  return domain;
}

inline api::ComputeDomainNode report_of(const std::string& node) {
  return object_named<api::ComputeDomainNode>(node, "");
}

inline api::ComputeDomainNode report_of(const std::string& node, const std::string& clique) {
  api::ComputeDomainNode report = report_of(node);
  report.status.boot_id = "boot-1";
  report.status.clique = clique;
  return report;
}

inline api::Node node_named(const std::string& name) {
  auto node = object_named<api::Node>(name, "");
  node.ready = api::ConditionStatus::True;
  return node;
}

inline constexpr char kSharedIn[] = "u.1";

// Allocated on a node and reserved for a pod; without a node, shared by `pods` in that clique.
inline api::ResourceClaim claim_of(const std::string& domain_uid, const std::string& name,
                                   const std::string& node,
                                   const std::vector<std::string>& pods = {"p"}) {
  auto claim = object_named<api::ResourceClaim>(name);
  claim.allocation.emplace().node = node;
  claim.allocation->devices = {
      {.request = "channel",
       .driver = api::kDriver,
       .pool = node.empty() ? base::cat(api::kSharedPoolPrefix, kSharedIn) : node,
       .device = "channel-0"}};
  if (!domain_uid.empty()) {
    claim.allocation->configs = {
        {.requests = {"channel"},
         .driver = api::kDriver,
         .parameters =
             base::cat(R"({"apiVersion":"resource.nvidia.com/v1beta1",)",
                       R"("kind":"ComputeDomainChannelConfig","domainID":")", domain_uid, R"("})"),
         .from_class = false}};
  }
  for (const std::string& pod : pods) {
    claim.reserved_for.push_back({.resource = "pods", .name = pod, .uid = "uid-" + pod});
  }
  return claim;
}

// The node list of a domain's group, with these nodes in its slots.
inline api::ConfigMap node_list_of(const api::ComputeDomain& domain, const std::string& clique,
                                   const std::vector<std::string>& nodes) {
  api::NodeList list;
  list.group = core::group_id({domain.meta.uid, clique});
  list.clique = clique;
  list.slots = 18;
  for (const std::string& node : nodes) {
    api::NodeListEntry entry;
    entry.node = node;
    entry.slot = std::ssize(list.entries);
    list.entries.push_back(entry);
  }
  api::ConfigMap map = core::config_map_of(list, domain, {});
  map.meta.uid = "uid-" + map.meta.name;
  map.meta.resource_version = "1";
  return map;
}

inline core::PodFacts facts_of_pod(const std::string& node, const std::string& name) {
  core::PodFacts facts;
  facts.meta = object_named<api::Pod>(name).meta;
  facts.templates.emplace();
  facts.node = node;
  return facts;
}

}  // namespace cdom::controller
