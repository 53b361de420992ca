#include "agent/daemon_history.h"

#include <gtest/gtest.h>

namespace cdom::agent {
namespace {

using std::chrono::seconds;

ImexStatus running(const std::string& instance, api::DaemonState state,
                   std::set<std::int64_t> connected = {}) {
  ImexStatus status;
  status.running = true;
  status.group = "g";
  status.instance = instance;
  status.state = state;
  status.connected = std::move(connected);
  return status;
}

class History : public testing::Test {
 protected:
  core::DaemonView view_after(const ImexStatus& status) {
    history.see(status);
    core::NodeWorld world;
    history.show(world);
    return world.daemon.value();
  }
  base::ManualClock clock;
  DaemonHistory history{clock};
};

TEST_F(History, KnowsSinceWhenAStateIs) {
  view_after(running("i", api::DaemonState::Starting));
  clock.advance(seconds(2));
  view_after(running("i", api::DaemonState::Ready));
  clock.advance(seconds(3));
  EXPECT_EQ(view_after(running("i", api::DaemonState::Ready)).since, seconds(2));
  EXPECT_EQ(view_after(running("j", api::DaemonState::Ready)).since, seconds(5));
}

TEST_F(History, KnowsSinceWhenAPeerIsConnectedOrNot) {
  view_after(running("i", api::DaemonState::Ready, {1, 2}));
  clock.advance(seconds(4));
  const auto view = view_after(running("i", api::DaemonState::Ready, {1}));
  EXPECT_EQ(view.connected.at(1), seconds(0));
  EXPECT_FALSE(view.connected.contains(2));
  EXPECT_EQ(view.disconnected.at(2), seconds(4));
  EXPECT_TRUE(view_after(running("j", api::DaemonState::Starting)).disconnected.empty());
}

TEST_F(History, CountsEndsUntilADaemonHasBeenReadyForTenSeconds) {
  ImexStatus ended = running("i", api::DaemonState::Failed);
  ended.running = false;
  view_after(running("i", api::DaemonState::Starting));
  EXPECT_EQ(view_after(ended).failures, 1);
  EXPECT_EQ(view_after(ended).failures, 1);
  view_after(running("j", api::DaemonState::Starting));
  ended.instance = "j";
  EXPECT_EQ(view_after(ended).failures, 2);
  view_after(running("k", api::DaemonState::Ready));
  clock.advance(seconds(9));
  ended.instance = "k";
  EXPECT_EQ(view_after(ended).failures, 3);
  view_after(running("l", api::DaemonState::Ready));
  clock.advance(seconds(10));
  ended.instance = "l";
  EXPECT_EQ(view_after(ended).failures, 1);
}

TEST_F(History, TellsOfAStartThatFailedUntilOneSucceeds) {
  const ImexStatus none;
  view_after(none);
  history.see_failed_start("g", "no such file");
  EXPECT_EQ(view_after(none).state, api::DaemonState::Failed);
  EXPECT_EQ(view_after(none).message, "no such file");
  EXPECT_EQ(view_after(running("i", api::DaemonState::Starting)).message, "");
}

TEST_F(History, KnowsSinceWhenTheOwnerIsSilent) {
  clock.advance(seconds(1));
  history.see(base::Error{base::ErrorKind::Unavailable, "gone"});
  clock.advance(seconds(1));
  history.see(base::Error{base::ErrorKind::Unavailable, "gone"});
  core::NodeWorld world;
  history.show(world);
  EXPECT_FALSE(world.daemon);
  EXPECT_EQ(world.owner_silent_since, seconds(1));
}

}  // namespace
}  // namespace cdom::agent
