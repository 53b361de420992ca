// Automatic domains: pods whose claims name no ComputeDomain get one for their workload.
#include <algorithm>

#include "compute_domain/api/names.h"
#include "compute_domain/base/text.h"
#include "scenarios/homes/scenario.h"

namespace cdom::scenarios {
namespace {

using base::cat;
using testing::IsEmpty;
using testing::SizeIs;

class Automatic : public Scenario {
 protected:
  void SetUp() override {
    Scenario::SetUp();
    kubectl().apply(template_yaml("fabric"));
  }
  void TearDown() override {
    kubectl().remove_all("Job");
    kubectl().remove_all("Pod");
    kubectl().remove_all("ResourceClaimTemplate");
    Scenario::TearDown();
  }

  // `config`: parameters of the template's configuration for the driver, in YAML's flow style.
  static std::string template_yaml(const std::string& name, const std::string& config = {}) {
    std::string yaml = cat(R"(
apiVersion: resource.k8s.io/v1
kind: ResourceClaimTemplate
metadata: {name: )",
                           name, R"(}
spec:
  spec:
    devices:
      requests:
      - {name: channel, exactly: {deviceClassName: compute-domain-default-channel.nvidia.com}}
)");
    if (config.empty()) return yaml;
    return cat(yaml, "      config:\n", config_yaml(config));
  }
  static std::string config_yaml(const std::string& config) {
    return cat("      - opaque: {driver: compute-domain.nvidia.com, parameters: {",
               "apiVersion: resource.nvidia.com/v1beta1, ", config, "}}\n");
  }

  // A Job with a pod on each of these nodes.
  static std::string job_yaml(const std::string& name, const std::vector<std::string>& on,
                              const std::string& pod_labels = {}) {
    return cat(R"(
apiVersion: batch/v1
kind: Job
metadata: {name: )",
               name, R"(}
spec:
  completionMode: Indexed
  completions: )",
               on.size(), "\n  parallelism: ", on.size(), R"(
  backoffLimit: 6
  template:
    metadata: {labels: {)",
               pod_labels, R"(}}
    spec:
      restartPolicy: Never
      terminationGracePeriodSeconds: 1
      affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: [{
        matchExpressions: [{key: kubernetes.io/hostname, operator: In, values: [)",
               base::join(on, ", "), R"(]}]}]}}}
      containers:
      - {name: worker, image: busybox, command: [sleep, infinity], resources: {claims: [{name: channel}]}}
      resourceClaims:
      - {name: channel, resourceClaimTemplateName: fabric}
)");
  }

  // A pod as another controller would make it: with its labels and its owner, JSON each.
  static std::string owned_pod_yaml(const std::string& name, const std::string& node,
                                    const std::string& labels, const std::string& owner) {
    std::string yaml = pod_yaml(name, "fabric", node);
    const std::string plain = cat("metadata: {name: ", name);
    const auto at = yaml.find(plain);
    if (at == std::string::npos) throw std::runtime_error("pod_yaml() has changed its shape");
    std::string more = plain;
    if (!labels.empty()) more += cat(", labels: {", labels, "}");
    if (!owner.empty()) more += cat(", ownerReferences: [{", owner, "}]");
    return yaml.replace(at, plain.size(), more);
  }

  // The only automatic domain; waits for it.
  std::string only_domain() {
    EXPECT_TRUE(eventually("there is one domain", [&] { return domains().size() == 1; }));
    const auto names = domains();
    return names.empty() ? "" : names.front();
  }
  std::vector<std::string> domains() {
    std::vector<std::string> names;
    for (const auto& domain : all<api::ComputeDomain>()) names.push_back(domain.meta.name);
    return names;
  }
  testing::AssertionResult is_formed(const std::string& name, std::size_t nodes) {
    return becomes(name, "Ready", cat(nodes, "/", nodes), "AllNodesReady");
  }
  std::string any_claim() {
    EXPECT_TRUE(eventually("there is a claim", [&] { return !all<api::ResourceClaim>().empty(); }));
    const auto claims = all<api::ResourceClaim>();
    return claims.empty() ? "" : claims.front().meta.name;
  }
};

TEST_F(Automatic, AJobHasADomainAsLongAsItIsThere) {
  kubectl().apply(job_yaml("train", nodes(3)));
  const std::string name = only_domain();
  EXPECT_THAT(name, testing::StartsWith("train-"));
  EXPECT_TRUE(is_formed(name, 3));
  const api::ComputeDomain made = domain(name);
  EXPECT_EQ(made.spec.num_nodes, 3);
  ASSERT_TRUE(made.spec.workload);
  EXPECT_EQ(made.spec.workload->kind, "Job");
  kubectl().remove("Job", "train");
  EXPECT_TRUE(goes(name));
}

TEST_F(Automatic, ItsRetriesStayInTheDomainWithTheirSlots) {
  kubectl().apply(job_yaml("train", nodes(2)));
  const std::string name = only_domain();
  ASSERT_TRUE(is_formed(name, 2));
  const std::string uid = domain(name).meta.uid;
  const auto slots_before = slots(name);
  kubectl().remove_all("Pod");
  ASSERT_TRUE(eventually("the pods run again", [&] {
    const auto pods = all<api::Pod>();
    return pods.size() == 2 &&
           std::ranges::all_of(pods, [](const auto& pod) { return pod.phase == "Running"; });
  }));
  EXPECT_TRUE(is_formed(name, 2));
  EXPECT_EQ(domain(name).meta.uid, uid);
  EXPECT_EQ(slots(name), slots_before);
}

TEST_F(Automatic, TwoJobsHaveADomainEach) {
  const auto on = nodes(4);
  kubectl().apply(job_yaml("train", {on[0], on[1]}));
  kubectl().apply(job_yaml("serve", {on[2], on[3]}));
  ASSERT_TRUE(eventually("there are two domains", [&] { return domains().size() == 2; }));
  for (const std::string& name : domains()) EXPECT_TRUE(is_formed(name, 2));
}

TEST_F(Automatic, PodsWithoutOwnerShareTheirTemplatesDomainUntilTheLastIsGone) {
  const auto on = nodes(2);
  kubectl().apply(pod_yaml("a", "fabric", on[0]));
  kubectl().apply(pod_yaml("b", "fabric", on[1]));
  const std::string name = only_domain();
  EXPECT_THAT(name, testing::StartsWith("fabric-"));
  EXPECT_TRUE(is_formed(name, 2));
  kubectl().remove("Pod", "a");
  EXPECT_TRUE(is_formed(name, 1));
  kubectl().remove("Pod", "b");
  EXPECT_TRUE(goes(name));
}

TEST_F(Automatic, ALabelJoinsPodsOfDifferentOwners) {
  const auto on = nodes(4);
  const std::string label = cat(api::kPodDomainLabel, ": ring");
  kubectl().apply(job_yaml("train", {on[0], on[1]}, label));
  kubectl().apply(job_yaml("coordinator", {on[2]}, label));
  kubectl().apply(owned_pod_yaml("by-hand", on[3], label, ""));
  const std::string name = only_domain();
  EXPECT_THAT(name, testing::StartsWith("ring-"));
  EXPECT_TRUE(is_formed(name, 4));
  // It ends with the last of its owners, and not before.
  kubectl().remove("Job", "coordinator");
  EXPECT_TRUE(is_formed(name, 3));
  kubectl().remove("Pod", "by-hand");
  kubectl().remove("Job", "train");
  EXPECT_TRUE(goes(name));
}

TEST_F(Automatic, ALabelThatChangesUnderARunningPodMovesNothing) {
  const auto on = nodes(2);
  for (std::size_t i = 0; i < 2; ++i) {
    kubectl().apply(owned_pod_yaml(cat("p", i), on[i], cat(api::kPodDomainLabel, ": ring"), ""));
  }
  const std::string name = only_domain();
  ASSERT_TRUE(is_formed(name, 2));
  kubectl().patch("Pod", "p0",
                  cat(R"({"metadata":{"labels":{")", api::kPodDomainLabel, R"(":"other"}}})"));
  home().restart_controller();
  EXPECT_TRUE(stays(name, "Ready", "2/2", 5s));
  EXPECT_THAT(domains(), SizeIs(1));
}

TEST_F(Automatic, AJobSetIsOneWorkload) {
  const auto on = nodes(2);
  const std::string labels =
      "jobset.sigs.k8s.io/jobset-uid: 11111111-2222-3333-4444-555555555555, "
      "jobset.sigs.k8s.io/jobset-name: trainer";
  for (std::size_t i = 0; i < 2; ++i) {
    kubectl().apply(owned_pod_yaml(cat("p", i), on[i], labels, ""));
  }
  const std::string name = only_domain();
  EXPECT_THAT(name, testing::StartsWith("trainer-"));
  EXPECT_EQ(domain(name).spec.workload->kind, "JobSet");
}

TEST_F(Automatic, EveryGroupOfALeaderWorkerSetHasItsOwn) {
  const auto on = nodes(2);
  for (std::size_t i = 0; i < 2; ++i) {
    kubectl().apply(owned_pod_yaml(
        cat("p", i), on[i],
        cat("leaderworkerset.sigs.k8s.io/name: serve, leaderworkerset.sigs.k8s.io/group-index: '",
            i, "', leaderworkerset.sigs.k8s.io/group-key: key", i),
        ""));
  }
  EXPECT_TRUE(eventually("there are two domains", [&] { return domains().size() == 2; }));
  for (const std::string& name : domains()) EXPECT_THAT(name, testing::StartsWith("serve-"));
}

TEST_F(Automatic, ADomainDeletedByHandWaitsForItsPodsAndComesAgain) {
  kubectl().apply(job_yaml("train", nodes(2)));
  const std::string name = only_domain();
  ASSERT_TRUE(is_formed(name, 2));
  const std::string uid = domain(name).meta.uid;
  kubectl().remove("ComputeDomain", name);
  EXPECT_TRUE(becomes(name, "NotReady", "2/2", "Deleting",
                      "waits for 2 pods of Job train: kubectl delete job train"));
  kubectl().remove_all("Pod");
  EXPECT_TRUE(eventually("it is made anew", [&] {
    const auto now = all<api::ComputeDomain>();
    return now.size() == 1 && now[0].meta.uid != uid;
  }));
  EXPECT_TRUE(is_formed(name, 2));
}

TEST_F(Automatic, AJobThatIsDeletedWithoutItsPodsLeavesThemTheirDomain) {
  kubectl().apply(job_yaml("train", nodes(2)));
  const std::string name = only_domain();
  ASSERT_TRUE(is_formed(name, 2));
  kubectl().orphan("Job", "train");
  ASSERT_TRUE(eventually("the Job is gone", [&] { return kubectl().get("Job", "train").empty(); }));
  EXPECT_TRUE(stays(name, "Ready", "2/2", 5s));
  kubectl().remove_all("Pod");
  EXPECT_TRUE(goes(name));
}

TEST_F(Automatic, ATemplateMaySayHowManyNodes) {
  kubectl().apply(template_yaml("four", "kind: ComputeDomainConfig, numNodes: 4"));
  kubectl().apply(pod_yaml("a", "four", nodes(1)[0]));
  const std::string name = only_domain();
  EXPECT_EQ(domain(name).spec.num_nodes, 4);
  EXPECT_TRUE(becomes(name, "NotReady", "1/4", "WaitingForNodes"));
}

TEST_F(Automatic, OneCliqueIsRefusedWithWhatToDo) {
  kubectl().apply(
      template_yaml("one", "kind: ComputeDomainConfig, numNodes: 1, placement: {clique: Single}"));
  kubectl().apply(pod_yaml("a", "one", nodes(1)[0]));
  const std::string name = only_domain();
  EXPECT_TRUE(becomes(name, "NotReady", "0/1", "PlacementUnsupported", "write a ComputeDomain"));
  EXPECT_TRUE(tells("ComputeDomain", name, "PlacementUnsupported", "write a ComputeDomain"));
  EXPECT_EQ(phase_of("a"), "Pending");
}

TEST_F(Automatic, AConfigThatIsWrongIsTold) {
  kubectl().apply(template_yaml("bad", "kind: ComputeDomainConfig, nodes: 4"));
  kubectl().apply(pod_yaml("a", "bad", nodes(1)[0]));
  EXPECT_TRUE(tells("ResourceClaim", any_claim(), "InvalidConfig", "unknown field \"nodes\""));
  EXPECT_TRUE(tells("Pod", "a", "FailedPrepareDynamicResources", "unknown field \"nodes\""));
  EXPECT_THAT(domains(), IsEmpty());
}

TEST_F(Automatic, AConfigThatNamesADomainAndAsksForOneOfItsOwnIsTold) {
  kubectl().apply(domain_yaml("train", 2));
  ASSERT_TRUE(becomes("train", "NotReady", "0/2", "WaitingForPods"));
  kubectl().apply(cat(
      template_yaml("both", "kind: ComputeDomainConfig, numNodes: 2"),
      config_yaml(cat("kind: ComputeDomainChannelConfig, domainID: ", domain("train").meta.uid))));
  kubectl().apply(pod_yaml("a", "both", nodes(1)[0]));
  EXPECT_TRUE(tells("ResourceClaim", any_claim(), "ContradictoryConfig", "leave one of them out"));
  EXPECT_TRUE(tells("Pod", "a", "FailedPrepareDynamicResources", "leave one of them out"));
  EXPECT_THAT(domains(), SizeIs(1));
  kubectl().remove("ComputeDomain", "train");
}

TEST_F(Automatic, ADomainThatHasTheNameIsNotTouched) {
  kubectl().apply(pod_yaml("a", "fabric", nodes(1)[0]));
  const std::string name = only_domain();
  ASSERT_TRUE(is_formed(name, 1));
  kubectl().remove("Pod", "a");
  ASSERT_TRUE(goes(name));
  ASSERT_TRUE(eventually("the pod is gone too", [&] { return !exists_pod("a"); }));
  // The name is a function of the workload: somebody else has taken it since.
  kubectl().apply(domain_yaml(name, 7));
  kubectl().apply(pod_yaml("a", "fabric", nodes(1)[0]));
  EXPECT_TRUE(tells("ResourceClaim", any_claim(), "ComputeDomainNameTaken", name));
  EXPECT_EQ(domain(name).spec.num_nodes, 7);
  EXPECT_THAT(domain(name).meta.owners, IsEmpty());
  // Out of the way, it makes room.
  kubectl().remove("ComputeDomain", name);
  EXPECT_TRUE(is_formed(name, 1));
}

TEST_F(Automatic, AControllerThatStartsAnewFindsEverythingAgain) {
  kubectl().apply(job_yaml("train", nodes(3)));
  home().restart_controller();
  const std::string name = only_domain();
  home().restart_controller();
  ASSERT_TRUE(is_formed(name, 3));
  home().restart_controller();
  EXPECT_TRUE(stays(name, "Ready", "3/3", 3s));
  kubectl().remove("Job", "train");
  home().restart_controller();
  EXPECT_TRUE(goes(name));
}

}  // namespace
}  // namespace cdom::scenarios
