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
  void run_for(base::Duration span) { run_for(span, controller_); }
  void run_for(base::Duration span, const Controller& controller) {
    const base::Duration end = clock_.elapsed() + span;
    while (clock_.elapsed() < end) {
      bool any = false;
      for (const auto& part : controller.parts()) any |= part.step();
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

// They are copies for other tools: no domain waits for their watch, and no process ends with it.
TEST_F(WatchHealth, AWatchOfComputeDomainCliquesThatDoesNotWorkHoldsNothingElseBack) {
  Options options;
  options.settings.fills_cliques = true;
  const Controller filling(client_, clock_, metrics_, options);
  server_.put("computedomains", R"({"metadata":{"name":"train","namespace":"team-a",
      "uid":"6f0a3c52-1c7e-4b1f-9d53-0c2f6c2b7a10","resourceVersion":"4"},
      "spec":{"numNodes":1,"channel":{"resourceClaimTemplate":{"name":"t"}}}})");
  server_.refuse("/computedomaincliques", 403);
  testing::internal::CaptureStderr();
  run_for(1min, filling);
  const std::string log = testing::internal::GetCapturedStderr();
  EXPECT_TRUE(filling.has_synced());
  EXPECT_EQ(filling.not_ready(), "");
  EXPECT_THAT(server_.asked("/computedomains/train"), Not(testing::IsEmpty())) << "is served";
  const std::string lack = "cannot write ComputeDomainCliques";
  EXPECT_THAT(log, AllOf(HasSubstr(lack), HasSubstr("apply the roles of manifests/")));
  EXPECT_EQ(log.find(lack), log.rfind(lack)) << log;

  server_.refuse("", 0);
  run_for(1min, filling);
  server_.refuse("/computedomaincliques", 404);
  run_for(2min, filling);
  EXPECT_EQ(filling.lost_kind(), std::nullopt);
  EXPECT_EQ(filling.not_ready(), "");
  EXPECT_TRUE(filling.has_synced());
}

// At the start, too.
TEST_F(WatchHealth, AMissingComputeDomainCliqueDefinitionDoesNotEndTheController) {
  const base::SystemClock clock;
  server_.refuse("/computedomaincliques", 404);
  Options options;
  options.settings.fills_cliques = true;
  Controller filling(client_, clock, metrics_, options);
  std::atomic<bool> has_ended = false;
  std::jthread thread([&](const std::stop_token& stop) {
    const auto done = filling.run(stop);
    has_ended = !done.has_value();
  });
  const auto patience = std::chrono::steady_clock::now() + 20s;
  while (!filling.has_synced() && !has_ended && std::chrono::steady_clock::now() < patience) {
    std::this_thread::sleep_for(10ms);
  }
  EXPECT_TRUE(filling.has_synced());
  EXPECT_FALSE(has_ended);
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

TEST_F(WatchHealth, CredentialsThatAreRefusedAskForNoRoles) {
  server_.refuse("/api", 401);
  const auto done = controller_.run({});
  ASSERT_FALSE(done);
  EXPECT_THAT(done.error().message, AllOf(HasSubstr("the API server does not take the credentials"),
                                          HasSubstr("then start again"), Not(HasSubstr("roles"))));
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
