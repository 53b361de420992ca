#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "compute_domain/base/text.h"
#include "compute_domain/core/memory_lost.h"
#include "compute_domain/plugin/why.h"
#include "plugin/views.h"

namespace cdom::plugin {
namespace {

using namespace plugin::testing;  // NOLINT(google-build-using-namespace): the words of a view
using base::cat;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

WhyReport why(const ClusterView& view, const std::string& pod) {
  const auto report = why_pod(view, {"team-a", pod});
  return report ? *report : WhyReport{.subject = report.error().message};
}

// The claim of a pod that waits: c3 has no device.
ClusterView with_waiting_pod(ClusterView view) {
  view.claims.push_back(claim("c3").of("train"));
  view.pods.push_back(pending_pod("pod-c3", "c3", "train-channel"));
  return view;
}

TEST(WhyPod, HasNothingToSayOfAPodOfAReadyDomain) {
  const WhyReport report = why(settled_view(), "pod-c1");
  EXPECT_EQ(stop_of(report), "") << text_of(report);
  for (const Link& link : report.links) EXPECT_EQ(link.state, Link::State::Good) << link.name;
}

TEST(WhyPod, NamesTheTemplatesThereAreWhenThePodNamesAnotherOne) {
  ClusterView view = settled_view();
  api::PodState pod = pending_pod("lost", "", "tain-channel");
  pod.made.clear();
  view.pods.push_back(pod);
  const WhyReport report = why(view, "lost");
  EXPECT_EQ(stop_of(report), "Claim") << text_of(report);
  EXPECT_THAT(report.cause, AllOf(HasSubstr("no ComputeDomain there makes one"),
                                  HasSubstr("train-channel (of ComputeDomain train)")));
  EXPECT_THAT(report.remedy, HasSubstr("orrect resourceClaimTemplateName"));
}

// Of a pod's claims Kubernetes makes none for as long as one of the templates is not there.
TEST(WhyPod, BlamesNoTemplateOfAnotherDriver) {
  ClusterView view = settled_view();
  api::PodState pod = pending_pod("lost", "", "tain-channel");
  pod.made.clear();
  pod.claims.insert(pod.claims.begin(),
                    {.name = "gpus", .template_name = "four-gpus", .claim_name = {}});
  view.pods.push_back(pod);
  view.templates.emplace_back();
  view.templates.back().meta = {.name = "four-gpus", .ns = "team-a"};
  view = reduced(view);
  const WhyReport report = why(view, "lost");
  EXPECT_THAT(report.cause, HasSubstr("no ComputeDomain there makes one")) << text_of(report);
  EXPECT_THAT(report.broken()->text, HasSubstr("tain-channel"));
  view.claims.clear();
  EXPECT_THAT(why_domain(view, {"team-a", "train"})->cause,
              AllOf(HasSubstr("lost (names tain-channel)"), Not(HasSubstr("four-gpus"))));
}

TEST(WhyPod, StopsAtAClaimThatNoContainerUses) {
  ClusterView view = settled_view();
  pod_in(view, "pod-c1").container_specs.front().claims.clear();
  const WhyReport report = why(view, "pod-c1");
  EXPECT_EQ(stop_of(report), "Claim") << text_of(report);
  EXPECT_THAT(report.cause, HasSubstr("o container of the pod uses claim channel"));
  EXPECT_THAT(report.remedy, HasSubstr("dd resources.claims: [{name: channel}] to the container"));
  // An init container may be what needs it.
  pod_in(view, "pod-c1").init_container_specs = {
      {.name = "first", .image = {}, .claims = {{"channel"}}}};
  EXPECT_EQ(stop_of(why(view, "pod-c1")), "");
}

// A bundle of a release that did not keep what containers use.
TEST(WhyPod, DoesNotJudgeContainersThatNobodyHasRead) {
  ClusterView view = settled_view();
  pod_in(view, "pod-c1").container_specs.clear();
  EXPECT_EQ(stop_of(why(view, "pod-c1")), "");
}

TEST(WhyPod, SaysThatAPodWithAClaimOfAnotherDriverAsksForNoComputeDomain) {
  ClusterView view = settled_view();
  api::PodState pod = pending_pod("gpu", "", "");
  pod.made.clear();
  pod.claims = {{.name = "gpus", .template_name = {}, .claim_name = "my-gpu"}};
  view.pods.push_back(pod);
  view.claims.emplace_back();
  view.claims.back().meta = {.name = "my-gpu", .ns = "team-a"};
  const WhyReport report = why(reduced(view), "gpu");
  EXPECT_THAT(report.cause, HasSubstr("does not ask for a ComputeDomain")) << text_of(report);
}

TEST(WhyPod, SaysThatThePodHasEndedRatherThanThatItNeverAsked) {
  ClusterView view = settled_view();
  std::erase_if(view.claims, [](const auto& one) { return one.meta.name == "c1"; });
  WhyReport report = why(view, "pod-c1");
  EXPECT_EQ(stop_of(report), "Claim") << text_of(report);
  EXPECT_THAT(report.cause, HasSubstr("ResourceClaim c1 does not exist any more"));

  pod_in(view, "pod-c1").phase = "Failed";
  report = why(view, "pod-c1");
  EXPECT_EQ(stop_of(report), "Pod") << text_of(report);
  EXPECT_THAT(report.cause, HasSubstr("he pod has ended"));
  EXPECT_THAT(report.command, HasSubstr("kubectl logs pod-c1"));

  view.events = {memory_lost("pod-c1", std::chrono::seconds(5))};
  EXPECT_THAT(why(view, "pod-c1").cause, HasSubstr("he IMEX daemon of node n1 has ended"));
}

// Its daemon is READY again, so all else is well.
TEST(WhyPod, StopsAtTheDaemonThatEndedUnderAPodThatStillRuns) {
  ClusterView view = settled_view();
  view.events = {memory_lost("pod-c1", std::chrono::seconds(5))};
  const WhyReport report = why(view, "pod-c1");
  EXPECT_EQ(stop_of(report), "IMEX daemon") << text_of(report);
  EXPECT_THAT(report.cause, HasSubstr("he IMEX daemon of node n1 has ended"));
  EXPECT_EQ(report.remedy, "Delete the pod, so that it starts again.");
  EXPECT_EQ(report.command, "kubectl delete pod pod-c1 -n team-a");
  EXPECT_EQ(stop_of(why(view, "pod-c2")), "");
}

TEST(WhyPod, HasNothingToSayOfAPodThatStartedAgainSinceItLostItsMemory) {
  ClusterView view = settled_view();
  view.events = {memory_lost("pod-c1", std::chrono::seconds(15))};
  EXPECT_EQ(stop_of(why(view, "pod-c1")), "") << text_of(why(view, "pod-c1"));
  // The Event was written when the container had started again; the daemon ended before.
  view.events = {memory_lost("pod-c1", std::chrono::seconds(5))};
  report_in(view, "n1").status.groups.front().last_failure =
      api::DaemonFailure{kNow - std::chrono::seconds(11), cat("killed; ", core::kMemoryLost)};
  EXPECT_EQ(stop_of(why(view, "pod-c1")), "") << text_of(why(view, "pod-c1"));
}

// Kubelet says whole seconds, and so does the loss.
TEST(WhyPod, KnowsOfMemoryThatWasLostInTheSecondInWhichThePodStarted) {
  ClusterView view = settled_view();
  api::ContainerState& worker = pod_in(view, "pod-c1").containers.front();
  view.events = {memory_lost("pod-c1", kNow - *worker.started)};
  report_in(view, "n1").status.groups.front().last_failure =
      api::DaemonFailure{*worker.started, cat("killed; ", core::kMemoryLost)};
  EXPECT_EQ(stop_of(why(view, "pod-c1")), "IMEX daemon") << text_of(why(view, "pod-c1"));
  worker.restarts = 1;
  EXPECT_EQ(stop_of(why(view, "pod-c1")), "") << "it may have started again because of the loss";
}

// The API server keeps Events for an hour.
TEST(WhyPod, KnowsOfLostMemoryByTheStatusWhenTheEventHasGone) {
  ClusterView view = settled_view();
  auto& group = report_in(view, "n1").status.groups.front();
  group.last_failure = api::DaemonFailure{kNow - std::chrono::seconds(5), "no configuration"};
  EXPECT_EQ(stop_of(why(view, "pod-c1")), "") << "no memory was lost then";
  group.last_failure->message = cat("killed; ", core::kMemoryLost);
  const WhyReport report = why(view, "pod-c1");
  EXPECT_EQ(stop_of(report), "IMEX daemon") << text_of(report);
  EXPECT_THAT(report.cause, HasSubstr("n node n1: killed; pods there have lost the memory"));
}

TEST(WhyPod, KnowsOfLostMemoryAlsoWhenTheDaemonHasFailedInAnotherWaySince) {
  ClusterView view = settled_view();
  auto& group = report_in(view, "n1").status.groups.front();
  group.last_loss =
      api::DaemonFailure{kNow - std::chrono::seconds(5), cat("killed; ", core::kMemoryLost)};
  group.lost_claims = group.claims;
  group.last_failure = api::DaemonFailure{kNow - std::chrono::seconds(2), "does not answer"};
  const WhyReport report = why(view, "pod-c1");
  EXPECT_EQ(stop_of(report), "IMEX daemon") << text_of(report);
  EXPECT_THAT(report.cause, HasSubstr("n node n1: killed; pods there have lost the memory"));
}

TEST(WhyPod, LooksOnlyAtContainersThatHaveTheClaim) {
  ClusterView view = settled_view();
  view.events = {memory_lost("pod-c1", std::chrono::seconds(5))};
  api::PodState& pod = pod_in(view, "pod-c1");
  api::ContainerSpec worker = pod.container_specs.front();
  const api::ContainerState now{.name = worker.name, .started = kNow - std::chrono::seconds(2)};
  const base::Time before = kNow - std::chrono::minutes(10);
  pod.container_specs = {worker, {.name = "log", .image = {}, .claims = {}}};
  pod.containers = {now, {.name = "log", .started = before}};
  EXPECT_EQ(stop_of(why(view, "pod-c1")), "") << text_of(why(view, "pod-c1"));

  // A sidecar is an init container that goes on.
  worker.name = "sidecar";
  pod.init_container_specs = {worker};
  pod.init_containers = {{.name = "sidecar", .started = before}};
  EXPECT_EQ(stop_of(why(view, "pod-c1")), "IMEX daemon");
}

TEST(WhyPod, DoesNotTakeForGoneWhatCannotBeRead) {
  ClusterView view = settled_view();
  std::erase_if(view.claims, [](const auto& one) { return one.meta.name == "c1"; });
  view.unreadable["resourceclaims"][{"team-a", "c1"}] = "spec.devices: not an object";
  EXPECT_THAT(why(view, "pod-c1").cause, HasSubstr("c1 cannot be read: spec.devices"));

  api::PodState pod = pending_pod("lost", "", "odd-channel");
  pod.made.clear();
  view.pods.push_back(pod);
  view.unreadable["resourceclaimtemplates"][{"team-a", "odd-channel"}] = "spec: not an object";
  EXPECT_THAT(why(view, "lost").cause, HasSubstr("odd-channel cannot be read: spec"));
  view.claims.clear();
  EXPECT_THAT(why_domain(view, {"team-a", "train"})->cause, Not(HasSubstr("odd-channel")));
}

TEST(WhyPod, BlamesTheControllerForATemplateThatNobodyMakes) {
  ClusterView view = settled_view();
  view.templates.clear();
  view.domains = {domain("train").wants(2)};
  view.claims.clear();
  view.leases = {lease_renewed(std::chrono::minutes(5))};
  pod_in(view, "pod-c1").made.clear();
  const WhyReport report = why(view, "pod-c1");
  EXPECT_EQ(stop_of(report), "Claim") << text_of(report);
  EXPECT_THAT(report.cause, AllOf(HasSubstr("o controller works"), HasSubstr("renewed 5m ago")));
  EXPECT_THAT(report.command, HasSubstr("kubectl get pods -n compute-domain-operator"));
}

TEST(WhyPod, BlamesTheControllerForANodeListThatNobodyWrites) {
  core::World world = core::testing::world_of(domain("train").wants(2).finalized(), 2);
  ClusterView view = view_of(world);
  view.leases.clear();
  const WhyReport report = why(view, "pod-c1");
  EXPECT_EQ(stop_of(report), "Node list") << text_of(report);
  EXPECT_THAT(report.cause, HasSubstr("neither a Lease nor a Deployment"));
}

TEST(WhyPod, SaysThatTheDomainWantsMoreNodesThanTheClusterHas) {
  ClusterView view = with_waiting_pod(settled_view());
  view.domains.front().spec.num_nodes = 5;
  const WhyReport report = why(view, "pod-c3");
  EXPECT_EQ(stop_of(report), "Device") << text_of(report);
  EXPECT_THAT(report.cause, HasSubstr("wants 5 nodes, and all nodes together offer 2 devices"));
  EXPECT_EQ(report.command,
            "kubectl patch computedomain train -n team-a --type merge -p "
            "'{\"spec\":{\"numNodes\":2}}'");
  // A pod that runs waits for the others.
  EXPECT_EQ(stop_of(why(view, "pod-c1")), "Peers");
}

api::Node& node_in(ClusterView& view, const std::string& name) {
  return *std::ranges::find(view.nodes, name, [](const auto& node) { return node.meta.name; });
}

TEST(WhyPod, CountsNoDeviceOfANodeThatIsCordoned) {
  ClusterView view = with_waiting_pod(settled_view());
  add_node(view, idle_node("n3"));
  node_in(view, "n3").taints = {
      {.key = api::kUnschedulableTaint, .value = "", .effect = "NoSchedule"}};
  view.domains.front().spec.num_nodes = 2;
  WhyReport report = why(view, "pod-c3");
  EXPECT_EQ(stop_of(report), "Device") << text_of(report);
  EXPECT_THAT(text_of(report), HasSubstr("0 of 3 devices are free; n3 is cordoned"));
  EXPECT_THAT(report.cause, HasSubstr("very device that pods can have is in use"));
  EXPECT_THAT(report.remedy, HasSubstr("bring back the nodes that take no pods"));

  view.domains.front().spec.num_nodes = 3;
  report = why(view, "pod-c3");
  EXPECT_THAT(report.cause, HasSubstr("wants 3 nodes, and all nodes together offer 3 devices"));
  EXPECT_THAT(report.cause, HasSubstr(", of which pods can have 2: n3 is cordoned"));
  EXPECT_THAT(report.command, HasSubstr("'{\"spec\":{\"numNodes\":2}}'"));
}

TEST(WhyPod, ProposesNoNumberOfNodesWhereNoneTakesPods) {
  ClusterView view = settled_view();
  view.claims = {claim("c3").of("train")};
  view.pods = {pending_pod("pod-c3", "c3", "train-channel"), agent_pod("n1"), agent_pod("n2")};
  for (api::Node& node : view.nodes) node.ready = api::ConditionStatus::False;
  const WhyReport report = why(view, "pod-c3");
  EXPECT_EQ(stop_of(report), "Device") << text_of(report);
  EXPECT_THAT(report.cause, HasSubstr("of which pods can have 0: n1, n2 are not Ready"));
  EXPECT_EQ(report.command, "kubectl get nodes");
}

// As Kueue sets it until it admits the Job.
TEST(WhyPod, NamesTheGateThatHoldsThePodBack) {
  ClusterView view = with_waiting_pod(settled_view());
  add_node(view, idle_node("n3"));
  api::PodState& pod = pod_in(view, "pod-c3");
  pod.node_selector[kHostNameLabel] = "n1";
  pod.conditions.front().reason = "SchedulingGated";
  pod.gates = {{"kueue.x-k8s.io/admission"}};
  WhyReport report = why(view, "pod-c3");
  EXPECT_EQ(stop_of(report), "Device") << text_of(report);
  EXPECT_THAT(report.cause, HasSubstr("he gate kueue.x-k8s.io/admission holds pod pod-c3 back"));
  EXPECT_EQ(report.command, "kubectl get workloads -n team-a");
  EXPECT_THAT(why_domain(view, {"team-a", "train"})->cause, HasSubstr("holds pod pod-c3 back"));

  pod.gates = {{"example.com/budget"}};
  report = why(view, "pod-c3");
  EXPECT_THAT(report.remedy, HasSubstr("has set the gate example.com/budget"));
  // Before its claim is made, too; of a template that does not exist it says that.
  pod.made.clear();
  std::erase_if(view.claims, [](const auto& one) { return one.meta.name == "c3"; });
  EXPECT_THAT(why(view, "pod-c3").cause, HasSubstr("he gate example.com/budget holds"));
  pod.claims.front().template_name = "tain-channel";
  EXPECT_THAT(why(view, "pod-c3").cause, HasSubstr("no ComputeDomain there makes one"));
}

TEST(WhyPod, NamesTheDomainThatHasTheOneNodeThatThePodWants) {
  ClusterView view = settled_view();
  view.domains.push_back(domain("other").wants(1));
  view.claims.push_back(claim("o1").of("other"));
  view.pods.push_back(pending_pod("pod-o1", "o1", "other-channel"));
  view.pods.back().node_selector[kHostNameLabel] = "n1";
  const WhyReport report = why(view, "pod-o1");
  EXPECT_EQ(stop_of(report), "Device") << text_of(report);
  EXPECT_THAT(report.cause, AllOf(HasSubstr("wants node n1, whose device team-a/train has"),
                                  HasSubstr("pod pod-c1")));
}

TEST(WhyPod, NamesWhoHasTheDevicesWhenAllAreInUse) {
  ClusterView view = settled_view();
  view.domains.push_back(domain("other").wants(1));
  view.claims.push_back(claim("o1").of("other"));
  view.pods.push_back(pending_pod("pod-o1", "o1", "other-channel"));
  const WhyReport report = why(view, "pod-o1");
  EXPECT_EQ(stop_of(report), "Device") << text_of(report);
  EXPECT_THAT(report.cause, HasSubstr("n1 (team-a/train), n2 (team-a/train)"));
}

TEST(WhyPod, LeavesAFreeDeviceThatThePodCannotUseToTheScheduler) {
  ClusterView view = with_waiting_pod(settled_view());
  add_node(view, idle_node("n3"));
  const WhyReport report = why(view, "pod-c3");
  EXPECT_EQ(stop_of(report), "Device") << text_of(report);
  EXPECT_THAT(report.cause, HasSubstr("cannot use the free device"));
  EXPECT_THAT(report.cause, HasSubstr("2 cannot allocate all claims"));
}

TEST(WhyPod, QuotesTheDecoderOnAConfigurationWithAMisspeltField) {
  ClusterView view = settled_view();
  for (auto* configs :
       {&view.claims.front().spec.configs, &view.claims.front().allocation->configs}) {
    configs->front().parameters =
        R"({"apiVersion":"resource.nvidia.com/v1beta1","kind":"ComputeDomainChannelConfig",)"
        R"("domainID":"uid-train","allocationMod":"All"})";
  }
  const WhyReport report = why(view, "pod-c1");
  EXPECT_EQ(stop_of(report), "Claim") << text_of(report);
  EXPECT_THAT(report.cause, HasSubstr("unknown field \"allocationMod\""));
  EXPECT_THAT(report.remedy, HasSubstr("create it again without the mistake"))
      << "the claim is of no pod, and so of no template";
}

TEST(WhyPod, SaysThatSomebodyDeletedTheDomainUnderRunningPods) {
  ClusterView view = settled_view();
  view.domains.front().meta.deletion_time = kNow - std::chrono::seconds(30);
  const WhyReport report = why(view, "pod-c1");
  EXPECT_EQ(stop_of(report), "ComputeDomain") << text_of(report);
  EXPECT_THAT(report.cause, AllOf(HasSubstr("deleted ComputeDomain team-a/train 30s ago"),
                                  HasSubstr("pods pod-c1, pod-c2 use it")));
}

TEST(WhyPod, SaysThatTheDomainOfTheClaimIsGone) {
  ClusterView view = settled_view();
  view.domains.clear();
  const WhyReport report = why(view, "pod-c1");
  EXPECT_EQ(stop_of(report), "ComputeDomain") << text_of(report);
  EXPECT_THAT(report.cause, HasSubstr("does not exist"));
}

TEST(WhyPod, StopsAtTheNodeWhoseAgentSaysNothing) {
  ClusterView view = settled_view();
  view.nodes.front().boot_id = "boot-2";
  const WhyReport report = why(view, "pod-c1");
  EXPECT_EQ(stop_of(report), "Node") << text_of(report);
  EXPECT_THAT(report.cause, HasSubstr("has rebooted"));
}

TEST(WhyPod, StopsAtTheDaemonThatHasFailed) {
  core::World world = settled_world();
  api::ImexGroupReport& group = core::testing::group_report(world, "n1");
  group.state = api::DaemonState::Failed;
  group.message = "nvidia-imex has ended with code 3";
  const WhyReport report = why(view_of(world), "pod-c1");
  EXPECT_EQ(stop_of(report), "IMEX daemon") << text_of(report);
  EXPECT_THAT(report.cause, HasSubstr("ended with code 3"));
}

// For as long as nothing says yet that the agent is away.
TEST(WhyPod, LooksAtTheAgentWhereKubeletKnowsNone) {
  core::World world = settled_world();
  core::testing::group_report(world, "n1").state = api::DaemonState::Stopped;
  ClusterView view = view_of(world);
  pod_in(view, "pod-c1").phase = "Pending";
  api::Occurrence event = memory_lost("pod-c1", std::chrono::seconds(5));
  event.reason = "FailedPrepareDynamicResources";
  view.events.push_back(event);
  for (const char* message :
       {"DRA driver compute-domain.nvidia.com is not registered",
        "plugin name compute-domain.nvidia.com not found in the list of registered DRA plugins"}) {
    view.events.back().message = message;
    const WhyReport report = why(view, "pod-c1");
    EXPECT_EQ(stop_of(report), "IMEX daemon") << text_of(report);
    EXPECT_EQ(report.remedy, "Check the compute-domain-agent pod there.");
    EXPECT_THAT(report.command, HasSubstr("kubectl get pods -n compute-domain-nodes"));
  }

  view.events.back().message = "waits for its daemon";
  EXPECT_EQ(why(view, "pod-c1").command, "kubectl describe cdn n1");
}

TEST(WhyPod, StopsAtThePeersThatDoNotReachTheNode) {
  core::World world = settled_world(3);
  for (const char* node : {"n2", "n3"}) {
    api::ImexGroupReport& group = core::testing::group_report(world, node);
    group.connected = "1-2";
    group.unreachable = {"n1"};
  }
  const WhyReport report = why(view_of(world), "pod-c1");
  EXPECT_EQ(stop_of(report), "Peers") << text_of(report);
  EXPECT_THAT(report.cause, HasSubstr("2 of 2 members cannot reach its IMEX daemon"));
}

TEST(WhyPod, LooksAtTheContainersLast) {
  ClusterView view = settled_view();
  api::PodState& pod = pod_in(view, "pod-c1");
  pod.phase = "Pending";
  pod.containers = {{.name = "worker",
                     .waiting_reason = "ImagePullBackOff",
                     .waiting_message = "no such image",
                     .started = std::nullopt}};
  const WhyReport report = why(view, "pod-c1");
  EXPECT_EQ(stop_of(report), "Containers") << text_of(report);
  EXPECT_THAT(report.cause, HasSubstr("ImagePullBackOff: no such image"));
}

TEST(WhyPod, LooksAtInitContainersToo) {
  ClusterView view = settled_view();
  api::PodState& pod = pod_in(view, "pod-c1");
  pod.phase = "Pending";
  pod.containers = {{.name = "worker",
                     .waiting_reason = "PodInitializing",
                     .waiting_message = {},
                     .started = {}}};
  pod.init_containers = {{.name = "prepare",
                          .waiting_reason = "CrashLoopBackOff",
                          .waiting_message = "back-off 10s",
                          .started = {}}};
  WhyReport report = why(view, "pod-c1");
  EXPECT_EQ(stop_of(report), "Containers") << text_of(report);
  EXPECT_THAT(report.cause, HasSubstr("init container prepare"));
  EXPECT_THAT(report.cause, HasSubstr("CrashLoopBackOff: back-off 10s"));
  // Between two starts it does not wait yet.
  pod.init_containers = {{.name = "prepare", .ended_reason = "Error"}};
  report = why(view, "pod-c1");
  EXPECT_THAT(report.cause, HasSubstr("init container prepare has ended: Error"));
  EXPECT_EQ(report.command, "kubectl logs pod-c1 -n team-a -c prepare");
  // And while it works the others wait for it.
  pod.init_containers = {{.name = "first", .ended_reason = "Completed"},
                         {.name = "prepare", .started = kNow}};
  report = why(view, "pod-c1");
  EXPECT_THAT(report.cause, HasSubstr("wait until init container prepare has ended"));
  // Not for a sidecar, which runs as long as the pod: now kubelet pulls an image.
  pod.conditions.push_back({.type = "Initialized", .status = api::ConditionStatus::True});
  report = why(view, "pod-c1");
  EXPECT_NE(stop_of(report), "Containers") << text_of(report);
}

TEST(WhyPod, DoesNotTakeAContainerThatHasEndedForOneThatRuns) {
  ClusterView view = settled_view();
  api::PodState& pod = pod_in(view, "pod-c1");
  pod.containers.push_back({.name = "tool", .ended_reason = "OOMKilled"});
  WhyReport report = why(view, "pod-c1");
  EXPECT_EQ(stop_of(report), "Containers") << text_of(report);
  EXPECT_THAT(report.cause, HasSubstr("container tool has ended: OOMKilled"));
  pod.containers.back().ended_reason = "Completed";
  report = why(view, "pod-c1");
  EXPECT_EQ(stop_of(report), "");
  EXPECT_EQ(report.links.back().text, "container worker runs; container tool has ended");
}

TEST(WhyPod, DoesNotSpeakOfADaemonOnANodeWithoutAFabric) {
  core::World world = core::testing::world_of(domain("train").wants(1).finalized(), 1);
  world.nodes["n1"] = idle_node("n1", "");
  core::testing::make_template(world);
  core::testing::write_list(world, "");
  core::testing::report_ready(world, "");
  core::testing::apply_status(world, core::reconcile(world));
  const WhyReport report = why(view_of(world), "pod-c1");
  EXPECT_THAT(text_of(report), AllOf(HasSubstr("node n1 has no NVLink fabric, so no IMEX daemon"),
                                     Not(HasSubstr("the IMEX daemon on n1 is READY"))));
}

// The claim of several pods has its node, and the scheduler has none for this one.
TEST(WhyPod, QuotesTheSchedulerOnAPodThatCannotGetANode) {
  ClusterView view = settled_view();
  api::PodState pod = pending_pod("late", "", "");
  pod.made.clear();
  pod.claims = {{.name = "channel", .template_name = {}, .claim_name = "c1"}};
  pod.conditions.front().message = "0/2 nodes are available: 2 node(s) didn't match node selector.";
  view.pods.push_back(pod);
  const WhyReport report = why(view, "late");
  EXPECT_EQ(stop_of(report), "Node") << text_of(report);
  EXPECT_THAT(report.cause, HasSubstr("2 node(s) didn't match node selector"));
  EXPECT_THAT(report.remedy, Not(HasSubstr("ait a moment")));
}

TEST(WhyPod, TellsAPodWithoutAClaimOfThisDriver) {
  ClusterView view = settled_view();
  api::PodState pod = running_pod("plain", "gpu-claim", "gpus", "n1");
  view.pods.push_back(pod);
  const WhyReport report = why(view, "plain");
  EXPECT_EQ(stop_of(report), "Claim") << text_of(report);
  EXPECT_THAT(report.cause, HasSubstr("does not ask for a ComputeDomain"));
}

// The cluster is read with the names alone of pods that have no claim.
TEST(WhyPod, TellsAPodWithoutAnyClaimFromOneThatDoesNotExist) {
  ClusterView view = settled_view();
  view.of_others["pods"] = {{"team-a", "plain"}};
  const WhyReport report = why(view, "plain");
  EXPECT_EQ(stop_of(report), "Claim") << text_of(report);
  EXPECT_THAT(report.cause, HasSubstr("does not ask for a ComputeDomain"));
  EXPECT_THAT(report.remedy, HasSubstr("train-channel (of ComputeDomain train)"));
  EXPECT_THAT(why(view, "none").subject,
              HasSubstr("no pod none with a resource claim in namespace team-a"))
      << "nobody has read that namespace's pods without one";
  view.pods_read_in = "team-a";
  EXPECT_THAT(why(view, "none").subject, HasSubstr("there is no pod none in namespace team-a;"));
}

TEST(WhyPod, NamesThePodsThereAreForOneThatIsNot) {
  const auto report = why_pod(settled_view(), {"team-a", "pod-c9"});
  ASSERT_FALSE(report);
  EXPECT_THAT(report.error().message,
              AllOf(HasSubstr("no pod pod-c9"), HasSubstr("pod-c1, pod-c2")));
}

TEST(WhyPod, SaysOfAPodThatIsThereThatItCannotBeRead) {
  ClusterView view = settled_view();
  view.unreadable["pods"][{"team-a", "odd"}] = "spec.containers: not an array";
  EXPECT_EQ(why(view, "odd").subject,
            "pod odd in namespace team-a cannot be read: spec.containers: not an array");
  EXPECT_THAT(why_pod(view, {"team-b", "odd"}).error().message, HasSubstr("there is no pod odd"));
}

TEST(WhyPod, PrintsTheBrokenLinkTheCauseAndTheRemedy) {
  ClusterView view = settled_view();
  view.domains.clear();
  const WhyReport report = why(view, "pod-c1");
  EXPECT_THAT(text_of(report), AllOf(HasSubstr("pod team-a/pod-c1: stops at ComputeDomain\n"),
                                     HasSubstr("> STOP  ComputeDomain"), HasSubstr("\nCause:  "),
                                     HasSubstr("\nDo:     ")));
  EXPECT_THAT(json_of(report), AllOf(HasSubstr("\"stopsAt\": \"ComputeDomain\""),
                                     HasSubstr("\"state\": \"notReached\"")));
}

}  // namespace
}  // namespace cdom::plugin
