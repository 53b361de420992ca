#include "compute_domain/agent/fabric_reading.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/directory.h"
#include "compute_domain/agent/file_fabric.h"

namespace cdom::agent {
namespace {

using ::testing::AllOf;
using ::testing::EndsWith;
using ::testing::HasSubstr;

constexpr char kCluster[] = "6f0a3c52-1c7e-4b1f-9d53-0c2f6c2b7a10";

GpuFacts gpu_in(std::uint32_t clique, const std::string& cluster = kCluster) {
  GpuFacts gpu;
  gpu.uuid = "GPU-" + std::to_string(clique);
  gpu.state = FabricState::Completed;
  gpu.cluster_uuid = cluster;
  gpu.clique_id = clique;
  gpu.health = FabricHealth::Healthy;
  return gpu;
}

GpuFacts gpu_in_state(FabricState state) {
  GpuFacts gpu;
  gpu.uuid = "GPU-x";
  gpu.state = state;
  return gpu;
}

core::FabricReading reading(std::vector<GpuFacts> gpus, FabricMode mode = FabricMode::Strict) {
  return reading_of(
      {.source = "test", .driver_version = "580.1", .gpus = std::move(gpus), .error = {}}, mode);
}

TEST(FabricReading, IsTheCliqueThatAllGpusNameInTheReferenceDriversForm) {
  const auto told = reading({gpu_in(32766), gpu_in(32766)});
  EXPECT_EQ(told.clique, std::string(kCluster) + ".32766");
  EXPECT_EQ(told.error, "");
}

TEST(FabricReading, GpusWithoutAFabricAreNoObstacleToTheOthers) {
  EXPECT_EQ(reading({gpu_in(7), gpu_in_state(FabricState::NotSupported)}).clique,
            std::string(kCluster) + ".7");
}

TEST(FabricReading, IsNoCliqueWithoutAFabricOrWithOneOfThisNodeAlone) {
  EXPECT_EQ(reading({}).clique, "");
  EXPECT_EQ(reading({gpu_in_state(FabricState::NotSupported)}).clique, "");
  EXPECT_EQ(reading({gpu_in(7, "")}).clique, "");
}

TEST(FabricReading, GpusThatDisagreeAreAnErrorThatNamesThem) {
  const auto told = reading({gpu_in(1), gpu_in(1), gpu_in(2)});
  EXPECT_EQ(told.clique, std::nullopt);
  EXPECT_EQ(told.error, "the GPUs of this node disagree about their NVLink clique: GPUs 0, 1 in " +
                            std::string(kCluster) + ".1; GPU 2 in " + kCluster + ".2");
}

TEST(FabricReading, AGpuThatHasNotJoinedIsAFaultByStrictRulesAndNothingByLegacyOnes) {
  for (const FabricState state :
       {FabricState::NotStarted, FabricState::InProgress, static_cast<FabricState>(9)}) {
    const auto strict = reading({gpu_in_state(state), gpu_in(7)});
    EXPECT_EQ(strict.clique, std::nullopt);
    EXPECT_THAT(strict.error, HasSubstr("GPU 0 (GPU-x) has not joined its NVLink fabric"));
    EXPECT_EQ(reading({gpu_in_state(state)}, FabricMode::Legacy).clique, "");
  }
}

TEST(FabricReading, ARegistrationThatFailedIsAFaultByStrictRulesAndNothingByLegacyOnes) {
  GpuFacts gpu = gpu_in(7);
  gpu.status = 15;
  gpu.status_text = "GPU is lost (15)";
  EXPECT_THAT(reading({gpu, gpu, gpu}).error,
              AllOf(HasSubstr("status 15, GPU is lost"), EndsWith("2 more GPUs have a fault")));
  EXPECT_EQ(reading({gpu}, FabricMode::Legacy).clique, "");
}

TEST(FabricReading, AGpuThatCannotBeAskedIsAFaultByAllRules) {
  GpuFacts gpu;
  gpu.error = "GPU is lost (15)";
  for (const FabricMode mode : {FabricMode::Strict, FabricMode::Legacy}) {
    EXPECT_EQ(reading({gpu, gpu_in(7)}, mode).error,
              "GPU 0 cannot be asked: GPU is lost (15): see nvidia-smi on the node and the kernel "
              "log");
  }
}

TEST(FabricDescription, TellsOfEachGpuAndWhyThereIsAClique) {
  GpuFacts ill = gpu_in(7);
  ill.name = "NVIDIA GB200";
  ill.health = FabricHealth::Unhealthy;
  ill.health_mask = 1U | 4U << 8U;
  const FabricFacts facts{
      .source = "/lib/nvml", .driver_version = "550.54", .gpus = {gpu_in(7), ill}, .error = {}};
  EXPECT_EQ(
      describe_fabric(facts, FabricMode::Strict),
      "Driver: 550.54, asked through /lib/nvml, strict rules\n"
      "This driver is too old for IMEX by names: 570.158.01 or later is needed\n"
      "GPU 0 (GPU-7)\n"
      "  state: completed, status: success, health: healthy\n"
      "  clique: 6f0a3c52-1c7e-4b1f-9d53-0c2f6c2b7a10.7\n"
      "GPU 1 (GPU-7), NVIDIA GB200\n"
      "  state: completed, status: success, health: unhealthy (degraded bandwidth, no partition)\n"
      "  clique: 6f0a3c52-1c7e-4b1f-9d53-0c2f6c2b7a10.7\n"
      "The clique of this node is 6f0a3c52-1c7e-4b1f-9d53-0c2f6c2b7a10.7: 2 of 2 GPUs are in it\n");
}

TEST(FabricDescription, TellsWhyThereIsNone) {
  FabricFacts facts{.source = "/lib/nvml",
                    .driver_version = "570.158.01",
                    .gpus = {gpu_in_state(FabricState::NotSupported), gpu_in(7, "")},
                    .error = {}};
  EXPECT_EQ(describe_fabric(facts, FabricMode::Legacy),
            "Driver: 570.158.01, asked through /lib/nvml, legacy rules\n"
            "GPU 0 (GPU-x)\n"
            "  state: not supported\n"
            "  clique: none: it is in no NVLink fabric (state not supported)\n"
            "GPU 1 (GPU-7)\n"
            "  state: completed, status: success, health: healthy\n"
            "  clique: none: it is in an NVLink fabric of this node alone (cluster UUID zero)\n"
            "This node has no clique: none of its GPUs is in a fabric with other nodes\n");
  facts.gpus = {gpu_in_state(FabricState::InProgress)};
  EXPECT_THAT(describe_fabric(facts, FabricMode::Strict),
              AllOf(HasSubstr("  state: in progress\n  fault: it has not joined its NVLink fabric"),
                    HasSubstr("The clique of this node is unknown: GPU 0 (GPU-x) has not")));
  facts.gpus.clear();
  EXPECT_THAT(describe_fabric(facts, FabricMode::Strict),
              EndsWith("This node has no clique: it has no GPU that the driver sees\n"));
  facts.error = "cannot open /lib/nvml";
  facts.driver_version.clear();
  EXPECT_EQ(describe_fabric(facts, FabricMode::Strict),
            "Driver: unknown, asked through /lib/nvml, strict rules\n"
            "The clique of this node is unknown: cannot open /lib/nvml\n");
}

core::FabricReading reading_with(const GpuFacts& gpu, const std::string& driver = "580.65.06") {
  return reading_of({.source = {}, .driver_version = driver, .gpus = {gpu, gpu}, .error = {}},
                    FabricMode::Strict);
}

TEST(FabricFaults, NoneOfAHealthyNode) { EXPECT_EQ(reading_with(gpu_in(7)).faults.size(), 0U); }

TEST(FabricFaults, AnUnhealthyGpuKeepsItsCliqueAndIsOne) {
  GpuFacts gpu = gpu_in(7);
  gpu.health = FabricHealth::Unhealthy;
  gpu.health_mask = 1U << 4U | 3U << 8U;
  const core::FabricReading reading = reading_with(gpu);
  EXPECT_TRUE(reading.clique);
  ASSERT_EQ(reading.faults.size(), 1U);
  EXPECT_EQ(reading.faults[0].reason.name(), "FabricUnhealthy");
  EXPECT_EQ(reading.faults[0].message,
            "GPU 0 (GPU-7) is unhealthy in its NVLink fabric (route unhealthy, incorrect chassis "
            "serial number), and 1 more GPU: see the rack's NVLink manager and the kernel log");
  gpu.health = FabricHealth::LimitedCapacity;
  EXPECT_EQ(reading_with(gpu).faults.size(), 0U) << "it shares memory, more slowly";
  gpu.health = FabricHealth::NotReported;
  EXPECT_EQ(reading_with(gpu).faults.size(), 1U) << "an older driver has the mask alone";
}

TEST(FabricFaults, ADriverThatTakesNoNamesIsOne) {
  const core::FabricReading reading = reading_with(gpu_in(7), "570.86.15");
  ASSERT_EQ(reading.faults.size(), 1U);
  EXPECT_EQ(reading.faults[0].reason.name(), "DriverTooOld");
  EXPECT_EQ(reading.faults[0].message,
            "the GPU driver 570.86.15 is too old: 570.158.01 or later is needed");
}

TEST(FabricFaults, NamesEveryReasonOfNvml) {
  const auto described = [](std::uint32_t mask) {
    GpuFacts gpu = gpu_in(7);
    gpu.health_mask = mask;
    return describe_fabric({.source = "f", .driver_version = {}, .gpus = {gpu}, .error = {}},
                           FabricMode::Strict);
  };
  EXPECT_THAT(described(6U << 8U), HasSubstr("(incompatible GPU firmware)"));
  EXPECT_THAT(described(7U << 8U), HasSubstr("(invalid location in the rack)"));
  EXPECT_THAT(described(8U << 8U), HasSubstr("(invalid GPU state)"));
  EXPECT_THAT(described(9U << 8U), HasSubstr("(incorrect configuration (9))"));
  EXPECT_THAT(described(2U << 12U), HasSubstr("(no NVLink partition assigned)"));
  EXPECT_THAT(described(3U << 4U), HasSubstr("(route unhealthy until the GPU is reset)"));
}

constexpr char kYaml[] = R"(
driver: 580.65.06
gpus:
- &gpu {uuid: GPU-0, name: NVIDIA GB200, state: completed, health: healthy,
        clusterUUID: 6F0A3C52-1c7e-4b1f-9d53-0c2f6c2b7a10, cliqueID: 32766}
- *gpu
)";

TEST(FileFabric, FollowsItsFile) {
  const base::Directory dir;
  FileFabric fabric(dir.at("fabric.yaml"));
  EXPECT_THAT(fabric.read().error, HasSubstr("fabric.yaml: No such file"));
  dir.write("fabric.yaml", kYaml);
  EXPECT_EQ(fabric.read(), (core::FabricReading{std::string(kCluster) + ".32766", {}}));
  EXPECT_EQ(fabric.read().clique, std::string(kCluster) + ".32766");
  EXPECT_EQ(fabric.facts().gpus.size(), 2U);
  dir.write("fabric.yaml", "error: the driver is not loaded\n");
  EXPECT_EQ(fabric.read().error, "the driver is not loaded");
}

TEST(FileFabric, NamesTheFieldThatIsWrong) {
  const auto problem = [](const std::string& yaml) {
    return parse_fabric_facts(yaml, "f.yaml").error().message;
  };
  EXPECT_EQ(problem("gpus: [{}, {state: complete}]"),
            "f.yaml: gpus[1].state: \"complete\" is none of its values");
  EXPECT_EQ(problem("gpus: [{cliqueId: 7}]"), "f.yaml: gpus[0].cliqueId: no such field");
  EXPECT_EQ(problem("gpus: [{cliqueID: seven}]"),
            "f.yaml: gpus[0].cliqueID: must be a whole number");
  EXPECT_EQ(problem("gpus: 4"), "f.yaml: gpus: must be a list");
  EXPECT_THAT(problem("gpus: ["), HasSubstr("f.yaml:"));
  EXPECT_THAT(problem(""), HasSubstr("it is empty"));
}

}  // namespace
}  // namespace cdom::agent
