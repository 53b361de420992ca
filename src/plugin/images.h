// images: which image tags the pods of the operator's DaemonSets and Deployments run. Pure.
#pragma once

#include <vector>

#include "compute_domain/plugin/check.h"
#include "compute_domain/plugin/cluster_view.h"

namespace cdom::plugin {

// A finding for each that has pods: a warning where some run another image than it would start now.
// None of those of a bundle that was written without images.
std::vector<Finding> look_at_images(const ClusterView& view);

}  // namespace cdom::plugin
