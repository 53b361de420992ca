#include "every_key.h"

#include "compute_domain/api/names.h"
#include "compute_domain/core/membership.h"

namespace cdom::controller {

namespace {

// UIDs of domains that exist or that something names.
std::set<std::string> domains(const Stores& stores) {
  std::set<std::string> uids;
  for (const auto& domain : stores.domains.all()) uids.insert(domain->meta.uid);
  stores.claims.for_each([&](const auto& claim) {
    if (const auto uid = core::domain_of(*claim)) uids.insert(*uid);
  });
  for (const auto& list : stores.lists.all()) uids.insert(list->meta.label(api::kDomainLabel));
  for (const auto& object : stores.templates.all()) {
    uids.insert(object->meta.label(api::kDomainLabel));
  }
  uids.erase("");
  return uids;
}

std::set<std::string> cliques(const Stores& stores) {
  std::set<std::string> all;
  for (const auto& list : stores.lists.all()) {
    if (core::is_of_clique(list->meta)) all.insert(list->meta.label(api::kCliqueLabel));
  }
  stores.reports.for_each([&](const auto& report) {
    if (report->status.isolation == api::Isolation::Channel) all.insert(report->status.clique);
  });
  all.erase("");
  return all;
}

}  // namespace

std::set<Key> every_key(const Sources& from) {
  const Stores& stores = from.stores;
  std::set<Key> keys{placement_key()};
  for (const std::string& uid : domains(stores)) {
    for (Key& key : keys_of(gather_groups(from, uid))) keys.insert(std::move(key));
  }
  for (const std::string& clique : cliques(stores)) keys.insert(clique_key(clique));
  stores.reports.for_each([&](const auto& report) { keys.insert(report_key(report->meta.name)); });
  stores.claims.for_each([&](const auto& claim) { keys.insert(workloads_key(claim->meta.ns)); });
  for (const auto& domain : stores.domains.all()) keys.insert(workloads_key(domain->meta.ns));
  stores.nodes.for_each([&](const auto& node) {
    keys.insert(agent_label_key(node->meta.name));
    if (from.settings.labels_nodes) keys.insert(label_key(node->meta.name));
  });
  if (from.settings.fills_cliques) {
    for (const auto& domain : stores.domains.all()) {
      keys.insert(clique_objects_key(domain->meta.uid));
    }
    for (const auto& object : stores.cliques.all()) {
      const std::string uid = core::domain_of_clique_object(object->meta.name);
      if (!uid.empty()) keys.insert(clique_objects_key(uid));
    }
  }
  if (!from.settings.shares_claims) return keys;
  stores.slices.for_each([&](const auto& slice) {
    for (const std::string& clique : cliques_of_devices(*slice)) {
      keys.insert(shared_slice_key(clique));
    }
    if (!slice->clique.empty()) keys.insert(shared_slice_key(slice->clique));
  });
  return keys;
}

}  // namespace cdom::controller
