// What a ClusterView keeps of one object alone, whatever else there is.
//
// While a cluster is read each object goes through here at once: annotations and claims of others
// may be as large as their writers like, and must not lie in memory together.
#pragma once

#include <set>
#include <string>

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

// UIDs of the objects in the view of which Events tell.
std::set<std::string> told_uids(const ClusterView& view);

}  // namespace cdom::plugin
