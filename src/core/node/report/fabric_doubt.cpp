#include "core/node/report/fabric_doubt.h"

#include "compute_domain/api/names.h"
#include "compute_domain/base/text.h"

namespace cdom::core {

namespace {

using base::cat;

// The clique that the node is known to be in, and who says so.
struct KnownClique {
  std::string clique, source;
};

KnownClique known_clique(const NodeDraft& draft, const PeerReading* self) {
  const NodeWorld& world = draft.world;
  if (!draft.checkpoint.clique.value_or("").empty()) {
    return {*draft.checkpoint.clique, "its checkpoint"};
  }
  const auto& reports = world.report.objects;
  if (!reports.empty() && !reports.front().status.clique.empty()) {
    return {reports.front().status.clique, cat("ComputeDomainNode ", world.self.name)};
  }
  if (self == nullptr || !self->view.node) return {};
  const auto& labels = self->view.node->meta.labels;
  const auto label = labels.find(api::kNodeCliqueLabel);
  if (label == labels.end()) return {};
  return {label->second, cat("the label ", api::kNodeCliqueLabel, " of Node ", world.self.name)};
}

// nullptr: there is no answer about this node's own objects yet; asks where that is due.
const PeerReading* reading_of_self(NodeDraft& draft) {
  const NodeWorld& world = draft.world;
  const auto it = world.peers.find(world.self.name);
  const PeerReading* reading = it == world.peers.end() ? nullptr : &it->second;
  const base::Duration interval =
      reading != nullptr && reading->error ? world.times.retry_look_up : world.times.doubt_look_up;
  const base::Duration due = reading == nullptr ? world.elapsed : reading->asked + interval;
  if (world.elapsed >= due) draft.add(LookUpPeer{world.self.name});
  draft.look_again_at(std::max(due, world.elapsed + world.times.retry_look_up));
  return reading == nullptr || reading->error ? nullptr : reading;
}

}  // namespace

void doubt_fabric(NodeDraft& draft) {
  const bool is_settled = draft.checkpoint.clique == "";
  if (draft.fabric.sees_gpus || draft.fabric.clique != "" || is_settled) return;
  KnownClique known = known_clique(draft, nullptr);
  if (known.clique.empty()) {
    const PeerReading* self = reading_of_self(draft);
    if (self == nullptr || !draft.world.report.current) {
      draft.fabric.clique.reset();  // not known yet
      return;
    }
    known = known_clique(draft, self);
  }
  if (known.clique.empty()) return;
  draft.fabric.clique.reset();
  const auto& reports = draft.world.report.objects;
  if (!reports.empty()) draft.doubted_clique = reports.front().status.clique;
  draft.fabric.error =
      cat("the driver sees no GPU, and by ", known.source, " this node is in NVLink clique ",
          known.clique,
          ": see whether its GPUs are being reset or its driver replaced; if the node has lost "
          "them for good, delete its ComputeDomainNode, take the label ",
          api::kNodeCliqueLabel, " away and restart its agent");
}

}  // namespace cdom::core
