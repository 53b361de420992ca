// What the operator asks of the API server: the writes of a formation, counted by who sent them.
//
// A claim costs writes of its own, by kube-controller-manager, scheduler and kubelet; those are not
// ours and are not counted here. Events and Leases are counted apart.
#include <gmock/gmock.h>

#include "system/rig.h"

namespace cdom::system_test {
namespace {

using namespace std::chrono_literals;

constexpr int kNodes = 18;

bool is_refused(const WriteRequest& write) {
  return is_ours(write) && (write.status == 0 || write.status >= 300);
}

bool is_operator_but_lease(const WriteRequest& write) {
  return write.user.starts_with("system:serviceaccount:") && write.resource != "leases";
}

void add_pod(Rig& rig, int number) {
  rig.apply(pod_yaml("train-" + std::to_string(number), "train"));
}

int bound_pods(Rig& rig) {
  const auto pods = rig.kubectl().list_all<api::Pod>({.ns = "default"});
  int bound = 0;
  for (const api::Pod& pod : *pods) bound += pod.node.empty() ? 0 : 1;
  return bound;
}

// A settled cluster with a domain and its template, and no pod yet.
std::unique_ptr<Rig> cluster_with_domain(std::uint64_t seed) {
  auto rig = std::make_unique<Rig>(RigOptions{.seed = seed, .nodes_per_rack = kNodes});
  rig->run_for(5s);
  rig->requests().clear();
  rig->apply(domain_yaml("train", kNodes));
  rig->run_for(2s);
  return rig;
}

// Seeds are orders in which things happen.
class Writes : public ::testing::TestWithParam<std::uint64_t> {};

TEST_P(Writes, OfAFormationInOneSchedulerPassAreAtMostNPlus8) {
  const auto rig = cluster_with_domain(GetParam());
  rig->freeze_controller(true);
  for (int i = 0; i < kNodes; ++i) add_pod(*rig, i);
  ASSERT_TRUE(rig->run_until([&] { return bound_pods(*rig) == kNodes; }, 10s));
  rig->freeze_controller(false);
  ASSERT_TRUE(rig->run_until([&] { return rig->is_ready("train"); }, 10s));
  rig->run_for(30s);
  EXPECT_LE(rig->requests().count(is_ours), kNodes + 8) << rig->requests().summary(is_ours);
  EXPECT_EQ(rig->requests().summary(is_refused), "");
}

TEST_P(Writes, OfPodsThatComeOneByOneAreAtMost3NPlus10) {
  const auto rig = cluster_with_domain(GetParam());
  for (int i = 0; i < kNodes; ++i) {
    add_pod(*rig, i);
    rig->run_for(2s);
  }
  ASSERT_TRUE(rig->run_until([&] { return rig->is_ready("train"); }, 10s));
  rig->run_for(30s);
  EXPECT_LE(rig->requests().count(is_ours), 3 * kNodes + 10) << rig->requests().summary(is_ours);
  EXPECT_EQ(rig->requests().summary(is_refused), "");
}

TEST_P(Writes, OfPodsThatComeAsTheyLikeAreAtMost3NPlus10) {
  const auto rig = cluster_with_domain(GetParam());
  for (int i = 0; i < kNodes; ++i) {
    add_pod(*rig, i);
    rig->run_for(std::chrono::milliseconds(rig->random().below(220)));
  }
  ASSERT_TRUE(rig->run_until([&] { return rig->is_ready("train"); }, 30s));
  rig->run_for(30s);
  EXPECT_LE(rig->requests().count(is_ours), 3 * kNodes + 10) << rig->requests().summary(is_ours);
  EXPECT_EQ(rig->requests().summary(is_refused), "");
}

TEST_P(Writes, OfASettledClusterAreLeasesOnly) {
  const auto rig = cluster_with_domain(GetParam());
  for (int i = 0; i < kNodes; ++i) add_pod(*rig, i);
  ASSERT_TRUE(rig->run_until([&] { return rig->is_ready("train"); }, 30s));
  rig->run_for(30s);
  rig->requests().clear();
  rig->run_for(10min);
  EXPECT_EQ(rig->requests().summary(is_operator_but_lease), "");
}

INSTANTIATE_TEST_SUITE_P(Seed, Writes, ::testing::Range<std::uint64_t>(1, 9));

}  // namespace
}  // namespace cdom::system_test
