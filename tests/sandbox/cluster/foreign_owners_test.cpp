// Pods as controllers make them that are not here: tests/workloads.
#include "compute_domain/base/text.h"
#include "sandbox/cluster/cluster_fixture.h"
#include "source_tree/source_tree.h"

namespace cdom::sandbox {
namespace {

using std::chrono::minutes;
using testing::ElementsAre;
using testing::Pair;
using testing::SizeIs;
using testing::UnorderedElementsAre;

class ForeignOwners : public ClusterTest {
 protected:
  ForeignOwners() { apply(source_text("manifests/base/device-classes.yaml")); }

  void run(const std::string& workload) {
    apply(source_text("tests/workloads/" + workload));
    settle();
  }
  // The values of a label, and how many running pods have each.
  std::map<std::string, int> running_by(const std::string& label) {
    std::map<std::string, int> counts;
    for (const json& pod : list(kPods, "default")) {
      if (text_at(pod, "/status/phase") == "Running") ++counts[label_of(pod, label)];
    }
    return counts;
  }
};

TEST_F(ForeignOwners, OfAKindThatNobodyKnowsKeepTheirPods) {
  run("mpijob.yaml");
  wait(minutes(10));
  EXPECT_THAT(running_by("training.kubeflow.org/job-role"),
              ElementsAre(Pair("launcher", 1), Pair("worker", 2)));
  EXPECT_EQ(
      text_at(get(kPods, {"default", "allreduce-worker-0"}), "/metadata/ownerReferences/0/kind"),
      "MPIJob");
}

TEST_F(ForeignOwners, OfAKindThatIsServedTakeThemAlong) {
  const api::Kind kMpiJobs{"MPIJob", "mpijobs", "kubeflow.org", true, {"v2beta1"}};
  apply(source_text("tests/workloads/mpijob-definition.yaml"));
  apply(
      "{apiVersion: kubeflow.org/v2beta1, kind: MPIJob, metadata: {name: a, namespace: default}}");
  const std::string uid = uid_of(get(kMpiJobs, {"default", "a"}));
  for (const std::string& owner : {uid, base::cat(uid, "-of-an-older-one")}) {
    apply(base::cat("{apiVersion: v1, kind: ConfigMap, metadata: {name: of-", owner,
                    ", namespace: default, ownerReferences: [{apiVersion: kubeflow.org/v2beta1, "
                    "kind: MPIJob, name: a, uid: ",
                    owner, "}]}, data: {}}"));
  }
  wait(minutes(10));
  EXPECT_THAT(list(kConfigMaps, "default"), SizeIs(1));
  remove(kMpiJobs, {"default", "a"});
  wait(std::chrono::seconds(10));
  EXPECT_THAT(list(kConfigMaps, "default"), testing::IsEmpty());
}

TEST_F(ForeignOwners, InAVersionThatIsNotServedKeepWhatIsTheirs) {
  for (const char* version : {"v1", "v1beta1", "v1alpha3"}) {
    apply(base::cat("{apiVersion: v1, kind: ConfigMap, metadata: {name: of-", version,
                    ", namespace: default, ownerReferences: [{apiVersion: resource.k8s.io/",
                    version, ", kind: ResourceClaim, name: gone, uid: u-1}]}, data: {}}"));
  }
  wait(std::chrono::seconds(10));
  const auto left = list(kConfigMaps, "default");
  ASSERT_THAT(left, SizeIs(1));
  EXPECT_EQ(text_at(left[0], "/metadata/name"), "of-v1alpha3");
}

TEST_F(ForeignOwners, OfAJobAreOnItsPodsAsLabelsOnly) {
  run("jobset.yaml");
  wait(minutes(10));
  EXPECT_THAT(running_by("jobset.sigs.k8s.io/job-global-index"),
              ElementsAre(Pair("0", 2), Pair("1", 2)));
  EXPECT_THAT(running_by("jobset.sigs.k8s.io/jobset-uid"), SizeIs(1));
  for (const json& pod : list(kPods, "default")) {
    EXPECT_EQ(at(pod, "/metadata/ownerReferences").size(), 1U);
    EXPECT_EQ(text_at(pod, "/metadata/ownerReferences/0/kind"), "Job");
  }
}

TEST_F(ForeignOwners, OfLeadersAndOfWorkersAreDifferentOnes) {
  run("leaderworkerset.yaml");
  wait(minutes(10));
  EXPECT_THAT(running_by("leaderworkerset.sigs.k8s.io/group-key"),
              UnorderedElementsAre(Pair(testing::_, 2), Pair(testing::_, 2)));
  std::set<std::string> owners;
  for (const json& pod : list(kPods, "default")) {
    owners.insert(text_at(pod, "/metadata/ownerReferences/0/name"));
  }
  EXPECT_THAT(owners, ElementsAre("serve", "serve-0", "serve-1"));
}

TEST_F(ForeignOwners, OfAJobTakeNothingAlongWhenTheJobGoes) {
  run("jobset.yaml");
  remove(kJobs, {"default", "training-workers-0"});
  settle();
  EXPECT_THAT(running_by("jobset.sigs.k8s.io/job-global-index"), ElementsAre(Pair("1", 2)));
  EXPECT_THAT(list(kClaims, "default"), SizeIs(2));
}

// As root of r1n01 can write it with the credential of the node's kubelet.
TEST_F(ForeignOwners, OfANodeADeviceWithoutAttributesStopsNoPodOnOtherNodes) {
  apply(R"(
apiVersion: resource.k8s.io/v1
kind: ResourceClaimTemplate
metadata: {name: channel, namespace: default}
spec:
  spec:
    devices:
      requests:
      - name: channel
        exactly: {deviceClassName: compute-domain-default-channel.nvidia.com}
)");
  for (const json& slice : list(kSlices)) {
    if (text_at(slice, "/spec/nodeName") != "r1n01") continue;
    ASSERT_TRUE(
        objects_.merge_patch(kSlices, {"", text_at(slice, "/metadata/name")},
                             {{"spec", {{"devices", json::array({{{"name", "channel-0"}}})}}}}));
  }
  for (const char* pod : {"a", "b", "c"}) apply_pod(pod);
  wait(minutes(2));
  for (const char* pod : {"a", "b", "c"}) {
    EXPECT_EQ(phase(pod), "Running") << message(pod, "FailedScheduling");
  }
}

}  // namespace
}  // namespace cdom::sandbox
