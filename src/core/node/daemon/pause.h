// A node whose GPU driver is about to be replaced: what uses the driver without need lets go of it.
//
// A cordoned node without claims rests: its standing daemon stops, as the driver may be replaced
// next. When the GPU Operator says that it replaces the driver, NVML is not asked, and nothing
// begins. Neither touches what has a claim.
#pragma once

#include <string>

#include "compute_domain/core/node_pause.h"
#include "core/node/draft.h"

namespace cdom::core {

// The pause that the controller has written on this node's report.
NodePause annotated_pause(const NodeWorld& world);

// Why the driver is not to be used by anything new, for people; "": it may be.
std::string why_driver_paused(const NodeWorld& world);

// Why the daemon of the served group, which runs for the clique, is not needed now, for people; "":
// it is, or it is not known yet.
std::string why_resting(const NodeDraft& draft);

// Whether the standing daemon may be started without a claim: not before it is known whether it is
// to rest.
bool may_stand(const NodeWorld& world);

// Has the supervisor of the daemon ask NVML no more while the driver is paused.
void pause_driver(NodeDraft& draft);

}  // namespace cdom::core
