// What happens on a node when a daemon ends or a claim is unprepared.
#pragma once

#include "core/model/state.h"

namespace cdom::core::model {

void stop_daemon(NodeTruth& truth);
void unprepare(State& state, std::size_t node, std::size_t domain);

}  // namespace cdom::core::model
