// With the program that asks NVML, and a stand-in for NVML.
#include "imex/host/fabric_watch.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/wait.h>

#include <thread>

#include "compute_domain/nvidia/fabric_verdict.h"
#include "imex/few_descriptors.h"
#include "imex/rig.h"
#include "nvidia/driver.h"

namespace cdom::imex {
namespace {

using nvidia::Driver;
using std::chrono::minutes;
using std::chrono::seconds;
using ::testing::AllOf;
using ::testing::HasSubstr;

class FabricWatchTest : public testing::Test {
 protected:
  // Until the process that is asked has said something new; false: it has ended without, or after
  // ten seconds.
  bool hears_news() {
    const base::SystemClock clock;
    const base::Duration end = clock.elapsed() + seconds(10);
    while (clock.elapsed() < end) {
      if (watch_.step()) return true;
      const Child* process = watch_.process().child();
      if (process == nullptr) return false;
      pollfd exit{.fd = process->exit_descriptor(), .events = POLLIN, .revents = 0};
      poll(&exit, 1, 1'000);
    }
    return false;
  }
  // The next process has begun this call, which hangs.
  void let_it_hang() {
    (void)watch_.step();
    const base::Descriptor begun(open(driver_.dir().at("pipe").c_str(), O_WRONLY));
    pipe_.emplace(open(driver_.dir().at("pipe").c_str(), O_WRONLY));
  }
  std::string clique() { return *nvidia::verdict_of(*watch_.facts(), {}).clique; }

  Driver driver_;
  base::ManualClock clock_;
  FabricWatch watch_{{.command = {CDOM_IMEX_PROGRAM, "fabric", "--lines",
                                  "--driver-root=" + driver_.options().driver_root}},
                     clock_};
  std::optional<base::Descriptor> pipe_;
};

TEST_F(FabricWatchTest, SaysWhatTheLibrarySaysAndAsksAgain) {
  EXPECT_FALSE(watch_.facts());
  ASSERT_TRUE(hears_news());
  EXPECT_EQ(clique(), nvidia::kClique7);
  EXPECT_EQ(watch_.facts()->gpus.size(), 2U);
  EXPECT_FALSE(watch_.step()) << "it is not due yet";
  EXPECT_EQ(watch_.next_due(), clock_.elapsed() + minutes(1));
  clock_.advance(minutes(1));
  EXPECT_FALSE(hears_news()) << "the same is not news";
  driver_.say(
      R"({"gpus": [{"state": 3, "cluster": "6f0a3c521c7e4b1f9d530c2f6c2b7a10", "clique": 8}]})");
  clock_.advance(minutes(1));
  ASSERT_TRUE(hears_news());
  EXPECT_EQ(clique(), "6f0a3c52-1c7e-4b1f-9d53-0c2f6c2b7a10.8");
}

TEST_F(FabricWatchTest, AsksSoonerWhereAGpuHasNotJoinedItsFabric) {
  driver_.say(R"({"gpus": [{"state": 2}]})");
  ASSERT_TRUE(hears_news());
  driver_.say(nvidia::kInClique7);
  clock_.advance(seconds(5));
  ASSERT_TRUE(hears_news());
  EXPECT_EQ(clique(), nvidia::kClique7);
}

TEST_F(FabricWatchTest, SeesADriverThatIsReplaced) {
  ASSERT_TRUE(hears_news());
  driver_.remove();
  clock_.advance(minutes(1));
  ASSERT_TRUE(hears_news());
  EXPECT_THAT(watch_.facts()->error, HasSubstr("no libnvidia-ml.so.1 below the driver root"));
  driver_.install("libnvidia-ml");
  clock_.advance(seconds(5));
  ASSERT_TRUE(hears_news());
  EXPECT_EQ(clique(), nvidia::kClique7);
}

TEST_F(FabricWatchTest, KillsAProcessThatHangsAndNamesTheCall) {
  ASSERT_TRUE(hears_news());
  driver_.hang_in("nvmlDeviceGetGpuFabricInfoV");
  clock_.advance(minutes(1));
  let_it_hang();
  EXPECT_FALSE(watch_.step()) << "patience";
  EXPECT_EQ(clique(), nvidia::kClique7);
  clock_.advance(seconds(10));
  ASSERT_TRUE(hears_news());
  EXPECT_EQ(watch_.facts()->error,
            "NVML has not answered for 10s (nvmlDeviceGetGpuFabricInfo of GPU 0): a GPU or its "
            "driver hangs");
  driver_.say(nvidia::kInClique7);
  // Not before the one that hung has ended, which takes the kernel a moment.
  const base::SystemClock real;
  const base::Duration end = real.elapsed() + seconds(10);
  while (!watch_.facts()->error.empty() && real.elapsed() < end) {
    clock_.advance(seconds(5));
    (void)hears_news();
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  ASSERT_EQ(watch_.facts()->error, "");
  EXPECT_EQ(clique(), nvidia::kClique7);
}

TEST_F(FabricWatchTest, KeepsWhatWasSaidWhileNoProcessCanBeStarted) {
  ASSERT_TRUE(hears_news());
  clock_.advance(minutes(1));
  {
    const FewDescriptors none(0);
    EXPECT_FALSE(watch_.step());
  }
  EXPECT_EQ(clique(), nvidia::kClique7);
  driver_.remove();
  clock_.advance(seconds(5));
  EXPECT_TRUE(hears_news()) << "it is asked again soon";
}

TEST_F(FabricWatchTest, SaysWhyNoProcessCouldBeStarted) {
  const FewDescriptors none(0);
  ASSERT_TRUE(watch_.step());
  EXPECT_THAT(watch_.facts()->error, HasSubstr("cannot make a pipe: Too many open files"));
}

TEST_F(FabricWatchTest, APauseEndsTheProcessAndKeepsWhatWasSaid) {
  ASSERT_TRUE(hears_news());
  driver_.hang_in("nvmlDeviceGetGpuFabricInfoV");
  clock_.advance(minutes(1));
  let_it_hang();
  ASSERT_NE(watch_.process().child(), nullptr);
  const pid_t pid = watch_.process().child()->pid();
  watch_.pause(true);
  EXPECT_EQ(watch_.process().child(), nullptr);
  EXPECT_EQ(watch_.next_due(), std::nullopt);
  const base::SystemClock real;
  const base::Duration end = real.elapsed() + seconds(10);
  siginfo_t ended{};
  while (real.elapsed() < end && ended.si_pid != pid) {
    (void)waitid(P_PID, static_cast<id_t>(pid), &ended, WEXITED | WNOHANG | WNOWAIT);
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  EXPECT_EQ(ended.si_pid, pid) << "it holds the driver no more";
  clock_.advance(minutes(10));
  EXPECT_FALSE(watch_.step());
  EXPECT_EQ(watch_.process().child(), nullptr);
  EXPECT_EQ(clique(), nvidia::kClique7);
  driver_.say(
      R"({"gpus": [{"state": 3, "cluster": "6f0a3c521c7e4b1f9d530c2f6c2b7a10", "clique": 8}]})");
  watch_.pause(false);
  EXPECT_EQ(watch_.next_due(), clock_.elapsed());
  ASSERT_TRUE(hears_news());
  EXPECT_EQ(clique(), "6f0a3c52-1c7e-4b1f-9d53-0c2f6c2b7a10.8");
}

TEST_F(FabricWatchTest, NamesTheCallInWhichTheLibraryCrashes) {
  driver_.say(nvidia::in_clique_7_and(R"("crashes": "nvmlDeviceGetUUID")"));
  ASSERT_TRUE(hears_news());
  EXPECT_THAT(watch_.facts()->error, AllOf(HasSubstr("library has failed (nvmlDeviceGetUUID of GPU "
                                                     "0)"),
                                           HasSubstr("kernel log")));
}

TEST(FabricWatch, ACommandThatCannotBeStartedIsAFault) {
  const base::ManualClock clock;
  FabricWatch watch({.command = {"/nowhere/compute-domain-imex"}}, clock);
  ASSERT_TRUE(watch.step());
  EXPECT_THAT(watch.facts()->error, HasSubstr("cannot execute /nowhere/compute-domain-imex"));
}

TEST(FabricWatch, WithoutACommandThereAreNoFacts) {
  const base::ManualClock clock;
  FabricWatch watch({}, clock);
  EXPECT_FALSE(watch.step());
  EXPECT_EQ(watch.next_due(), std::nullopt);
  EXPECT_FALSE(watch.facts());
}

// A daemon lives with its supervisor, whatever the driver's library does.
TEST(ImexSupervisor, TellsItsAgentsTheFabricAndItsChanges) {
  const Driver driver;
  Rig rig(0, 1);
  rig.nodes.push_back(std::make_unique<Node>(0));
  Node& node = rig.node(0);
  node.options.fabric_command = {CDOM_IMEX_PROGRAM, "fabric", "--lines",
                                 "--driver-root=" + driver.options().driver_root};
  ASSERT_TRUE(node.open());
  node.connect();
  EXPECT_TRUE(rig.until([&] { return node.agent->fabric.has_value(); }));
  EXPECT_EQ(node.agent->fabric->gpus.size(), 2U);
  node.connect();  // another agent, which hears it at once
  EXPECT_TRUE(rig.until([&] { return node.agent->state.has_value(); }));
  EXPECT_TRUE(node.agent->fabric.has_value()) << "whoever has a state knows the fabric as well";
}

TEST(ImexSupervisor, LetsGoOfTheDriverWhenItIsToldAndKeepsTheDaemon) {
  const Driver driver;
  Rig rig(0, 1);
  rig.nodes.push_back(std::make_unique<Node>(0));
  Node& node = rig.node(0);
  node.options.fabric_command = {CDOM_IMEX_PROGRAM, "fabric", "--lines",
                                 "--driver-root=" + driver.options().driver_root};
  ASSERT_TRUE(node.open());
  rig.start(0);
  ASSERT_TRUE(rig.until_phase(0, DaemonPhase::Ready));
  ASSERT_TRUE(rig.until([&] { return node.agent->fabric.has_value(); }));
  EXPECT_EQ(node.agent->state->driver_paused, false);
  EXPECT_FALSE(rig.ask(node, PauseDriver{true}));
  ASSERT_TRUE(rig.until([&] { return node.agent->state->driver_paused == true; }));
  EXPECT_EQ(node.agent->state->phase, DaemonPhase::Ready) << "it may have a claim";
  driver.say(
      R"({"gpus": [{"state": 3, "cluster": "6f0a3c521c7e4b1f9d530c2f6c2b7a10", "clique": 8}]})");
  EXPECT_FALSE(rig.ask(node, PauseDriver{false}));
  EXPECT_TRUE(rig.until([&] { return node.agent->fabric->gpus.at(0).clique_id == 8; }));
  EXPECT_EQ(node.agent->state->driver_paused, false);
}

}  // namespace
}  // namespace cdom::imex
