#include "agent/server/server_view.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace cdom::agent {
namespace {

using base::ErrorKind;
using testing::IsEmpty;
using testing::SizeIs;
using namespace std::chrono_literals;

api::ComputeDomainNode report_in(const std::string& version, api::DaemonState state) {
  api::ComputeDomainNode report;
  report.meta.name = "n00";
  report.meta.uid = "n00-report";
  report.meta.resource_version = version;
  report.status.groups.emplace_back();
  report.status.groups.back().group = "g";
  report.status.groups.back().term = 3;
  report.status.groups.back().state = state;
  return report;
}

class ServerViewTest : public testing::Test {
 protected:
  ServerViewTest() { watch_shows(ready_); }

  void watch_shows(const api::ComputeDomainNode& report) {
    view_.take(
        Watched<api::ComputeDomainNode>{.objects = {report},
                                        .has_synced = true,
                                        .seen_version = std::stoull(report.meta.resource_version)});
  }
  void says_stopped() { view_.take(ReportWritten{{ready_.meta, stopped_.status}, stopped_}); }
  void says_stopped_and_gets(ErrorKind kind) {
    view_.take(ReportNotWritten{{ready_.meta, stopped_.status}, {kind, "as the test wants"}});
  }
  core::NodeWorld world() {
    core::NodeWorld world;
    view_.show(world);
    return world;
  }
  api::DaemonState shown() { return world().report.objects.at(0).status.groups.at(0).state; }

  const api::ComputeDomainNode ready_ = report_in("5", api::DaemonState::Ready);
  const api::ComputeDomainNode stopped_ = report_in("7", api::DaemonState::Stopped);
  base::ManualClock clock_;
  ServerView view_{clock_, "n00"};
};

TEST_F(ServerViewTest, ShowsWhatTheServerHasAnsweredWhileTheWatchIsBehind) {
  says_stopped();
  EXPECT_FALSE(world().report.current);
  clock_.advance(6s);
  EXPECT_TRUE(world().report.current) << "a watch that shows nothing is not waited for";
  EXPECT_EQ(shown(), api::DaemonState::Stopped) << "but what it shows is old";

  watch_shows(report_in("9", api::DaemonState::Starting));
  EXPECT_EQ(shown(), api::DaemonState::Starting);
}

TEST_F(ServerViewTest, ShowsWhatTheWatchShowsOnceAnotherHasWrittenTheReport) {
  says_stopped();
  says_stopped_and_gets(ErrorKind::Conflict);
  EXPECT_EQ(shown(), api::DaemonState::Ready);
}

TEST_F(ServerViewTest, RemembersAWordStoppedWithoutAnAnswerUntilTheReportIsSeenAfterIt) {
  EXPECT_THAT(world().maybe_stopped, IsEmpty());
  says_stopped_and_gets(ErrorKind::Unavailable);
  watch_shows(ready_);
  says_stopped_and_gets(ErrorKind::Conflict);  // perhaps with itself
  EXPECT_THAT(world().maybe_stopped, SizeIs(1));

  watch_shows(stopped_);
  EXPECT_THAT(world().maybe_stopped, IsEmpty());
}

TEST_F(ServerViewTest, ForgetsAWordStoppedWithoutAnAnswerWhenALaterOneIsAnswered) {
  says_stopped_and_gets(ErrorKind::Unavailable);
  EXPECT_THAT(world().maybe_stopped, SizeIs(1));
  says_stopped();
  EXPECT_THAT(world().maybe_stopped, IsEmpty());
}

TEST_F(ServerViewTest, RemembersNoWordThatTheServerHasRefusedForItsVersion) {
  says_stopped_and_gets(ErrorKind::Conflict);
  EXPECT_THAT(world().maybe_stopped, IsEmpty());
}

}  // namespace
}  // namespace cdom::agent
