#include "compute_domain/base/daemon_policy.h"

#include <gtest/gtest.h>

#include "compute_domain/base/daemon_status.h"

namespace cdom::base {
namespace {

using namespace std::chrono_literals;

TEST(DaemonPolicy, PausesThatDoubleUpToSixteenSeconds) {
  DaemonPolicy policy;
  for (const Duration pause : {Duration(250ms), Duration(500ms), Duration(1s), Duration(2s),
                               Duration(4s), Duration(8s), Duration(16s), Duration(16s)}) {
    EXPECT_EQ(policy.next_pause(std::nullopt), pause);
  }
  for (int i = 0; i < 100; ++i) EXPECT_EQ(policy.next_pause(std::nullopt), 16s);
}

TEST(DaemonPolicy, ADaemonThatWasReadyStartsAtOnceTheFirstTime) {
  DaemonPolicy policy;
  EXPECT_EQ(policy.next_pause(1s), 0s);
  EXPECT_EQ(policy.next_pause(1s), 500ms);
  EXPECT_EQ(policy.next_pause(9s), 1s);
}

TEST(DaemonPolicy, TenSecondsOfReadyEndARowOfFailures) {
  DaemonPolicy policy;
  for (int i = 0; i < 5; ++i) policy.next_pause(std::nullopt);
  EXPECT_EQ(policy.next_pause(10s), 0s);
  EXPECT_EQ(policy.next_pause(std::nullopt), 500ms);
}

TEST(DaemonPolicy, LeavesFiveSecondsBetweenSignals) {
  EXPECT_EQ(DaemonPolicy::next_signal(std::nullopt), 0s);
  EXPECT_EQ(DaemonPolicy::next_signal(7s), 12s);
}

TEST(DaemonPolicy, SignalsAtOnceForTheFirstChangesOfAPeerAndThenAfterGapsThatDouble) {
  for (int changes = 0; changes < 5; ++changes) EXPECT_EQ(DaemonPolicy::signal_gap(changes), 0s);
  EXPECT_EQ(DaemonPolicy::signal_gap(5), 10s);
  EXPECT_EQ(DaemonPolicy::signal_gap(6), 20s);
  EXPECT_EQ(DaemonPolicy::signal_gap(9), 160s);
  EXPECT_EQ(DaemonPolicy::signal_gap(10), 5min);
  EXPECT_EQ(DaemonPolicy::signal_gap(1'000'000), 5min);
}

TEST(DaemonStatus, OfAnEarlierSupervisorMayStartByItselfWhenItHasFailed) {
  DaemonStatus daemon;
  EXPECT_FALSE(may_start_by_itself(daemon));
  daemon.phase = DaemonPhase::Failed;
  EXPECT_TRUE(may_start_by_itself(daemon));
  daemon.starts_again = false;
  EXPECT_FALSE(may_start_by_itself(daemon));
  daemon.starts_again = true;
  EXPECT_TRUE(may_start_by_itself(daemon));
  daemon.running = true;
  EXPECT_FALSE(may_start_by_itself(daemon)) << "it runs, and its end decides";
}

}  // namespace
}  // namespace cdom::base
