// One formation after the other: what a user sees, and that nothing stays.
#include <gmock/gmock.h>

#include "system/rig.h"

namespace cdom::system_test {
namespace {

using ::testing::IsEmpty;
using namespace std::chrono_literals;

void form(Rig& rig, const std::string& domain, int nodes) {
  rig.apply(domain_yaml(domain, nodes));
  for (int i = 0; i < nodes; ++i) {
    rig.apply(pod_yaml(domain + "-" + std::to_string(i), domain));
  }
}

void take_down(Rig& rig, const std::string& domain, int nodes) {
  for (int i = 0; i < nodes; ++i) {
    rig.remove("/api/v1/namespaces/default/pods/" + domain + "-" + std::to_string(i));
  }
  rig.remove("/apis/resource.nvidia.com/v1beta1/namespaces/default/computedomains/" + domain);
}

TEST(Formation, BecomesReadyAndGoesWithoutATrace) {
  Rig rig({.seed = 3});
  form(rig, "train", 4);
  ASSERT_TRUE(rig.run_until([&] { return rig.is_ready("train"); }, 60s));
  take_down(rig, "train", 4);
  ASSERT_TRUE(rig.run_until([&] { return rig.domains().empty(); }, 120s));
  rig.run_for(5s);
  EXPECT_THAT(rig.node_lists(), IsEmpty());
  const auto templates = rig.kubectl().list_all<api::ResourceClaimTemplate>();
  ASSERT_TRUE(templates);
  EXPECT_THAT(*templates, IsEmpty());
}

TEST(Formation, FormsWhenWritesWereHeldBackForAMoment) {
  Rig rig({.seed = 4, .nodes_per_rack = 2});
  rig.lead(false);
  form(rig, "train", 2);
  rig.run_for(2s);
  EXPECT_FALSE(rig.is_ready("train"));
  rig.lead(true);
  EXPECT_TRUE(rig.run_until([&] { return rig.is_ready("train"); }, 90s));
}

// An agent is given a minute to come back, and not what the clock was set forward.
TEST(Formation, AnAgentHasItsGraceThoughTheWallClockIsSetForward) {
  Rig rig({.seed = 14, .nodes_per_rack = 2});
  form(rig, "train", 2);
  ASSERT_TRUE(rig.run_until([&] { return rig.is_ready("train"); }, 60s));
  rig.cluster().inject("n01", sandbox::Fault::AgentCrash);
  rig.run_for(5s);
  rig.set_wall_clock(1h);
  rig.run_for(10s);
  EXPECT_TRUE(rig.is_ready("train"));
  rig.run_for(90s);
  EXPECT_FALSE(rig.is_ready("train"));
}

TEST(Formation, FormsTwoDomainsSideBySide) {
  Rig rig({.seed = 5, .nodes_per_rack = 6});
  form(rig, "train", 3);
  form(rig, "serve", 3);
  EXPECT_TRUE(rig.run_until([&] { return rig.is_ready("train") && rig.is_ready("serve"); }, 60s));
}

TEST(Formation, DoesNotWaitForAnImporterThatHasEnded) {
  Rig rig({.seed = 8, .nodes_per_rack = 2});
  form(rig, "train", 0);
  for (const char* pod : {"train-0", "train-1"}) rig.apply(pod_yaml(pod, "train"));
  ASSERT_TRUE(rig.run_until([&] { return rig.is_ready("train"); }, 60s));
  const auto pod = rig.kubectl().get<api::Pod>({"default", "train-0"});
  ASSERT_TRUE(pod);
  rig.remove("/api/v1/namespaces/default/pods/train-1");
  rig.run_for(60s);
  ASSERT_TRUE(rig.is_ready("train"));
  // Its record still names the daemon of the pod that has gone.
  rig.cluster().inject(pod->node, sandbox::Fault::ImexKill);
  rig.cluster().heal(pod->node, sandbox::Fault::ImexKill);
  rig.run_for(5s);
  EXPECT_FALSE(rig.is_ready("train"));
  EXPECT_TRUE(rig.run_until([&] { return rig.is_ready("train"); }, 30s));
}

TEST(Formation, IsDelayedLittleByAnApiServerThatForbidsEverythingForAMoment) {
  Rig rig({.seed = 9, .nodes_per_rack = 2});
  form(rig, "train", 2);
  rig.forbid(true);
  rig.run_for(2s);
  rig.forbid(false);
  EXPECT_TRUE(rig.run_until([&] { return rig.is_ready("train"); }, 10s));
}

TEST(Formation, IsAnnouncedByTheDefaultStatusUntilAControllerComes) {
  Rig rig({.seed = 11, .nodes_per_rack = 2});
  const auto ready_of_train = [&] {
    const auto domains = rig.domains();
    const auto* ready = domains.size() == 1 && domains[0].status
                            ? api::find_condition(domains[0].status->conditions, "Ready")
                            : nullptr;
    return ready != nullptr ? *ready : api::Condition{};
  };
  rig.freeze_controller(true);
  form(rig, "train", 0);
  rig.run_for(60s);
  EXPECT_EQ(ready_of_train().status, api::ConditionStatus::Unknown);
  EXPECT_EQ(ready_of_train().reason, "WaitingForController");
  EXPECT_THAT(ready_of_train().message, ::testing::HasSubstr("compute-domain-controller"));
  rig.freeze_controller(false);
  EXPECT_TRUE(
      rig.run_until([&] { return ready_of_train().status == api::ConditionStatus::False; }, 10s));
  // As of a domain that had no status at all.
  const auto events = rig.kubectl().list_all<api::Event>();
  ASSERT_TRUE(events);
  for (const api::Event& event : *events) {
    EXPECT_NE(event.involved.kind, "ComputeDomain") << event.reason << ": " << event.message;
  }
}

TEST(Formation, WaitsWithTheDeletionForRunningPods) {
  Rig rig({.seed = 7, .nodes_per_rack = 2});
  form(rig, "train", 2);
  ASSERT_TRUE(rig.run_until([&] { return rig.is_ready("train"); }, 60s));
  rig.remove("/apis/resource.nvidia.com/v1beta1/namespaces/default/computedomains/train");
  rig.run_for(60s);
  const auto domains = rig.domains();
  ASSERT_EQ(domains.size(), 1u);
  const auto* ready = api::find_condition(domains[0].status->conditions, "Ready");
  ASSERT_NE(ready, nullptr);
  EXPECT_EQ(ready->reason, "Deleting");
  EXPECT_THAT(ready->message, ::testing::HasSubstr("train-0"));
  take_down(rig, "train", 2);
  EXPECT_TRUE(rig.run_until([&] { return rig.domains().empty(); }, 120s));
}

}  // namespace
}  // namespace cdom::system_test
