#include <algorithm>
#include <iterator>
#include <map>

#include "compute_domain/api/names.h"
#include "compute_domain/base/text.h"
#include "compute_domain/core/reconcile.h"
#include "compute_domain/core/reservations.h"

namespace cdom::core {

namespace {

using base::cat;
using Daemons = std::vector<api::ComputeDomainCliqueDaemon>;

// What such an object repeats of a domain: the members that have a slot and an address. The
// reference driver's daemon enters itself with these when it starts. By clique, then by name.
std::map<std::string, Daemons> daemons_by_clique(const api::ComputeDomain& domain) {
  std::map<std::string, Daemons> cliques;
  if (!domain.status) return cliques;
  for (const api::ComputeDomainNodeStatus& node : domain.status->nodes) {
    // The clique is what a node reports, and becomes part of a name and of a label.
    const bool is_daemon = is_clique_name(node.clique) &&
                           base::is_dns_subdomain(cat(domain.meta.uid, ".", node.clique)) &&
                           node.index >= 0 && !node.ip_address.empty();
    if (!is_daemon) continue;
    cliques[node.clique].push_back({.node_name = node.name,
                                    .ip_address = node.ip_address,
                                    .clique = node.clique,
                                    .index = node.index,
                                    .ready = node.ready});
  }
  for (auto& [clique, daemons] : cliques) {
    std::ranges::sort(daemons, {}, &api::ComputeDomainCliqueDaemon::node_name);
  }
  return cliques;
}

api::ComputeDomainClique wanted_object(const CliqueObjectsWorld& world, const std::string& clique,
                                       Daemons daemons) {
  api::ComputeDomainClique object;
  object.meta.name = cat(world.uid, ".", clique);
  object.meta.ns = world.ns;
  object.meta.labels = {{api::kDomainLabel, world.uid},
                        {api::kCliqueIdLabel, clique},
                        {api::kManagedByLabel, api::kManagedByController}};
  object.daemons = std::move(daemons);
  return object;
}

// What an older CustomResourceDefinition has cut is not written again: it would be for ever.
bool has_daemons(const CliqueObjectsWorld& world, const api::ComputeDomainClique& stored,
                 const Daemons& wanted) {
  const auto pruned = world.pruned.find(stored.meta.uid);
  if (pruned != world.pruned.end() && pruned->second == PrunedDaemons{wanted, stored.daemons}) {
    return true;
  }
  Daemons daemons = stored.daemons;
  std::ranges::sort(daemons, {}, &api::ComputeDomainCliqueDaemon::node_name);
  return daemons == wanted;
}

bool says_the_same(const CliqueObjectsWorld& world, const api::ComputeDomainClique& stored,
                   const api::ComputeDomainClique& wanted) {
  return has_daemons(world, stored, wanted.daemons) && has_cliques_owner(stored.meta) &&
         std::ranges::all_of(wanted.meta.labels, [&](const auto& own) {
           return stored.meta.label(own.first) == own.second;
         });
}

RecordEvent left_alone(const api::ComputeDomainClique& object) {
  return event_on({.api_version = "resource.nvidia.com/v1beta1",
                   .kind = "ComputeDomainClique",
                   .ns = object.meta.ns,
                   .name = object.meta.name,
                   .uid = object.meta.uid},
                  "NotOurs",
                  cat("the controller would write a ComputeDomainClique of this name, and leaves "
                      "this one alone, as it has no label ",
                      api::kManagedByLabel, "=", api::kManagedByController,
                      ": delete it if nothing writes it any more"));
}

}  // namespace

std::string domain_of_clique_object(const std::string& name) {
  const std::size_t dot = name.find('.');
  return dot == std::string::npos ? "" : name.substr(0, dot);
}

bool is_own_clique_object(const api::ComputeDomainClique& object) {
  return object.meta.label(api::kManagedByLabel) == api::kManagedByController;
}

bool has_cliques_owner(const api::ObjectMeta& meta) {
  return std::ranges::any_of(meta.owners, [](const api::OwnerReference& owner) {
    return owner.kind == "ConfigMap" && owner.name == api::kCliquesOwner;
  });
}

// Each action is for another clique, and one that fails holds back none of the others.
Plan reconcile_clique_objects(const CliqueObjectsWorld& world) {
  std::map<std::string, Daemons> cliques;
  if (world.domain && !world.has_predecessor) cliques = daemons_by_clique(*world.domain);
  std::map<std::string, const api::ComputeDomainClique*> stored;
  for (const api::ComputeDomainClique& object : world.stored) stored[object.meta.name] = &object;

  Plan plan;
  std::vector<Action> creations, patches;
  for (auto& [clique, daemons] : cliques) {
    api::ComputeDomainClique wanted = wanted_object(world, clique, std::move(daemons));
    const auto it = stored.find(wanted.meta.name);
    if (it == stored.end()) {
      creations.emplace_back(WriteCliqueObject{{}, std::move(wanted)});
      continue;
    }
    const api::ComputeDomainClique& found = *it->second;
    stored.erase(it);
    if (!is_own_clique_object(found)) {
      if (!world.reported.contains(found.meta.uid)) plan.actions.emplace_back(left_alone(found));
    } else if (!found.meta.is_deleting() && !says_the_same(world, found, wanted)) {
      patches.emplace_back(WriteCliqueObject{found.meta, std::move(wanted)});
    }
  }
  // Also when only the cache has no domain: nothing here reads them, and its coming brings them
  // back. A proof would be a LIST of all domains for each that is deleted.
  for (const auto& [name, object] : stored) {
    if (is_own_clique_object(*object) && !object->meta.is_deleting()) {
      plan.actions.emplace_back(RemoveCliqueObject{object->meta});
    }
  }
  std::ranges::move(creations, std::back_inserter(plan.actions));
  std::ranges::move(patches, std::back_inserter(plan.actions));
  return plan;
}

}  // namespace cdom::core
