#include "compute_domain/nvidia/nvml.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>

#include "compute_domain/nvidia/fabric_verdict.h"
#include "compute_domain/nvidia/nvml_crash.h"
#include "nvidia/driver.h"

namespace cdom::nvidia {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

TEST(Nvml, IsFoundBelowTheDriverRootAndAskedAboutEveryGpu) {
  const Driver driver(R"({"driver": "580.65.06", "gpus": [
    {"uuid": "GPU-0", "name": "NVIDIA GB200", "state": 3, "cluster": "6f0a3c521c7e4b1f9d530c2f6c2b7a10", "clique": 7},
    {"uuid": "GPU-1", "state": 3, "status": 15, "cluster": "00000000000000000000000000000001", "clique": 4294967295,
     "mask": 1025, "health": 2},
    {"uuid": "GPU-2", "fabric": 3},
    {"handle": 15}]})");
  const FabricFacts facts = ask_nvml(driver.options());
  EXPECT_EQ(facts.source, driver.dir().at("root/usr/lib64/libnvidia-ml.so.1"));
  EXPECT_EQ(facts.driver_version, "580.65.06");
  EXPECT_EQ(facts.error, "");
  ASSERT_EQ(facts.gpus.size(), 4U);
  EXPECT_EQ(facts.gpus[0], (GpuFacts{.uuid = "GPU-0",
                                     .name = "NVIDIA GB200",
                                     .state = FabricState::Completed,
                                     .cluster_uuid = "6f0a3c52-1c7e-4b1f-9d53-0c2f6c2b7a10",
                                     .clique_id = 7,
                                     .health = FabricHealth::Healthy}));
  EXPECT_EQ(
      facts.gpus[1],
      (GpuFacts{.uuid = "GPU-1",
                .state = FabricState::Completed,
                .status = 15,
                .status_text = "GPU is lost (15): it has fallen off the bus; see the kernel log",
                .cluster_uuid = "00000000-0000-0000-0000-000000000001",
                .clique_id = 4294967295,
                .health = FabricHealth::Unhealthy,
                .health_mask = 1025}));
  EXPECT_EQ(facts.gpus[2], (GpuFacts{.uuid = "GPU-2"}))
      << "a call that is not supported: no fabric";
  EXPECT_THAT(facts.gpus[3].error, HasSubstr("GPU is lost (15)"));
}

TEST(Nvml, EachLayoutOfTheAnswerIsUnderstood) {
  const Driver driver;
  const auto expect_clique = [&](FabricHealth health) {
    const FabricFacts facts = ask_nvml(driver.options());
    EXPECT_EQ(verdict_of(facts, FabricMode::Strict).clique, kClique7);
    ASSERT_EQ(facts.gpus.size(), 2U);
    EXPECT_EQ(facts.gpus[1].health, health);
  };
  expect_clique(FabricHealth::Healthy);
  for (const char* newest : {R"("newest": 2)", R"("newest": 1)"}) {
    driver.say(in_clique_7_and(newest));
    expect_clique(FabricHealth::NotReported);
  }
  driver.install("libnvidia-ml-old");
  expect_clique(FabricHealth::NotReported);
}

TEST(Nvml, ADriverThatIsNotThereIsTold) {
  const Driver driver(R"({"init": 9})");
  EXPECT_EQ(
      ask_nvml(driver.options()).error,
      "NVML does not start: Driver Not Loaded (9): is the NVIDIA driver loaded on this node?");
  driver.say(R"({"init": 18})");
  EXPECT_THAT(ask_nvml(driver.options()).error,
              HasSubstr("version mismatch (18): the driver was replaced"));
  driver.say(R"({"count": 999})");
  EXPECT_EQ(ask_nvml(driver.options()).error, "NVML does not count the GPUs: Unknown Error (999)");
  driver.remove();
  EXPECT_THAT(
      ask_nvml(driver.options()).error,
      AllOf(HasSubstr("no libnvidia-ml.so.1 below the driver root"), HasSubstr("--driver-root")));
  driver.dir().write("root/usr/lib64/libnvidia-ml.so.1", "no library");
  EXPECT_THAT(ask_nvml(driver.options()).error,
              HasSubstr("cannot open " + driver.dir().at("root/usr/lib64")));
  NvmlOptions options;
  options.library = "libm.so.6";
  EXPECT_EQ(ask_nvml(options).error, "libm.so.6 is not NVML, or is too old");
}

TEST(Nvml, IsLookedForInTheGivenFoldersFirst) {
  const Driver driver(R"({"driver": "580.65.06"})");
  driver.dir().write("root/opt/driver/lib/libnvidia-ml.so.1", "no library");
  NvmlOptions options = driver.options();
  options.folders = {"/opt/driver/lib"};
  EXPECT_EQ(ask_nvml(options).source, driver.dir().at("root/opt/driver/lib/libnvidia-ml.so.1"));
}

TEST(Nvml, EachCallIsAnnouncedBeforeItBegins) {
  const Driver driver;
  std::vector<std::string> calls;
  ask_nvml(driver.options(), [&](const std::string& call) { calls.push_back(call); });
  EXPECT_THAT(calls,
              testing::IsSupersetOf({"nvmlInitWithFlags", "nvmlDeviceGetCount",
                                     "nvmlDeviceGetGpuFabricInfo of GPU 1", "nvmlShutdown"}));
}

TEST(NvmlDeathTest, ACrashInTheLibraryLeavesALine) {
  testing::FLAGS_gtest_death_test_style = "threadsafe";
  const Driver driver(in_clique_7_and(R"("crashes": "nvmlDeviceGetUUID")"));
  EXPECT_EXIT(
      {
        report_nvml_crashes("the-agent");
        (void)ask_nvml(driver.options());
      },
      testing::KilledBySignal(SIGSEGV),
      "the-agent: crashed in the GPU driver's library, in nvmlDeviceGetUUID of GPU 0");
}

}  // namespace
}  // namespace cdom::nvidia
