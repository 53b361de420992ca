#include "compute_domain/plugin/check.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <nlohmann/json.hpp>

#include "compute_domain/plugin/why.h"
#include "plugin/views.h"

namespace cdom::plugin {
namespace {

using namespace plugin::testing;  // NOLINT(google-build-using-namespace): the words of a view
using ::testing::AllOf;
using ::testing::HasSubstr;

CheckReport checked(const ClusterView& view) {
  return check(view, controller::expected_definitions());
}

Finding finding_on(const CheckReport& report, const std::string& subject) {
  for (const auto* findings : {&report.install, &report.nodes}) {
    const auto it = std::ranges::find(*findings, subject, &Finding::subject);
    if (it != findings->end()) return *it;
  }
  return {"there is no finding on " + subject, Verdict::Ok, "", ""};
}

// The finding on a subject, when it is the only one that is not Ok.
Finding only_trouble(const ClusterView& view, const std::string& subject) {
  const CheckReport report = checked(view);
  for (const auto* findings : {&report.install, &report.nodes}) {
    for (const Finding& finding : *findings) {
      if (finding.subject == subject) continue;
      EXPECT_EQ(finding.verdict, Verdict::Ok) << text_of(report);
    }
  }
  Finding finding = finding_on(report, subject);
  EXPECT_EQ(report.is_healthy(), finding.verdict != Verdict::Fails);
  return finding;
}

api::DeploymentRollout rollout(std::int64_t ready, std::int64_t wanted) {
  api::DeploymentRollout deployment;
  deployment.meta.name = "compute-domain-controller";
  deployment.wanted = wanted;
  deployment.ready = ready;
  return deployment;
}

void add_daemon_sets(ClusterView& view) {
  for (const char* name : {"compute-domain-agent", "compute-domain-imex"}) {
    api::DaemonSetRollout set;
    set.meta.name = name;
    view.daemon_sets.push_back(set);
  }
}

constexpr char kDomainCrd[] = "CRD computedomains.resource.nvidia.com";

TEST(Check, IsHealthyWhenTheOperatorWorksAndEachNodeCanServe) {
  const CheckReport report = checked(settled_view());
  EXPECT_TRUE(report.is_healthy()) << text_of(report);
  EXPECT_THAT(finding_on(report, "node n1").found,
              AllOf(HasSubstr(kClique), HasSubstr("offers 1 device"), HasSubstr("team-a/train")));
}

TEST(Check, FailsWithoutACustomResourceDefinition) {
  ClusterView view = settled_view();
  std::erase_if(view.definitions, [](const auto& d) {
    return d.meta.name == "computedomainnodes.resource.nvidia.com";
  });
  const Finding finding = only_trouble(view, "CRD computedomainnodes.resource.nvidia.com");
  EXPECT_EQ(finding.verdict, Verdict::Fails);
  EXPECT_EQ(finding.found, "it is not installed");
}

// Takes a field, and all below it, out of the CRD of ComputeDomains.
void lose_field(ClusterView& view, const std::string& path) {
  for (api::Definition& definition : view.definitions) {
    if (definition.meta.name != "computedomains.resource.nvidia.com") continue;
    std::erase_if(definition.versions.front().fields,
                  [&](const std::string& field) { return field.starts_with(path); });
  }
}

TEST(Check, NamesTheFieldsThatADefinitionOfAnOlderReleaseLacks) {
  ClusterView view = settled_view();
  lose_field(view, "status.nodes[].lastFailure");
  const Finding finding = only_trouble(view, kDomainCrd);
  EXPECT_EQ(finding.verdict, Verdict::Fails);
  EXPECT_THAT(finding.found, AllOf(HasSubstr("of an older release"),
                                   HasSubstr("lacks field status.nodes[].lastFailure,")));
}

TEST(Check, KnowsTheDefinitionOfAnotherDriver) {
  ClusterView view = settled_view();
  lose_field(view, "status.conditions");
  for (api::Definition& definition : view.definitions) definition.meta.labels.clear();
  EXPECT_THAT(only_trouble(view, kDomainCrd).found,
              AllOf(HasSubstr("another driver's"), HasSubstr("status.conditions")));
}

TEST(Check, FailsForAVersionThatIsNotServed) {
  ClusterView view = settled_view();
  for (api::Definition& definition : view.definitions) {
    if (definition.meta.name == "computedomains.resource.nvidia.com") {
      definition.versions.front().served = false;
    }
  }
  EXPECT_THAT(only_trouble(view, kDomainCrd).found, HasSubstr("does not serve version v1beta1"));
}

TEST(Check, FailsWithoutTheDeviceClassThatTemplatesName) {
  ClusterView view = settled_view();
  std::erase_if(view.classes, [](const auto& c) { return c.meta.name == api::kChannelClass; });
  EXPECT_EQ(only_trouble(view, std::string("DeviceClass ") + api::kChannelClass).verdict,
            Verdict::Fails);
}

TEST(Check, FailsWhenNobodyRenewsTheLease) {
  ClusterView view = settled_view();
  view.leases = {lease_renewed(std::chrono::minutes(2))};
  const Finding finding = only_trouble(view, "controller");
  EXPECT_EQ(finding.verdict, Verdict::Fails);
  EXPECT_THAT(finding.found, HasSubstr("renewed 2m ago"));
}

// Whoever writes the Lease chooses its times.
TEST(Check, FailsForALeaseOfTheYear1AndForOneThatLastsForever) {
  ClusterView view = settled_view();
  view.leases.front().renewed = *base::parse_rfc3339("0001-01-01T00:00:00Z");
  EXPECT_EQ(only_trouble(view, "controller").verdict, Verdict::Fails);
  view.leases.front().duration_seconds = std::numeric_limits<std::int64_t>::max();
  EXPECT_EQ(only_trouble(view, "controller").verdict, Verdict::Fails);
}

TEST(Check, BelievesAControllerWithoutALeaseByItsDeployment) {
  ClusterView view = settled_view();
  view.leases.clear();
  view.deployments = {rollout(1, 2)};
  add_daemon_sets(view);
  EXPECT_EQ(only_trouble(view, "controller").verdict, Verdict::Ok);
  view.deployments.front().ready = 0;
  EXPECT_EQ(only_trouble(view, "controller").verdict, Verdict::Fails);
}

// Of a controller whose leader election was switched off: nobody may delete the Lease.
TEST(Check, DoesNotCallAControllerDeadThatIsReadyWithoutTheLease) {
  ClusterView view = settled_view();
  view.leases.front().holder.clear();
  EXPECT_EQ(only_trouble(view, "controller").verdict, Verdict::Fails);
  view.deployments = {rollout(1, 1)};
  add_daemon_sets(view);
  EXPECT_EQ(only_trouble(view, "controller").verdict, Verdict::Warning);
  // Nor for well: it may wait for a Lease that it must not write.
  view.leases = {lease_renewed(std::chrono::hours(3))};
  const Finding finding = only_trouble(view, "controller");
  EXPECT_EQ(finding.verdict, Verdict::Warning);
  EXPECT_THAT(finding.remedy, HasSubstr("leader election is off"));
}

TEST(Check, FailsWithoutTheDaemonSetsThatComeWithTheController) {
  ClusterView view = settled_view();
  view.deployments = {rollout(1, 1)};
  view.deployments.front().meta.name = "somebody-elses";
  EXPECT_TRUE(checked(view).is_healthy());
  view.deployments = {rollout(1, 1)};
  add_daemon_sets(view);
  EXPECT_TRUE(checked(view).is_healthy());
  view.daemon_sets.pop_back();
  const Finding finding = only_trouble(view, "DaemonSet compute-domain-imex");
  EXPECT_EQ(finding.verdict, Verdict::Fails);
  EXPECT_THAT(finding.remedy, HasSubstr("--node-namespace"));
}

TEST(Check, WarnsOfAnObjectThatCannotBeRead) {
  ClusterView view = settled_view();
  view.unreadable["computedomains"][{"team-a", "odd"}] = "spec.numNodes: 1e400 is not a number";
  const Finding finding = only_trouble(view, "computedomains");
  EXPECT_EQ(finding.verdict, Verdict::Warning);
  EXPECT_THAT(finding.found, HasSubstr("team-a/odd: spec.numNodes: 1e400"));
  EXPECT_THAT(why_domain(view, {"team-a", "odd"}).error().message, HasSubstr("1e400"));
}

TEST(Check, WarnsWhenTheControllerCannotBeSeenAlthoughItWorks) {
  ClusterView view = settled_view();
  view.leases.clear();
  EXPECT_EQ(only_trouble(view, "controller").verdict, Verdict::Warning);
  view.domains.clear();
  EXPECT_EQ(finding_on(checked(view), "controller").verdict, Verdict::Fails);
}

TEST(Check, WarnsOfADaemonSetThatIsNotWhole) {
  ClusterView view = settled_view();
  api::DaemonSetRollout set;
  set.meta.name = "compute-domain-imex";
  set.wanted = 2;
  set.ready = 1;
  view.daemon_sets = {set};
  const Finding finding = only_trouble(view, "DaemonSet compute-domain-imex");
  EXPECT_EQ(finding.verdict, Verdict::Warning);
  EXPECT_EQ(finding.found, "1 of 2 pods are ready");
}

// A pod of the DaemonSet compute-domain-imex.
api::PodState imex_pod(const std::string& name, const std::string& image) {
  api::PodState pod;
  pod.meta.name = name;
  pod.meta.ns = "compute-domain-nodes";
  pod.meta.owners = {{.kind = "DaemonSet", .name = "compute-domain-imex"}};
  pod.container_specs = {{.name = "imex", .image = image, .claims = {}}};
  return pod;
}

TEST(Check, WarnsOfPodsThatRunAnotherReleaseThanTheirDaemonSetWouldStart) {
  ClusterView view = settled_view();
  api::DaemonSetRollout set;
  set.meta.name = "compute-domain-imex";
  set.meta.ns = "compute-domain-nodes";
  set.strategy = "OnDelete";
  set.containers = {{.name = "imex", .image = "ghcr.io:443/o/imex:0.2.0", .claims = {}}};
  view.daemon_sets = {set};
  view.pods.push_back(imex_pod("a", "ghcr.io:443/o/imex:0.2.0"));
  view.pods.push_back(imex_pod("b", "ghcr.io:443/o/imex:0.2.0"));
  const std::string subject = "images of DaemonSet compute-domain-imex";
  EXPECT_EQ(only_trouble(view, subject).found, "2 of 2 pods run image tag 0.2.0");
  EXPECT_EQ(only_trouble(view, subject).verdict, Verdict::Ok);

  view.pods.push_back(imex_pod("c", "ghcr.io:443/o/imex:0.1.0"));
  Finding finding = only_trouble(view, subject);
  EXPECT_EQ(finding.verdict, Verdict::Warning);
  EXPECT_EQ(finding.found, "2 of 3 pods run image tag 0.2.0, 1 runs 0.1.0");
  EXPECT_THAT(finding.remedy, HasSubstr("drain the node and then delete its pod"));
  view.daemon_sets.front().strategy = "RollingUpdate";
  EXPECT_EQ(only_trouble(view, subject).command,
            "kubectl rollout status daemonset/compute-domain-imex -n compute-domain-nodes");

  view.pods.back().phase = "Failed";
  EXPECT_EQ(only_trouble(view, subject).found, "2 of 2 pods run image tag 0.2.0") << "evicted";
  view.pods.back() = imex_pod("c", "mirror.example/o/imex:0.2.0");
  EXPECT_EQ(only_trouble(view, subject).found, "3 of 3 pods run image tag 0.2.0") << "a mirror";
  view.pods.back() = imex_pod("c", "ghcr.io:443/o/other:0.2.0");
  EXPECT_THAT(only_trouble(view, subject).found, HasSubstr(", 1 runs other:0.2.0"));
}

TEST(Check, KnowsTheImagesOfTheControllersPodsByTheirReplicaSet) {
  ClusterView view = settled_view();
  view.deployments = {rollout(1, 1)};
  view.deployments.front().meta.ns = "compute-domain-operator";
  view.deployments.front().containers = {
      {.name = "c", .image = "o/c@sha256:0123456789abcdef", .claims = {}}};
  add_daemon_sets(view);
  api::PodState pod = imex_pod("p", "o/c@sha256:0123456789abcdef");
  pod.meta.ns = "compute-domain-operator";
  pod.meta.owners = {{.kind = "ReplicaSet", .name = "compute-domain-controller-7d9c"}};
  pod.container_specs.front().name = "c";
  view.pods.push_back(pod);
  EXPECT_EQ(only_trouble(view, "images of Deployment compute-domain-controller").found,
            "1 of 1 pod runs image tag sha256:0123456789ab");
}

TEST(Check, WarnsWhenNoAgentIsWhereTheyShouldBe) {
  ClusterView view = settled_view();
  view.namespaces.nodes = "elsewhere";
  EXPECT_EQ(only_trouble(view, "agents").verdict, Verdict::Warning);
}

TEST(Check, FailsWhereNoNodeIsKnownToHaveGpus) {
  ClusterView view = installed();
  view.deployments = {rollout(1, 1)};
  add_daemon_sets(view);
  const Finding finding = only_trouble(view, "nodes");
  EXPECT_EQ(finding.verdict, Verdict::Fails);
  EXPECT_THAT(finding.remedy, HasSubstr("node feature discovery"));
  EXPECT_EQ(finding.command,
            "kubectl label node NODE --overwrite resource.nvidia.com/compute-domain-agent=true");
  EXPECT_THAT(json_of(checked(view)), HasSubstr("\"healthy\": false"));
}

TEST(Check, FailsForANodeWithoutAReport) {
  ClusterView view = settled_view();
  view.domains.clear();
  view.claims.clear();
  std::erase_if(view.reports, [](const auto& report) { return report.meta.name == "n2"; });
  const Finding finding = only_trouble(view, "node n2");
  EXPECT_EQ(finding.verdict, Verdict::Fails);
  EXPECT_THAT(finding.found, HasSubstr("has not reported"));
  EXPECT_THAT(finding.command, HasSubstr("spec.nodeName=n2"));
}

TEST(Check, LeavesOutANodeThatSomebodyWantsNoAgentOn) {
  ClusterView view = settled_view();
  api::Node node;
  node.meta.name = "n9";
  for (const auto& [value, is_there] :
       {std::pair("detected", true), std::pair("true", true), std::pair("false", false)}) {
    node.meta.labels[api::kAgentNodeLabel] = value;
    view.nodes.push_back(node);
    EXPECT_EQ(finding_on(checked(view), "node n9").verdict == Verdict::Fails, is_there) << value;
    view.nodes.pop_back();
  }
}

TEST(Check, FailsForAReportThatIsNotBelieved) {
  ClusterView view = settled_view();
  pod_in(view, "agent-n2").conditions.front() = {.type = "Ready",
                                                 .status = api::ConditionStatus::False,
                                                 .reason = {},
                                                 .message = {},
                                                 .since = kNow - std::chrono::minutes(5)};
  EXPECT_THAT(only_trouble(view, "node n2").found,
              AllOf(HasSubstr("may not be true any more"), HasSubstr("agent is not ready")));
}

// A kubelet, or who has its token, chooses the times of a pod's conditions.
TEST(Check, FailsForAReportWhoseAgentIsNotReadySinceTheYear1) {
  ClusterView view = settled_view();
  pod_in(view, "agent-n2").conditions.front() = {
      .type = "Ready",
      .status = api::ConditionStatus::False,
      .reason = {},
      .message = {},
      .since = *base::parse_rfc3339("0001-01-01T00:00:00Z")};
  EXPECT_THAT(only_trouble(view, "node n2").found, HasSubstr("agent is not ready"));
}

TEST(Check, SaysWhyANodeCannotServe) {
  ClusterView view = settled_view();
  report_in(view, "n2").status.conditions.front() = {.type = api::kConditionCanServe,
                                                     .status = api::ConditionStatus::False,
                                                     .reason = "NoImexChannels",
                                                     .message = "no device file channel0",
                                                     .last_transition = kNow};
  const Finding finding = only_trouble(view, "node n2");
  EXPECT_EQ(finding.verdict, Verdict::Fails);
  EXPECT_THAT(finding.found, HasSubstr("NoImexChannels: no device file channel0"));
  EXPECT_NE(finding.remedy, "");
}

TEST(Check, TakesANodeThatIsCordonedOnPurposeForWell) {
  ClusterView view = settled_view();
  report_in(view, "n2").status.conditions.front() = {.type = api::kConditionCanServe,
                                                     .status = api::ConditionStatus::False,
                                                     .reason = "Cordoned",
                                                     .message = "the node is cordoned",
                                                     .last_transition = kNow};
  EXPECT_EQ(only_trouble(view, "node n2").verdict, Verdict::Ok);
}

// Its clique was known before, so its pods go on.
TEST(Check, WarnsOfANodeThatServesAndLacksSomethingAllTheSame) {
  ClusterView view = settled_view();
  report_in(view, "n2")
      .status.conditions.push_back({.type = "Fabric",
                                    .status = api::ConditionStatus::False,
                                    .reason = "FabricUnreadable",
                                    .message = "GPU is lost",
                                    .last_transition = kNow});
  const Finding finding = only_trouble(view, "node n2");
  EXPECT_EQ(finding.verdict, Verdict::Warning);
  EXPECT_THAT(finding.found, HasSubstr("it serves, but FabricUnreadable: GPU is lost"));
  EXPECT_EQ(finding.remedy, "check the NVIDIA driver there");
}

TEST(Check, WarnsOfATaintThatNobodyHasTakenAwaySinceTheMachineIsBack) {
  ClusterView view = settled_view();
  auto& node = *std::ranges::find(view.nodes, "n2", [](const auto& n) { return n.meta.name; });
  node.taints = {{.key = api::kOutOfServiceTaint, .value = "nodeshutdown", .effect = "NoExecute"}};
  const Finding finding = only_trouble(view, "node n2");
  EXPECT_EQ(finding.verdict, Verdict::Warning);
  EXPECT_THAT(finding.found, HasSubstr("; it is Ready and still has the taint "
                                       "node.kubernetes.io/out-of-service, so no pod is placed"));
  EXPECT_EQ(finding.command, "kubectl taint node n2 node.kubernetes.io/out-of-service-");
  node.ready = api::ConditionStatus::Unknown;
  EXPECT_EQ(only_trouble(view, "node n2").reason, "NodeUnknown") << "its machine is off";
}

TEST(Check, FailsForANodeThatOffersNothingAlthoughItCanServe) {
  ClusterView view = settled_view();
  std::erase_if(view.slices, [](const auto& slice) { return slice.node == "n2"; });
  EXPECT_THAT(only_trouble(view, "node n2").found, HasSubstr("no ResourceSlice"));
}

TEST(Check, WarnsOfPodsThatHaveLostTheirMemory) {
  ClusterView view = settled_view();
  view.events = {memory_lost("pod-c2", std::chrono::seconds(5)),
                 memory_lost("pod-c1", std::chrono::seconds(5))};
  const CheckReport report = checked(view);
  EXPECT_TRUE(report.is_healthy());
  ASSERT_EQ(report.domains.size(), 1U) << text_of(report);
  EXPECT_EQ(report.domains.front().subject, "ComputeDomain team-a/train");
  EXPECT_EQ(report.domains.front().verdict, Verdict::Warning);
  EXPECT_EQ(report.domains.front().command, "kubectl delete pods pod-c1 pod-c2 -n team-a");
  EXPECT_THAT(text_of(report), HasSubstr("\nComputeDomains\nWARN  ComputeDomain team-a/train"));
  EXPECT_THAT(json_of(report), HasSubstr("\"domains\": ["));
  EXPECT_TRUE(checked(settled_view()).domains.empty());
}

TEST(Check, PrintsAVerdictAndARemedyForEachFinding) {
  ClusterView view = settled_view();
  view.leases = {lease_renewed(std::chrono::minutes(2))};
  const CheckReport report = checked(view);
  EXPECT_THAT(text_of(report), AllOf(HasSubstr("FAIL  controller"), HasSubstr("do: "),
                                     HasSubstr("not healthy: 1 finding fails\n")));
  EXPECT_THAT(json_of(report), HasSubstr("\"healthy\": false"));
}

// One per line: "install Definition computedomains.resource.nvidia.com ok".
std::vector<std::string> rows_in_json(const CheckReport& report) {
  std::vector<std::string> rows;
  const auto json = nlohmann::json::parse(json_of(report));
  for (const char* part : {"install", "nodes", "domains"}) {
    for (const auto& row : json[part]) {
      std::string text = part;
      for (const char* member : {"check", "name", "verdict", "reason"}) {
        const std::string value = row[member];
        text += value.empty() ? "" : " " + value;
      }
      rows.push_back(std::move(text));
    }
  }
  return rows;
}

// Programs find a row by these, whatever people read there.
TEST(Check, GivesProgramsAKeyAVerdictAndAReasonOfEachRow) {
  ClusterView view = settled_view();
  view.leases = {lease_renewed(std::chrono::minutes(2))};
  view.deployments = {rollout(0, 1)};
  view.deployments.front().meta.ns = "compute-domain-operator";
  view.deployments.front().containers = {{.name = "c", .image = "o/c:1", .claims = {}}};
  api::PodState pod = imex_pod("p", "o/c:1");
  pod.meta.ns = "compute-domain-operator";
  pod.meta.owners = {{.kind = "ReplicaSet", .name = "compute-domain-controller-7d9c"}};
  pod.container_specs.front().name = "c";
  view.pods.push_back(pod);
  add_daemon_sets(view);
  view.daemon_sets.front().wanted = 2;
  view.daemon_sets.pop_back();
  view.unreadable["computedomains"][{"team-a", "odd"}] = "spec.numNodes: 1e400 is not a number";
  view.events = {memory_lost("pod-c1", std::chrono::seconds(5))};
  report_in(view, "n2").status.conditions.front() = {.type = api::kConditionCanServe,
                                                     .status = api::ConditionStatus::False,
                                                     .reason = "NoImexChannels",
                                                     .message = "no device file channel0",
                                                     .last_transition = kNow};
  EXPECT_THAT(rows_in_json(checked(view)),
              ::testing::ElementsAre(
                  "install Definition computedomains.resource.nvidia.com ok",
                  "install Definition computedomainnodes.resource.nvidia.com ok",
                  "install Definition computedomaincliques.resource.nvidia.com ok",
                  "install DeviceClass compute-domain-default-channel.nvidia.com ok",
                  "install DeviceClass compute-domain-daemon.nvidia.com ok",
                  "install Controller fails", "install DaemonSet compute-domain-agent warning",
                  "install DaemonSet compute-domain-imex fails",
                  "install Images Deployment/compute-domain-controller ok",
                  "install UnreadableObjects computedomains warning", "nodes Node n1 ok",
                  "nodes Node n2 fails NoImexChannels",
                  "domains LostMemory team-a/train warning ImexMemoryLost"));
  view.namespaces.nodes = "elsewhere";
  EXPECT_THAT(rows_in_json(checked(view)), ::testing::Contains("install Agents warning"));
  EXPECT_THAT(rows_in_json(checked(installed())), ::testing::Contains("install GpuNodes fails"));
}

TEST(Check, FailsWhereSomebodyWantsNoAgentOnAnyNode) {
  ClusterView view = installed();
  api::Node node;
  node.meta.name = "n9";
  node.meta.labels[api::kAgentNodeLabel] = "false";
  view.nodes.push_back(node);
  const CheckReport report = checked(view);
  EXPECT_THAT(rows_in_json(report), ::testing::Contains("install GpuNodes fails"));
  EXPECT_THAT(report.install.back().command, HasSubstr("label node NODE --overwrite"));
}

}  // namespace
}  // namespace cdom::plugin
