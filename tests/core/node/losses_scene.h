// A node whose IMEX daemon ends, in the tests of losses of memory.
#pragma once

#include <utility>
#include <vector>

#include "core/node/node_scene.h"

namespace cdom::core {

// The next agent decides before the API server has answered it. Gives the report that is there.
inline std::vector<api::ComputeDomainNode> restart_unread(NodeScene& scene) {
  scene.restart_agent().world.report.current = scene.world.has_read_report = false;
  return std::exchange(scene.world.report.objects, {});
}

inline void read_report(NodeScene& scene, const std::vector<api::ComputeDomainNode>& report) {
  scene.world.report = {.objects = report, .current = true};
  scene.world.has_read_report = true;
}

// It answers no more, as its report says.
inline NodeScene hung(std::int64_t count = 1) {
  NodeScene scene = serving(count);
  scene.advance(minutes(1)).daemon_is(base::DaemonPhase::Failed);
  scene.world.daemon->message = "nvidia-imex may hang";
  scene.settle().advance(seconds(30)).settle();
  return scene;
}

}  // namespace cdom::core
