// What the controller says and does when its watches do not work.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <thread>

#include "compute_domain/base/text.h"
#include "compute_domain/controller/controller.h"
#include "controller/empty_server.h"

namespace cdom::controller {
namespace {

using namespace std::chrono_literals;
using base::cat;
using base::ErrorKind;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

class WatchHealth : public testing::Test {
 protected:
  // All that there is to do, for so long.
  void run_for(base::Duration span) {
    const base::Duration end = clock_.elapsed() + span;
    while (clock_.elapsed() < end) {
      bool any = false;
      for (const auto& part : controller_.parts()) any |= part.step();
      if (!any) clock_.advance(100ms);
    }
  }

  EmptyServer server_;
  base::ManualClock clock_;
  base::Registry metrics_;
  kube::Client client_{server_, clock_, "test"};
  Controller controller_{client_, clock_, metrics_, {}};
};

TEST_F(WatchHealth, IsNotReadyUntilEveryWatchIsSynced) {
  EXPECT_THAT(controller_.not_ready(), HasSubstr("watch of nodes: not synced yet"));
  server_.refuse("/api/v1/nodes", 403);
  run_for(1s);
  EXPECT_THAT(controller_.not_ready(), AllOf(HasSubstr("watch of nodes: not synced yet: Forbidden"),
                                             Not(HasSubstr("computedomains"))));
  server_.refuse("", 0);
  run_for(1min);
  EXPECT_EQ(controller_.not_ready(), "");
}

// Its right comes with what switches it on: without both the controller would never be ready.
TEST_F(WatchHealth, ComputeDomainCliquesAreWatchedOnlyWhereTheyAreFilled) {
  const auto watches = [](const Controller& controller) {
    return std::ranges::any_of(controller.parts(), [](const Controller::Part& part) {
      return part.name == "computedomaincliques";
    });
  };
  EXPECT_FALSE(watches(controller_));
  Options options;
  options.settings.fills_cliques = true;
  const Controller filling(client_, clock_, metrics_, options);
  EXPECT_TRUE(watches(filling));
  server_.refuse("/computedomaincliques", 403);
  run_for(10s);
  EXPECT_EQ(controller_.not_ready(), "");
}

TEST_F(WatchHealth, SaysWhichWatchFailsAfterItsSyncAndNotWhatTheServerSaid) {
  run_for(10s);
  ASSERT_EQ(controller_.not_ready(), "");
  server_.refuse("/resourceclaims", 500);
  run_for(5s);
  EXPECT_EQ(controller_.not_ready(), "") << "a moment is nothing";
  run_for(10s);
  EXPECT_THAT(controller_.not_ready(),
              AllOf(HasSubstr("watch of resourceclaims: Unavailable for 1"),
                    Not(HasSubstr("of-somebody"))));
  EXPECT_EQ(controller_.lost_kind(), std::nullopt);
  server_.refuse("", 0);
  run_for(1min);
  EXPECT_EQ(controller_.not_ready(), "");
}

TEST_F(WatchHealth, AKindThatIsNotServedForAMinuteEndsTheController) {
  run_for(10s);
  server_.refuse("/computedomainnodes", 404);
  run_for(50s);
  EXPECT_EQ(controller_.lost_kind(), std::nullopt);
  run_for(40s);
  const auto lost = controller_.lost_kind();
  ASSERT_TRUE(lost);
  EXPECT_EQ(lost->kind, ErrorKind::NotFound);
  // Its first refusal came with the first retry after the cut.
  EXPECT_THAT(lost->message, HasSubstr("has not served computedomainnodes for 89s ("));
  const auto done = controller_.run({});
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().kind, ErrorKind::NotFound);
}

TEST_F(WatchHealth, EveryThreadHasAPulse) {
  const base::SystemClock clock;
  base::ManualClock time_of_threads;
  base::Pulses pulses(time_of_threads, 1min);
  Controller controller(client_, clock, metrics_, {.workers = 1, .pulses = &pulses});
  std::jthread thread([&](const std::stop_token& stop) { (void)controller.run(stop); });
  const auto patience = std::chrono::steady_clock::now() + 20s;
  std::string stuck;
  const auto has_all = [&] {
    return stuck.find("worker-0") != std::string::npos && stuck.find("events") != std::string::npos;
  };
  // All of them wait for something now, and no time has passed for them.
  while (!has_all() && std::chrono::steady_clock::now() < patience) {
    std::this_thread::sleep_for(10ms);
    time_of_threads.advance(61s);
    stuck = pulses.stuck();
  }
  for (const char* name : {"worker-0", "events", "watch of computedomains", "watch of pods"}) {
    EXPECT_THAT(stuck, HasSubstr(name));
  }
}

}  // namespace
}  // namespace cdom::controller
