// The slice: the devices that this node offers to the scheduler.
#pragma once

#include <string>
#include <vector>

#include "core/node/draft.h"

namespace cdom::core {

// The devices of a node: one, or with isolation by channel several. The controller decides which
// channel a device means.
std::vector<std::string> device_names(const Checkpoint& checkpoint, const NodeSettings& settings);

// "n01-compute-domain.nvidia.com": a function of the node, so that there is never a second one.
std::string slice_name(const std::string& node);

// The devices, with the clique that the node serves; none while the node changes over to something
// else. The report comes first: a claim is not allocated to a node that has reported nothing.
void publish_slice(NodeDraft& draft);

}  // namespace cdom::core
