#include "core/node/daemon/pause.h"

#include "compute_domain/api/names.h"
#include "compute_domain/base/text.h"

namespace cdom::core {

using base::cat;

NodePause annotated_pause(const NodeWorld& world) {
  if (world.report.objects.empty()) return {};
  return pause_in(world.report.objects.front().meta.annotation(api::kPauseAnnotation));
}

std::string why_driver_paused(const NodeWorld& world) {
  const std::string label = annotated_pause(world).driver;
  if (label.empty()) return "";
  return cat("the GPU Operator takes the GPU driver away from node ", world.self.name, " (label ",
             label, "): the node serves again when the driver is back");
}

std::string why_resting(const NodeDraft& draft) {
  const NodeWorld& world = draft.world;
  const auto& served = draft.checkpoint.served;
  if (!served || !is_standing(draft.checkpoint, served->group)) return "";
  if (has_live_claim(draft.checkpoint, served->group)) return "";
  // The host's own is the host's to stop.
  if (world.daemon && world.daemon->host_managed) return "";
  if (std::string paused = why_driver_paused(world); !paused.empty()) return paused;
  if (!annotated_pause(world).is_cordoned) return "";
  return cat("node ", world.self.name,
             " is cordoned and no claim is there, so its IMEX daemon is stopped: it starts again "
             "with the next claim, or after kubectl uncordon ",
             world.self.name);
}

bool may_stand(const NodeWorld& world) { return !world.report.objects.empty(); }

void pause_driver(NodeDraft& draft) {
  const NodeWorld& world = draft.world;
  // The annotation may still stand: nothing is known before the report has been seen.
  if (!world.daemon || !world.daemon->driver_paused || world.report.objects.empty()) return;
  const bool is_paused = !annotated_pause(world).driver.empty();
  if (*world.daemon->driver_paused == is_paused || draft.held_back(kDaemonSetback) != nullptr)
    return;
  draft.add(PauseDriver{is_paused});
}

}  // namespace cdom::core
