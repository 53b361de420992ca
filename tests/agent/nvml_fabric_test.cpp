#include "compute_domain/agent/nvml_fabric.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/stat.h>

#include <csignal>
#include <filesystem>
#include <stop_token>
#include <thread>

#include "base/directory.h"
#include "compute_domain/agent/nvml_crash.h"
#include "compute_domain/base/descriptor.h"

namespace cdom::agent {
namespace {

using std::chrono::minutes;
using std::chrono::seconds;
using ::testing::AllOf;
using ::testing::HasSubstr;

constexpr char kInClique7[] = R"(
driver: 580.65.06
gpus:
- &gpu {uuid: GPU-0, name: NVIDIA GB200, state: 3, cluster: 6f0a3c521c7e4b1f9d530c2f6c2b7a10, clique: 7}
- *gpu
)";
constexpr char kClique7[] = "6f0a3c52-1c7e-4b1f-9d53-0c2f6c2b7a10.7";

// A node's driver: the stand-in library below a driver root of its own, and the file that it reads.
class Driver {
 public:
  explicit Driver(const std::string& says = kInClique7) {
    install("libnvidia-ml");
    say(says);
  }
  void install(const std::string& stand_in) const {
    dir_.write(kPath, "");
    remove();
    std::filesystem::copy_file(std::string(CDOM_NVML_STAND_IN) + "/" + stand_in + ".so.1",
                               dir_.at(kPath));
  }
  void remove() const { std::filesystem::remove(dir_.at(kPath)); }
  void say(const std::string& yaml) const { dir_.write(std::string(kPath) + ".yaml", yaml); }
  [[nodiscard]] const base::Directory& dir() const { return dir_; }
  [[nodiscard]] NvmlOptions options() const {
    NvmlOptions options;
    options.driver_root = dir_.at("root");
    return options;
  }
  [[nodiscard]] FabricFacts read() const { return read_nvml(options()); }

  // Says the same, and hangs in this call until let_go().
  void hang_in(const std::string& call) const {
    ASSERT_EQ(mkfifo(dir_.at("pipe").c_str(), 0600), 0);
    say(std::string(kInClique7) + "hangs: " + call + "\nuntil: " + dir_.at("pipe") + "\n");
  }
  // After the call has begun: opening waits for it.
  void let_go() const { const base::Descriptor end(open(dir_.at("pipe").c_str(), O_WRONLY)); }

 private:
  static constexpr char kPath[] = "root/usr/lib64/libnvidia-ml.so.1";
  const base::Directory dir_;
};

bool has_news(const NvmlFabric& fabric) {
  pollfd news{.fd = fabric.descriptor(), .events = POLLIN, .revents = 0};
  return poll(&news, 1, 10'000) == 1;
}

// Of a question that is due.
core::FabricReading next_answer(NvmlFabric& fabric) {
  (void)fabric.read();
  EXPECT_TRUE(has_news(fabric));
  return fabric.read();
}

TEST(Nvml, IsFoundBelowTheDriverRootAndAskedAboutEveryGpu) {
  const Driver driver(R"(
driver: 580.65.06
gpus:
- {uuid: GPU-0, name: NVIDIA GB200, state: 3, cluster: 6f0a3c521c7e4b1f9d530c2f6c2b7a10, clique: 7}
- {uuid: GPU-1, state: 3, status: 15, cluster: "00000000000000000000000000000001", clique: 4294967295,
   mask: 1025, health: 2}
- {uuid: GPU-2, fabric: 3}
- {handle: 15}
)");
  const FabricFacts facts = driver.read();
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
    const FabricFacts facts = driver.read();
    EXPECT_EQ(reading_of(facts, FabricMode::Strict).clique, kClique7);
    ASSERT_EQ(facts.gpus.size(), 2U);
    EXPECT_EQ(facts.gpus[1].health, health);
  };
  expect_clique(FabricHealth::Healthy);
  for (const char* newest : {"newest: 2\n", "newest: 1\n"}) {
    driver.say(std::string(kInClique7) + newest);
    expect_clique(FabricHealth::NotTold);
  }
  driver.install("libnvidia-ml-old");
  expect_clique(FabricHealth::NotTold);
}

TEST(Nvml, ADriverThatIsNotThereIsTold) {
  const Driver driver("init: 9");
  EXPECT_EQ(
      driver.read().error,
      "NVML does not start: Driver Not Loaded (9): is the NVIDIA driver loaded on this node?");
  driver.say("init: 18");
  EXPECT_THAT(driver.read().error, HasSubstr("version mismatch (18): the driver was replaced"));
  driver.say("count: 999");
  EXPECT_EQ(driver.read().error, "NVML does not count the GPUs: Unknown Error (999)");
  driver.remove();
  EXPECT_THAT(driver.read().error, AllOf(HasSubstr("no libnvidia-ml.so.1 below the driver root"),
                                         HasSubstr("--driver-root")));
  driver.dir().write("root/usr/lib64/libnvidia-ml.so.1", "no library");
  EXPECT_THAT(driver.read().error, HasSubstr("cannot open " + driver.dir().at("root/usr/lib64")));
  NvmlOptions options;
  options.library = "libm.so.6";
  EXPECT_EQ(read_nvml(options).error, "libm.so.6 is no NVML, or one that is too old");
}

TEST(NvmlFabric, SaysNothingUntilTheFirstAnswer) {
  const Driver driver;
  const base::ManualClock clock;
  NvmlFabric fabric(driver.options(), clock);
  EXPECT_EQ(fabric.read(), core::FabricReading());
  ASSERT_TRUE(has_news(fabric));
  EXPECT_EQ(fabric.read(), (core::FabricReading{kClique7, {}}));
  EXPECT_EQ(fabric.facts().gpus.size(), 2U);
}

TEST(NvmlFabric, AsksAgainAndSeesAnotherClique) {
  const Driver driver;
  base::ManualClock clock;
  NvmlFabric fabric(driver.options(), clock);
  EXPECT_EQ(next_answer(fabric).clique, kClique7);
  driver.say("gpus: [{state: 3, cluster: 6f0a3c521c7e4b1f9d530c2f6c2b7a10, clique: 8}]");
  EXPECT_EQ(fabric.read().clique, kClique7) << "it is not due yet";
  clock.advance(minutes(1));
  EXPECT_EQ(next_answer(fabric).clique, "6f0a3c52-1c7e-4b1f-9d53-0c2f6c2b7a10.8");
}

TEST(NvmlFabric, ACliqueIsNotLostByAnAnswerWithoutOne) {
  const Driver driver;
  base::ManualClock clock;
  NvmlFabric fabric(driver.options(), clock);
  EXPECT_EQ(next_answer(fabric).clique, kClique7);
  driver.say("gpus: []");
  clock.advance(minutes(1));
  const auto without = next_answer(fabric);
  EXPECT_EQ(without.clique, std::nullopt);
  EXPECT_THAT(without.error, AllOf(HasSubstr(kClique7), HasSubstr("restart the agent")));
  driver.say(kInClique7);
  clock.advance(seconds(5));
  EXPECT_EQ(next_answer(fabric), (core::FabricReading{kClique7, {}}));
}

TEST(NvmlFabric, ADriverThatIsReplacedWhileTheAgentRunsIsSeen) {
  const Driver driver;
  base::ManualClock clock;
  NvmlFabric fabric(driver.options(), clock);
  EXPECT_EQ(next_answer(fabric).clique, kClique7);
  driver.remove();
  clock.advance(minutes(1));
  EXPECT_THAT(next_answer(fabric).error, HasSubstr("no libnvidia-ml.so.1"));
  driver.install("libnvidia-ml-old");
  clock.advance(seconds(5));
  EXPECT_EQ(next_answer(fabric), (core::FabricReading{kClique7, {}}));
  EXPECT_EQ(fabric.facts().gpus.at(0).health, FabricHealth::NotTold) << "it is another library";
}

TEST(NvmlFabric, AGpuThatIsLostIsToldWhileTheOthersAnswer) {
  const Driver driver;
  base::ManualClock clock;
  NvmlFabric fabric(driver.options(), clock);
  EXPECT_EQ(next_answer(fabric).clique, kClique7);
  driver.say(std::string(kInClique7) + "- {handle: 15}\n");
  clock.advance(minutes(1));
  EXPECT_THAT(next_answer(fabric).error, HasSubstr("GPU 2 cannot be asked: GPU is lost (15)"));
}

TEST(NvmlFabric, ACallThatDoesNotReturnIsToldAndHoldsUpNobody) {
  for (const std::string call :
       {"nvmlInitWithFlags", "nvmlDeviceGetGpuFabricInfoV", "nvmlShutdown"}) {
    const Driver driver;
    base::ManualClock clock;
    NvmlFabric fabric(driver.options(), clock);
    EXPECT_EQ(next_answer(fabric).clique, kClique7);
    driver.hang_in(call);
    clock.advance(minutes(1));
    EXPECT_EQ(fabric.read().clique, kClique7) << "patience";
    // The call has begun once somebody reads the pipe.
    const base::Descriptor pipe(open(driver.dir().at("pipe").c_str(), O_WRONLY));
    clock.advance(seconds(10));
    const auto reading = fabric.read();
    EXPECT_EQ(reading.clique, std::nullopt);
    EXPECT_THAT(reading.error, AllOf(HasSubstr("NVML has not answered for 10s"),
                                     HasSubstr(call.substr(0, call.find('V')))));
    clock.advance(minutes(5));
    EXPECT_EQ(fabric.read(), reading) << "no news";
  }
}

TEST(NvmlFabric, ACallThatReturnsAfterAllEndsTheFault) {
  const Driver driver;
  base::ManualClock clock;
  driver.hang_in("nvmlDeviceGetCount_v2");
  NvmlFabric fabric(driver.options(), clock);
  EXPECT_EQ(fabric.read(), core::FabricReading());
  clock.advance(seconds(10));
  EXPECT_THAT(fabric.read().error, HasSubstr("has not answered"));
  driver.let_go();
  ASSERT_TRUE(has_news(fabric));
  EXPECT_EQ(fabric.read(), (core::FabricReading{kClique7, {}}));
}

TEST(NvmlFabric, ItsEndLeavesACallBehindThatDoesNotReturn) {
  const Driver driver;
  const base::ManualClock clock;
  driver.hang_in("nvmlInitWithFlags");
  NvmlFabric fabric(driver.options(), clock);
  EXPECT_EQ(fabric.read(), core::FabricReading());
  // Waits until the call has begun. Never closed: the call is to last longer than this test.
  EXPECT_GE(open(driver.dir().at("pipe").c_str(), O_WRONLY | O_CLOEXEC), 0);
}

TEST(Nvml, WhoAsksOnceIsToldInWhichCallItHangs) {
  const Driver driver;
  driver.hang_in("nvmlDeviceGetGpuFabricInfoV");
  NvmlOptions options = driver.options();
  options.patience = std::chrono::seconds(1);
  const NvmlAnswer answer = read_nvml_within_patience(options, {});
  EXPECT_TRUE(answer.is_left_behind);
  EXPECT_THAT(answer.facts.error,
              HasSubstr("NVML has not answered for 1s (nvmlDeviceGetGpuFabricInfo of GPU 0)"));
}

TEST(Nvml, WhoAsksOnceMayGiveUp) {
  const Driver driver;
  driver.hang_in("nvmlInitWithFlags");
  std::stop_source stop;
  const std::jthread impatient([&] {
    // As above: a call that began later could outlive what it reads.
    EXPECT_GE(open(driver.dir().at("pipe").c_str(), O_WRONLY | O_CLOEXEC), 0);
    stop.request_stop();
  });
  const NvmlAnswer answer = read_nvml_within_patience(driver.options(), stop.get_token());
  EXPECT_TRUE(answer.is_left_behind);
  EXPECT_THAT(answer.facts.error, HasSubstr("given up"));
}

TEST(Nvml, WhoAsksOnceGetsTheAnswer) {
  const Driver driver;
  const NvmlAnswer answer = read_nvml_within_patience(driver.options(), {});
  EXPECT_FALSE(answer.is_left_behind);
  EXPECT_EQ(reading_of(answer.facts, FabricMode::Strict).clique, kClique7);
}

TEST(NvmlDeathTest, ACrashInTheLibraryLeavesALine) {
  testing::FLAGS_gtest_death_test_style = "threadsafe";
  const Driver driver(std::string(kInClique7) + "crashes: nvmlDeviceGetUUID\n");
  EXPECT_EXIT(
      {
        report_nvml_crashes("the-agent");
        (void)driver.read();
      },
      testing::KilledBySignal(SIGSEGV),
      "the-agent: crashed in the GPU driver's library, in nvmlDeviceGetUUID of GPU 0");
}

}  // namespace
}  // namespace cdom::agent
