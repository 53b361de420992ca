#include "plugin/agent_words.h"

#include "compute_domain/agent/fabric_reading.h"
#include "core/node/node_scene.h"

namespace cdom::plugin::testing {

namespace {

std::vector<api::Condition> conditions_with(const core::FabricReading& fabric,
                                            const std::vector<core::NodeFault>& faults = {}) {
  core::NodeScene scene;
  scene.world.fabric = fabric;
  scene.world.faults = faults;
  scene.settle();
  return scene.report().conditions;
}

agent::GpuFacts gpu_of_clique() {
  agent::GpuFacts gpu;
  gpu.state = agent::FabricState::Completed;
  gpu.cluster_uuid = "6f0a3c52-1c7e-4b1f-9d53-0c2f6c2b7a10";
  return gpu;
}

std::vector<api::Condition> conditions_with(const std::string& driver, const agent::GpuFacts& gpu) {
  return conditions_with(
      agent::reading_of({.source = {}, .driver_version = driver, .gpus = {gpu}, .error = {}},
                        agent::FabricMode::Strict));
}

}  // namespace

std::vector<api::Condition> conditions_with_old_driver() {
  return conditions_with("570.86.15", gpu_of_clique());
}

std::vector<api::Condition> conditions_with_lost_gpu() {
  agent::GpuFacts gpu;
  gpu.error = "GPU is lost (15)";
  return conditions_with("580.65.06", gpu);
}

std::vector<api::Condition> conditions_with_foreign_daemon() {
  return conditions_with({.clique = core::kClique, .error = {}},
                         {{core::kFaultImex, "ImexCannotStart", kForeignDaemon}});
}

std::string words_of_killed_daemon() {
  core::NodeScene scene = core::serving();
  scene.advance(std::chrono::minutes(1)).daemon_dies("nvidia-imex was ended by SIGKILL");
  scene.world.daemon->starts_again = true;
  return scene.settle().group()->message;
}

std::string words_without_controller() {
  core::NodeScene scene;
  scene.domains = {core::domain_train()};
  scene.settle().prepare("a").settle().advance(std::chrono::seconds(30)).settle();
  return scene.report().pending_claims.at(0).message;
}

}  // namespace cdom::plugin::testing
