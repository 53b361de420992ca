#include "compute_domain/nvidia/nvml.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>

#include "compute_domain/base/text.h"
#include "compute_domain/nvidia/fabric_verdict.h"
#include "compute_domain/nvidia/nvml_crash.h"
#include "nvidia/driver.h"

namespace cdom::nvidia {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

TEST(Nvml, IsFoundBelowTheDriverRootAndAskedAboutEveryGpu) {
  const Driver driver(R"({"driver": "580.65.06", "gpus": [
    {"uuid": "GPU-0", "name": "NVIDIA GB200", "state": 3, "cluster": "6f0a3c521c7e4b1f9d530c2f6c2b7a10", "clique": 7,
     "persistence": 1},
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
                                     .health = FabricHealth::Healthy,
                                     .is_persistent = true}));
  EXPECT_EQ(is_persistent(facts), false) << "that of GPU-1 is off";
  EXPECT_EQ(is_persistent(FabricFacts{.gpus = {facts.gpus[0], facts.gpus[3]}}), true)
      << "the last cannot be asked";
  EXPECT_EQ(is_persistent(FabricFacts{.gpus = {facts.gpus[3]}}), std::nullopt);
  EXPECT_EQ(
      facts.gpus[1],
      (GpuFacts{.uuid = "GPU-1",
                .state = FabricState::Completed,
                .status = 15,
                .status_text = "GPU is lost (15): it has fallen off the bus; see the kernel log",
                .cluster_uuid = "00000000-0000-0000-0000-000000000001",
                .clique_id = 4294967295,
                .health = FabricHealth::Unhealthy,
                .health_mask = 1025,
                .is_persistent = false}));
  EXPECT_EQ(facts.gpus[2], (GpuFacts{.uuid = "GPU-2", .is_persistent = false}))
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

// As driver 580.159.04 writes it, of an NVIDIA H200.
std::string information(const std::string& uuid, int minor, const std::string& excluded = "No") {
  return base::cat(
      "Model: \t\t NVIDIA H200\nIRQ:   \t\t 41\nGPU UUID: \t ", uuid,
      "\nVideo BIOS: \t 96.00.a5.00.1a\nBus Type: \t PCIe\nDMA Size: \t 52 bits\nDMA Mask: \t "
      "0xfffffffffffff\nBus Location: \t 0000:00:06.0\nDevice Minor: \t ",
      minor, "\nGPU Firmware: \t 580.159.04\nGPU Excluded:\t ", excluded, "\n");
}

class KernelGpusTest : public testing::Test {
 protected:
  [[nodiscard]] FabricFacts asked() const {
    NvmlOptions options = driver_.options();
    options.proc_driver = driver_.dir().at("proc/driver/nvidia");
    return ask_nvml(options);
  }
  void has(const std::string& uuid, int minor, const std::string& excluded = "No") const {
    driver_.dir().write(base::cat("proc/driver/nvidia/gpus/0000:0", minor, ":00.0/information"),
                        information(uuid, minor, excluded));
  }

  const Driver driver_;
};

// That driver says "no GPUs" and success where it may not open /dev/nvidia0.
TEST_F(KernelGpusTest, AGpuThatNvmlDoesNotSeeIsAFaultAndNotANodeWithoutFabric) {
  driver_.say(R"({"driver": "580.159.04", "gpus": []})");
  has("GPU-76f0f73a", 0);
  const FabricFacts facts = asked();
  ASSERT_EQ(facts.gpus.size(), 1U);
  EXPECT_EQ(facts.gpus[0].uuid, "GPU-76f0f73a");
  for (const FabricMode mode : {FabricMode::Strict, FabricMode::Legacy}) {
    const FabricVerdict verdict = verdict_of(facts, mode);
    EXPECT_FALSE(verdict.clique);
    EXPECT_THAT(verdict.error,
                AllOf(HasSubstr("GPU 0 (GPU-76f0f73a) cannot be asked: the kernel module has it"),
                      HasSubstr("is /dev/nvidia0 in this container")));
  }
}

TEST_F(KernelGpusTest, TheOneThatIsMissingIsNamed) {
  driver_.say(R"({"gpus": [{"uuid": "GPU-0"}, {"uuid": "GPU-2"}]})");
  has("GPU-0", 0);
  has("GPU-" + std::string(32, '?'), 1);  // never initialised
  has("GPU-2", 2);
  const FabricFacts facts = asked();
  ASSERT_EQ(facts.gpus.size(), 3U);
  EXPECT_EQ(facts.gpus[2].uuid, "");
  EXPECT_THAT(facts.gpus[2].error, HasSubstr("/dev/nvidia1"));
}

// One that NVML has counted and cannot ask has no UUID there: which of the two it is nobody knows.
TEST_F(KernelGpusTest, WhereSeveralMayBeMissingAllOfThemAreNamed) {
  driver_.say(R"({"gpus": [{"uuid": "GPU-0"}, {"handle": 15}]})");
  for (int i = 0; i < 3; ++i) has(base::cat("GPU-", i), i);
  const FabricFacts facts = asked();
  ASSERT_EQ(facts.gpus.size(), 3U);
  EXPECT_EQ(facts.gpus[2].uuid, "");
  EXPECT_THAT(facts.gpus[2].error, HasSubstr("is /dev/nvidia1 or /dev/nvidia2 in this container"));
}

TEST_F(KernelGpusTest, OneThatTheDriverExcludesIsNotMissed) {
  driver_.say(R"({"gpus": [{"uuid": "GPU-0"}]})");
  has("GPU-0", 0);
  has("GPU-1", 1, "Yes");
  EXPECT_EQ(asked().gpus.size(), 1U);
}

TEST_F(KernelGpusTest, AKernelModuleThatIsLoadedIsNotAskedFor) {
  driver_.say(R"({"init": 9})");
  EXPECT_THAT(asked().error, HasSubstr("is the NVIDIA driver loaded on this node?"));
  driver_.dir().write("proc/driver/nvidia/version", "NVRM version: 580.159.04\n");
  EXPECT_THAT(asked().error, AllOf(HasSubstr("the kernel module is loaded"),
                                   HasSubstr("is /dev/nvidiactl in this container?")));
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
