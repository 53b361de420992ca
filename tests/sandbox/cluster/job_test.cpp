#include "sandbox/cluster/cluster_fixture.h"

#include "compute_domain/base/text.h"

namespace cdom::sandbox {
namespace {

using std::chrono::minutes;
using std::chrono::seconds;
using testing::IsEmpty;
using testing::SizeIs;

class JobTest : public ClusterTest {
 protected:
  // An Indexed Job of four pods, one per node.
  void apply_job(const std::string& spec, const std::string& annotations = "{}") {
    apply(base::cat(R"(
apiVersion: batch/v1
kind: Job
metadata: {name: train, namespace: default}
spec:
)",
                    spec, R"(
  template:
    metadata:
      labels: {app: train}
      annotations: )",
                    annotations, R"(
    spec:
      restartPolicy: Never
      affinity:
        podAntiAffinity:
          requiredDuringSchedulingIgnoredDuringExecution:
          - {topologyKey: kubernetes.io/hostname, labelSelector: {matchLabels: {app: train}}}
      containers: [{name: main, image: busybox, command: [sleep, "60"]}]
)"));
  }
  json job() { return get(kJobs, {"default", "train"}); }
};

constexpr char kFourIndexes[] = "  completions: 4\n  parallelism: 4\n  completionMode: Indexed";

TEST_F(JobTest, AnIndexedJobRunsOnePodPerIndexAndCompletes) {
  apply_job(kFourIndexes);
  wait(seconds(10));
  std::set<std::string> nodes, indexes;
  for (const json& pod : list(kPods, "default")) {
    nodes.insert(text_at(pod, "/spec/nodeName"));
    indexes.insert(annotation_of(pod, "batch.kubernetes.io/job-completion-index"));
  }
  EXPECT_THAT(nodes, SizeIs(4));
  EXPECT_THAT(indexes, testing::ElementsAre("0", "1", "2", "3"));
  EXPECT_EQ(at(job(), "/status/active"), 4);
  wait(minutes(1));
  EXPECT_EQ(text_at(job(), "/status/completedIndexes"), "0-3");
  EXPECT_EQ(at(job(), "/status/succeeded"), 4);
  EXPECT_EQ(text_at(job(), "/status/conditions/1/type"), "Complete");
}

TEST_F(JobTest, ALostIndexIsRunAgain) {
  apply_job(kFourIndexes);
  wait(seconds(10));
  remove(kPods, key_of(list(kPods, "default")[0]));
  settle();
  EXPECT_THAT(list(kPods, "default"), SizeIs(4));
  wait(minutes(2));
  EXPECT_EQ(text_at(job(), "/status/completedIndexes"), "0-3");
}

TEST_F(JobTest, FailsWhenItsBackOffLimitIsReached) {
  apply_job("  backoffLimit: 1",
            "{sandbox.compute-domain/run-for: 1s, sandbox.compute-domain/exit-code: '1'}");
  wait(minutes(2));
  EXPECT_EQ(text_at(job(), "/status/conditions/1/reason"), "BackoffLimitExceeded");
  EXPECT_EQ(at(job(), "/status/failed"), 2);
}

TEST_F(JobTest, DeletedInTheForegroundItGoesAfterItsPods) {
  apply_job(kFourIndexes);
  wait(seconds(10));
  remove(kJobs, {"default", "train"}, {.propagation = api::Deletion::Propagation::Foreground});
  EXPECT_FALSE(job().is_null());
  wait(seconds(10));
  EXPECT_TRUE(job().is_null());
  EXPECT_THAT(list(kPods, "default"), IsEmpty());
}

TEST_F(JobTest, OrphanedPodsStay) {
  apply_job(kFourIndexes);
  wait(seconds(10));
  remove(kJobs, {"default", "train"}, {.propagation = api::Deletion::Propagation::Orphan});
  wait(seconds(10));
  EXPECT_TRUE(job().is_null());
  const std::vector<json> pods = list(kPods, "default");
  EXPECT_EQ(pods.size(), 4U);
  for (const json& pod : pods) {
    EXPECT_THAT(at(pod, "/metadata/ownerReferences"), IsEmpty());
    EXPECT_FALSE(is_deleting(pod));
  }
}

TEST_F(JobTest, OrphanedPodsAreNotTakenByAJobOfTheSameName) {
  apply_job(kFourIndexes);
  wait(seconds(10));
  remove(kJobs, {"default", "train"}, {.propagation = api::Deletion::Propagation::Orphan});
  settle();
  apply_job("  parallelism: 1");
  wait(seconds(10));
  EXPECT_EQ(list(kPods, "default").size(), 5U);
  EXPECT_EQ(at(job(), "/status/active"), 1);
}

TEST_F(JobTest, OrphanedPodsOfAJobThatHasJustBeenMadeStay) {
  apply_job(kFourIndexes);
  for (int steps = 0; list(kPods, "default").size() < 4; ++steps) {
    ASSERT_LT(steps, 10'000);
    cluster_.step();
  }
  remove(kJobs, {"default", "train"}, {.propagation = api::Deletion::Propagation::Orphan});
  wait(seconds(10));
  EXPECT_TRUE(job().is_null());
  EXPECT_EQ(list(kPods, "default").size(), 4U);
}

}  // namespace
}  // namespace cdom::sandbox
