// What a ClusterView keeps of one object, without looking at others.
//
// While a cluster is read each object goes through here at once: annotations and claims of others
// may be as large as their writers like, and must not lie in memory together.
#pragma once

#include <set>
#include <string>
#include <type_traits>

#include "compute_domain/api/core.h"
#include "compute_domain/api/observed.h"
#include "compute_domain/api/resource.h"
#include "compute_domain/plugin/cluster_view.h"

namespace cdom::plugin {

// Without labels and annotations that no decision reads.
void reduce(api::ObjectMeta& meta);

// Each takes from the object what no sub-command reads. False: it is not of this driver.
bool reduce_object(api::ResourceClaim& claim);
bool reduce_object(api::ResourceClaimTemplate& object);
bool reduce_object(api::ResourceSlice& slice);
bool reduce_object(api::DeviceClass& device_class);
bool reduce_object(api::ConfigMap& map);
template <class T>
bool reduce_object(T& object) {
  reduce(object.meta);
  return true;
}

// The same of an object that was read for the view, which then has the names of claims and claim
// templates of others.
template <class T>
bool reduce_for(ClusterView& view, T& object) {
  if (reduce_object(object)) return true;
  if constexpr (std::is_same_v<T, api::ResourceClaim> ||
                std::is_same_v<T, api::ResourceClaimTemplate>) {
    view.of_others[std::string(api::kind_of<T>().plural)].insert(api::name_of(object.meta));
  }
  return false;
}

// UIDs of the objects in the view whose Events are kept.
std::set<std::string> involved_uids(const ClusterView& view);

}  // namespace cdom::plugin
