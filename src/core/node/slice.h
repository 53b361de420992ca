// The slice: the seats that this node offers to the scheduler.
#pragma once

#include "core/node/draft.h"

namespace cdom::core {

// The one device of a node; which channel it means is the controller's word.
inline constexpr char kSeat[] = "channel-0";

// "n01-compute-domain.nvidia.com": a function of the node, so that there is never a second one.
std::string slice_name(const std::string& node);

// One seat, with the clique that the node serves; none while the node changes over to another
// clique. The report comes first: a claim is not allocated to a node that has told nothing.
void publish_slice(NodeDraft& draft);

}  // namespace cdom::core
