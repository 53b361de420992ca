#include "compute_domain/plugin/timeline.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "plugin/views.h"

namespace cdom::plugin {
namespace {

using namespace plugin::testing;  // NOLINT(google-build-using-namespace): the words of a view
using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::Field;
using ::testing::HasSubstr;
using namespace std::chrono_literals;

TimelineReport timeline_of(const ClusterView& view) {
  const auto report = timeline(view, {"team-a", "train"});
  return report ? *report : TimelineReport{};
}

// Made 20 s, 19 s, …, and Ready at kNow.
ClusterView formed_view() {
  ClusterView view = settled_view();
  view.domains.front().meta.creation_time = kNow - 25s;
  pod_in(view, "pod-c2").meta.creation_time = kNow - 19s;
  for (api::ComputeDomainNode& report : view.reports) {
    report.status.groups.front().since = kNow - 5s;
  }
  return view;
}

api::Occurrence event_on(const std::string& uid, const std::string& reason, base::Time time) {
  api::Occurrence event;
  event.meta.name = reason;
  event.involved.uid = uid;
  event.type = "Warning";
  event.reason = reason;
  event.message = "something";
  event.event_time = time;
  return event;
}

TEST(Timeline, GoesFromTheFirstPodToReady) {
  const TimelineReport report = timeline_of(formed_view());
  EXPECT_EQ(report.zero, kNow - 20s);
  EXPECT_EQ(report.ready, kNow);
  EXPECT_THAT(report.phases, ElementsAre(TimelinePhase{"PodsCreated", "pods created", 1s},
                                         TimelinePhase{"PodsScheduled", "pods scheduled", 1s},
                                         TimelinePhase{"DaemonsReady", "IMEX daemons READY", 13s},
                                         TimelinePhase{"DomainReady", "ComputeDomain Ready", 5s}));
  EXPECT_EQ(report.entries.front().what, "created");
  EXPECT_THAT(text_of(report),
              AllOf(HasSubstr("-5s"), HasSubstr("Ready 20s after the first pod was created: pods "
                                                "created +1s, pods scheduled +1s")));
}

TEST(Timeline, TellsTheFirstAndTheLastOfSeveralPods) {
  const TimelineReport report = timeline_of(formed_view());
  EXPECT_THAT(
      report.entries,
      AllOf(
          Contains(TimelineEntry{kNow - 20s, "pod pod-c1", "created, the first of 2 pods", false}),
          Contains(TimelineEntry{kNow - 19s, "pod pod-c2", "created, the last of 2 pods", false}),
          Contains(TimelineEntry{kNow - 18s, "pods pod-c1, pod-c2", "scheduled", false})));
}

// Anybody who may write Events chooses their times.
TEST(Timeline, IsOfTimesThatAreCenturiesApart) {
  ClusterView view = formed_view();
  view.events = {event_on("uid-train", "Old", *base::parse_rfc3339("0001-01-01T00:00:00Z")),
                 event_on("uid-train", "New", *base::parse_rfc3339("9999-01-01T00:00:00Z"))};
  view.events.front().series_last = view.events.back().event_time;
  view.events.front().count = 2;
  const TimelineReport report = timeline_of(view);
  EXPECT_THAT(report.entries.front().what, HasSubstr("(2 times, the last 36525d later)"));
  EXPECT_THAT(json_of(report), HasSubstr("\"offsetSeconds\": -3155760000.0"));
  EXPECT_THAT(json_of(report), HasSubstr("\"offsetSeconds\": 3155760000.0"));
}

TEST(Timeline, HasTheEventsOfTheDomainItsClaimsAndItsPods) {
  ClusterView view = formed_view();
  view.events = {event_on("uid-train", "Unreachable", kNow - 3s),
                 event_on("uid-pod-c1", "FailedScheduling", kNow - 19s),
                 event_on("uid-c1", "InvalidConfig", kNow - 17s),
                 event_on("uid-else", "Other", kNow - 16s)};
  view.events.front().series_last = kNow - 1s;
  view.events.front().count = 4;
  const TimelineReport report = timeline_of(view);
  EXPECT_THAT(
      report.entries,
      AllOf(Contains(
                TimelineEntry{kNow - 19s, "pod pod-c1", "FailedScheduling: something", true, true}),
            Contains(TimelineEntry{kNow - 17s, "claim c1", "InvalidConfig: something", true, true}),
            Contains(TimelineEntry{kNow - 3s, "ComputeDomain",
                                   "Unreachable: something (4 times, the last 2s later)", true,
                                   true})));
  EXPECT_THAT(report.entries,
              ::testing::Not(Contains(Field(&TimelineEntry::what, HasSubstr("Other")))));
}

TEST(Timeline, RemembersByItsEventThatTheDomainWasReady) {
  core::World world = settled_world();
  core::testing::group_report(world, "n1").state = api::DaemonState::Failed;
  ClusterView view = view_of(world);
  EXPECT_EQ(timeline_of(view).ready, std::nullopt);
  EXPECT_THAT(text_of(timeline_of(view)), HasSubstr("It has not been Ready yet."));
  view.events = {event_on("uid-train", "AllNodesReady", kNow - 9s)};
  EXPECT_EQ(timeline_of(view).ready, kNow - 9s);
}

// Its pods were made again since it got Ready for the first time.
TEST(Timeline, CountsFromTheFirstPodToTheReadyThatCameAfterIt) {
  ClusterView view = formed_view();
  view.events = {event_on("uid-train", "AllNodesReady", kNow - 30min)};
  EXPECT_EQ(timeline_of(view).ready, kNow);
  EXPECT_THAT(text_of(timeline_of(view)), HasSubstr("Ready 20s after the first pod was created"));
}

// A pod took another one's place when all was Ready.
TEST(Timeline, CountsOnlyWhatCameBeforeReadyAsTheWayToIt) {
  ClusterView view = formed_view();
  view.events = {event_on("uid-train", "AllNodesReady", kNow - 8s)};
  api::PodState& later = pod_in(view, "pod-c2");
  later.meta.creation_time = kNow - 4s;
  later.conditions.front().since = kNow - 3s;
  report_in(view, "n1").status.groups.front().since = kNow - 9s;
  report_in(view, "n2").status.groups.front().since = kNow - 2s;
  const TimelineReport report = timeline_of(view);
  EXPECT_EQ(report.ready, kNow - 8s);
  EXPECT_THAT(report.phases, ElementsAre(TimelinePhase{"PodsCreated", "pods created", 0s},
                                         TimelinePhase{"PodsScheduled", "pods scheduled", 2s},
                                         TimelinePhase{"DaemonsReady", "IMEX daemons READY", 9s},
                                         TimelinePhase{"DomainReady", "ComputeDomain Ready", 1s}));
}

TEST(Timeline, SaysThatItWasReadyBeforeItsPods) {
  core::World world = settled_world();
  core::testing::group_report(world, "n1").state = api::DaemonState::Failed;
  ClusterView view = view_of(world);
  view.events = {event_on("uid-train", "AllNodesReady", kNow - 30min)};
  const TimelineReport report = timeline_of(view);
  EXPECT_EQ(report.ready, kNow - 30min);
  EXPECT_THAT(report.phases, ::testing::IsEmpty());
  EXPECT_THAT(text_of(report), HasSubstr("Ready 29m40s before the first pod was created"));
}

TEST(Timeline, DoesNotSayThatItWasNeverReadyWhereNobodyKnows) {
  core::World world = settled_world();
  core::testing::group_report(world, "n1").state = api::DaemonState::Failed;
  ClusterView view = view_of(world);
  view.domains.front().meta.creation_time = kNow - 48h;
  EXPECT_THAT(text_of(timeline_of(view)),
              HasSubstr("No time at which it was Ready is known (Events last an hour)."));
}

TEST(Timeline, CountsFromTheDomainWhereThereIsNoPod) {
  ClusterView view = formed_view();
  view.pods.clear();
  EXPECT_THAT(text_of(timeline_of(view)), HasSubstr("Ready 25s after it was created"));
}

TEST(Timeline, HasDurationsForPrograms) {
  EXPECT_THAT(json_of(timeline_of(formed_view())),
              AllOf(HasSubstr("\"readyAfterSeconds\": 20.0"), HasSubstr("\"seconds\": 13.0")));
}

}  // namespace
}  // namespace cdom::plugin
