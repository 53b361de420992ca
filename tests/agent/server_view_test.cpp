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

TEST_F(ServerViewTest, RemembersItsWordStoppedWhenAnotherHasWrittenTheReportSince) {
  says_stopped();
  view_.take(ReportNotWritten{{stopped_.meta, report_in("", api::DaemonState::Starting).status},
                              {ErrorKind::Conflict, "the controller has written"}});
  EXPECT_EQ(shown(), api::DaemonState::Ready) << "what the watch shows";
  EXPECT_THAT(world().maybe_stopped, SizeIs(1));

  watch_shows(report_in("8", api::DaemonState::Stopped));
  EXPECT_THAT(world().maybe_stopped, IsEmpty());
}

TEST_F(ServerViewTest, ForgetsWhatAnApiServerHadAnsweredThatWasSetBack) {
  says_stopped();
  watch_shows(report_in("9", api::DaemonState::Ready));
  view_.take(ReportWritten{{ready_.meta, stopped_.status}, report_in("1000", {})});
  watch_shows(report_in("7", api::DaemonState::Ready));
  EXPECT_EQ(shown(), api::DaemonState::Ready);
}

TEST_F(ServerViewTest, RemembersAWordStoppedWithoutAnAnswerUntilTheReportIsSeenAfterIt) {
  EXPECT_THAT(world().maybe_stopped, IsEmpty());
  says_stopped_and_gets(ErrorKind::Unavailable);
  watch_shows(ready_);
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

// The HTTP client repeats a write whose connection broke, and then meets itself.
TEST_F(ServerViewTest, RemembersAWordStoppedThatMetAConflict) {
  says_stopped_and_gets(ErrorKind::Conflict);
  EXPECT_THAT(world().maybe_stopped, SizeIs(1));
}

TEST_F(ServerViewTest, RemembersNoWordThatTheServerHasRefused) {
  says_stopped_and_gets(ErrorKind::Forbidden);
  says_stopped_and_gets(ErrorKind::Invalid);
  view_.take(ReportNotWritten{{{}, stopped_.status}, {ErrorKind::Unavailable, "no Node was read"}});
  EXPECT_THAT(world().maybe_stopped, IsEmpty());
}

TEST_F(ServerViewTest, RemembersNoWordThatTheReportHasSaidBefore) {
  watch_shows(stopped_);
  view_.take(ReportNotWritten{{stopped_.meta, stopped_.status}, {ErrorKind::Unavailable, "cut"}});
  EXPECT_THAT(world().maybe_stopped, IsEmpty());
}

TEST_F(ServerViewTest, DoesNotTakeARepeatedReportForOneThatIsCutShort) {
  view_.take(ReportWritten{{ready_.meta, ready_.status}, ready_});
  EXPECT_FALSE(world().cut_report);
  view_.take(ReportWritten{{ready_.meta, stopped_.status}, ready_});
  EXPECT_TRUE(world().cut_report);
}

// The answer says what is stored, whatever the watch has shown since the write was decided.
TEST_F(ServerViewTest, TakesAReportForCutShortOnlyIfLessOfItIsStored) {
  watch_shows(report_in("9", api::DaemonState::Starting));
  view_.take(ReportWritten{{ready_.meta, ready_.status}, ready_});
  EXPECT_FALSE(world().cut_report);
}

// Another agent of the node may have been replaced in the middle of its write.
TEST_F(ServerViewTest, ASlotWhoseDaemonHasNotStartedMayBeStoppedUntilAReportIsAnswered) {
  core::NodeWorld world;
  world.checkpoint.served.emplace().group = "g";
  view_.show(world);
  EXPECT_THAT(world.maybe_stopped, SizeIs(1));
  world.checkpoint.served->started = true;
  view_.show(world);
  EXPECT_THAT(world.maybe_stopped, IsEmpty());

  world.checkpoint.served->started = false;
  view_.take(ReportWritten{{ready_.meta, ready_.status}, report_in("6", {})});
  view_.show(world);
  EXPECT_THAT(world.maybe_stopped, IsEmpty());
}

}  // namespace
}  // namespace cdom::agent
