#include "agent/daemon_history.h"

#include <gtest/gtest.h>

namespace cdom::agent {
namespace {

using base::DaemonPhase;
using base::DaemonStatus;
using std::chrono::milliseconds;
using std::chrono::seconds;

DaemonStatus running(const std::string& instance, DaemonPhase phase,
                     const std::set<std::int64_t>& connected = {}) {
  DaemonStatus status;
  status.running = true;
  status.group = "g";
  status.instance = instance;
  status.phase = phase;
  for (const std::int64_t slot : connected) status.peers[slot] = base::kConnected;
  return status;
}

class History : public testing::Test {
 protected:
  core::SeenDaemon view_after(const DaemonStatus& status) {
    history.see(status);
    core::NodeWorld world;
    history.show(world);
    return world.daemon.value();
  }
  base::ManualClock clock;
  DaemonHistory history{clock};
};

TEST_F(History, KnowsSinceWhenAStateIs) {
  view_after(running("i", DaemonPhase::Starting));
  clock.advance(seconds(2));
  view_after(running("i", DaemonPhase::Ready));
  clock.advance(seconds(3));
  EXPECT_EQ(view_after(running("i", DaemonPhase::Ready)).since, seconds(2));
  EXPECT_EQ(view_after(running("j", DaemonPhase::Ready)).since, seconds(5));
}

TEST_F(History, KnowsSinceWhenAPeerIsNotConnectedAnyMore) {
  view_after(running("i", DaemonPhase::Ready, {1, 2}));
  clock.advance(seconds(4));
  const auto view = view_after(running("i", DaemonPhase::Ready, {1}));
  EXPECT_EQ(view.disconnected, (std::map<std::int64_t, base::Duration>{{2, seconds(4)}}));
  EXPECT_TRUE(view_after(running("i", DaemonPhase::Ready, {1, 2})).disconnected.empty());
  view_after(running("i", DaemonPhase::Ready));
  EXPECT_TRUE(view_after(running("j", DaemonPhase::Starting)).disconnected.empty());
}

TEST_F(History, PacesTheStartsAfterADaemonThatEnds) {
  const auto pause_after = [&](const std::string& instance) {
    DaemonStatus ended = running(instance, DaemonPhase::Failed);
    ended.running = false;
    const base::Duration pause = view_after(ended).due - clock.elapsed();
    EXPECT_EQ(view_after(ended).due - clock.elapsed(), pause) << "one end counts once";
    return pause;
  };
  view_after(running("i", DaemonPhase::Starting));
  EXPECT_EQ(pause_after("i"), milliseconds(250));
  view_after(running("j", DaemonPhase::Ready));
  clock.advance(seconds(9));
  EXPECT_EQ(pause_after("j"), milliseconds(500));
  view_after(running("k", DaemonPhase::Ready));
  clock.advance(seconds(10));
  EXPECT_EQ(pause_after("k"), seconds(0)) << "10 s of READY end a row";
}

TEST_F(History, TellsOfAStartThatFailedUntilOneSucceeds) {
  const DaemonStatus none;
  view_after(none);
  history.see_failed_start("g", "no such file");
  EXPECT_EQ(view_after(none).phase, DaemonPhase::Failed);
  EXPECT_EQ(view_after(none).message, "no such file");
  EXPECT_EQ(view_after(none).due, milliseconds(250));
  EXPECT_FALSE(may_start_by_itself(view_after(none)));
  history.see_failed_start("g", "no such file");
  EXPECT_EQ(view_after(none).due, milliseconds(500));
  history.see_failed_start("h", "no such file");
  EXPECT_EQ(view_after(none).due, milliseconds(250)) << "of another group";
  EXPECT_EQ(view_after(running("i", DaemonPhase::Starting)).message, "");
}

TEST_F(History, BelievesASupervisorThatStartsWhatItSeemedToRefuse) {
  DaemonStatus ended = running("i", DaemonPhase::Failed);
  ended.running = false;
  ended.message = "exited with code 1";
  ended.starts_again = true;
  history.see_failed_start("g", "it gives no answer");
  EXPECT_EQ(view_after(ended).message, "exited with code 1");
  EXPECT_TRUE(may_start_by_itself(view_after(ended)));
}

TEST_F(History, KnowsSinceWhenTheSupervisorIsSilent) {
  clock.advance(seconds(1));
  history.see(base::Error{base::ErrorKind::Unavailable, "gone"});
  clock.advance(seconds(1));
  history.see(base::Error{base::ErrorKind::Unavailable, "gone"});
  core::NodeWorld world;
  history.show(world);
  EXPECT_FALSE(world.daemon);
  EXPECT_EQ(world.supervisor_silent_since, seconds(1));
}

}  // namespace
}  // namespace cdom::agent
