// What the operator asks of the API server: the writes of a formation, counted by who sent them.
//
// A claim costs writes of its own, by kube-controller-manager, scheduler and kubelet; those are not
// ours and are not counted here. Events and Leases are counted apart.
#include <gmock/gmock.h>

#include "compute_domain/base/text.h"
#include "system/formations.h"

namespace cdom::system_test {
namespace {

using namespace std::chrono_literals;

constexpr int kNodes = 18;

// Seeds are orders in which things happen.
class Writes : public ::testing::TestWithParam<std::uint64_t> {
 protected:
  const std::unique_ptr<Rig> rig_ = cluster_with_domain(GetParam(), kNodes);
};

TEST_P(Writes, OfAFormationInOneSchedulerPassAreAtMostNPlus8) {
  form_in_one_pass(*rig_, kNodes);
  EXPECT_LE(rig_->requests().count(is_ours), kNodes + 8) << rig_->requests().summary(is_ours);
  EXPECT_EQ(rig_->requests().summary(is_refused), "");
}

TEST_P(Writes, OfPodsThatComeOneByOneAreAtMost3NPlus10) {
  form_one_by_one(*rig_, kNodes);
  EXPECT_LE(rig_->requests().count(is_ours), 3 * kNodes + 10) << rig_->requests().summary(is_ours);
  EXPECT_EQ(rig_->requests().summary(is_refused), "");
}

TEST_P(Writes, OfPodsThatComeAsTheyLikeAreAtMostNPlus12) {
  form_at_random(*rig_, kNodes);
  EXPECT_LE(rig_->requests().count(is_ours), kNodes + 12) << rig_->requests().summary(is_ours);
  EXPECT_EQ(rig_->requests().summary(is_refused), "");
}

TEST_P(Writes, OfASettledClusterAreLeasesOnly) {
  form_at_random(*rig_, kNodes);
  rig_->requests().clear();
  rig_->run_for(10min);
  EXPECT_EQ(rig_->requests().summary(is_of_operator_but_lease), "");
}

// Each version of the node list goes to the agents of all members.
TEST(WritesOfALargeClique, AreFewAndOfSmallObjects) {
  constexpr int kMany = 144;
  const auto rig = cluster_with_domain(1, kMany, {.slots_per_group = kMany});
  form_in_one_pass(*rig, kMany);
  EXPECT_LE(rig->requests().count(is_ours), kMany + 8) << rig->requests().summary(is_ours);
  EXPECT_LE(rig->requests().count([](const WriteRequest& write) {
    return is_ours(write) && write.resource == "configmaps";
  }),
            2);
  const std::vector<api::ConfigMap> lists = rig->node_lists();
  ASSERT_EQ(lists.size(), 1U);
  EXPECT_LE(api::encode(lists.front(), "v1").size(), 20'000U);
  EXPECT_LE(api::encode(rig->domains().front(), "v1beta1").size(), 20'000U);
}

// Kubelet tries again for as long as its pod is there.
TEST(WritesOfARefusedClaim, AreMadeOnce) {
  Rig rig({});
  rig.apply(R"(
apiVersion: resource.k8s.io/v1
kind: ResourceClaim
metadata: {name: lost, namespace: default}
spec:
  devices:
    requests:
    - name: channel
      exactly: {deviceClassName: compute-domain-default-channel.nvidia.com}
    config:
    - requests: [channel]
      opaque:
        driver: compute-domain.nvidia.com
        parameters:
          apiVersion: resource.nvidia.com/v1beta1
          kind: ComputeDomainChannelConfig
          domainID: 00000000-0000-4000-8000-000000000001
---
apiVersion: v1
kind: Pod
metadata: {name: lost, namespace: default}
spec:
  containers:
  - {name: worker, image: busybox, resources: {claims: [{name: channel}]}}
  resourceClaims: [{name: channel, resourceClaimName: lost}]
)");
  rig.run_for(5min);
  const auto reports = rig.kubectl().list_all<api::ComputeDomainNode>();
  ASSERT_TRUE(std::ranges::any_of(*reports, [](const api::ComputeDomainNode& report) {
    return !report.status.pending_claims.empty();
  }));
  rig.requests().clear();
  rig.run_for(10min);
  EXPECT_EQ(rig.requests().summary(is_of_operator_but_lease), "");
}

TEST(WritesForOneNode, AreFewWhateverDaemonItReportsAndTheLastOneIsWritten) {
  constexpr int kFew = 4;
  const auto rig = cluster_with_domain(1, kFew);
  form_in_one_pass(*rig, kFew);
  const std::string node = rig->cluster().nodes().front();
  rig->cluster().inject(node, sandbox::Fault::AgentCrash);
  rig->run_for(10s);
  kube::Client thief(rig->administrator(), rig->clock(), "thief");
  ASSERT_TRUE(thief.discover());
  rig->requests().clear();
  for (int i = 0; i < 300; ++i) {
    const auto report = thief.get<api::ComputeDomainNode>({"", node});
    ASSERT_TRUE(report);
    api::ComputeDomainNodeReport said = report->status;
    ASSERT_FALSE(said.groups.empty());
    said.groups.front().instance = base::cat("thief-", i);
    ASSERT_TRUE(thief.patch<api::ComputeDomainNode>(
        {"", node}, "status", api::status_patch({report->meta.uid, {}}, said)));
    rig->run_for(100ms);
  }
  EXPECT_LE(rig->requests().count([](const WriteRequest& write) {
    return is_ours(write) && write.resource == "configmaps";
  }),
            8)
      << rig->requests().summary(is_ours);
  rig->run_for(1min);
  EXPECT_THAT(rig->node_lists().front().data.at(api::kNodeListKey),
              testing::HasSubstr("thief-299"));
}

INSTANTIATE_TEST_SUITE_P(Seed, Writes, ::testing::Range<std::uint64_t>(1, 9));

}  // namespace
}  // namespace cdom::system_test
