#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "compute_domain/plugin/why.h"
#include "plugin/views.h"

namespace cdom::plugin {
namespace {

using namespace plugin::testing;  // NOLINT(google-build-using-namespace): the words of a view
using ::testing::AllOf;
using ::testing::HasSubstr;

WhyReport why_train(const ClusterView& view) {
  const auto report = why_domain(view, {"team-a", "train"});
  return report ? *report : WhyReport{.subject = report.error().message};
}

TEST(WhyDomain, HasNothingToSayOfADomainThatIsReady) {
  const WhyReport report = why_train(settled_view());
  EXPECT_EQ(stop_of(report), "") << text_of(report);
}

TEST(WhyDomain, SaysThatNoControllerHasSeenIt) {
  ClusterView view = installed();
  view.leases.clear();
  view.domains = {domain("train").wants(2)};
  const WhyReport report = why_train(view);
  EXPECT_EQ(stop_of(report), "Controller") << text_of(report);
  EXPECT_THAT(report.remedy, HasSubstr("nstall the operator"));
}

TEST(WhyDomain, NamesPodsThatNameAnotherTemplate) {
  core::World world = core::testing::world_of(domain("train").wants(2).finalized(), 0);
  core::testing::make_template(world);
  core::testing::apply_status(world, core::reconcile(world));
  ClusterView view = view_of(world);
  api::PodState pod = pending_pod("lost", "", "tain-channel");
  pod.made.clear();
  view.pods.push_back(pod);
  const WhyReport report = why_train(view);
  EXPECT_EQ(stop_of(report), "Claims") << text_of(report);
  EXPECT_THAT(report.cause, HasSubstr("lost (names tain-channel)"));
}

TEST(WhyDomain, CountsTheNodesThatAreMissing) {
  core::World world = settled_world();
  world.view.domain->spec.num_nodes = 3;
  ClusterView view = view_of(world);
  add_node(view, idle_node("n3"));
  const WhyReport report = why_train(view);
  EXPECT_EQ(stop_of(report), "Peers") << text_of(report);
  EXPECT_THAT(report.cause, HasSubstr("2 of 3 nodes have a pod with a claim"));
}

TEST(WhyDomain, NamesTheNodeThatIsWorst) {
  core::World world = settled_world();
  api::ImexGroupReport& group = core::testing::group_report(world, "n2");
  group.state = api::DaemonState::Failed;
  group.message = "nvidia-imex is missing";
  const WhyReport report = why_train(view_of(world));
  EXPECT_EQ(stop_of(report), "Nodes") << text_of(report);
  EXPECT_THAT(report.cause, HasSubstr("n2: nvidia-imex is missing"));
}

// A domain is Ready again when its daemons are; what its pods imported does not come back.
TEST(WhyDomain, NamesPodsThatRunWithoutTheMemoryThatTheyImported) {
  ClusterView view = settled_view();
  view.events = {memory_lost("pod-c1", std::chrono::seconds(5)),
                 memory_lost("pod-c2", std::chrono::seconds(5))};
  const WhyReport report = why_train(view);
  EXPECT_EQ(stop_of(report), "Pods") << text_of(report);
  EXPECT_THAT(report.cause, HasSubstr("pods pod-c1, pod-c2"));
  EXPECT_EQ(report.command, "kubectl delete pods pod-c1 pod-c2 -n team-a");
}

TEST(WhyDomain, WaitsForItsPodsWhileItIsDeleted) {
  ClusterView view = settled_view();
  view.domains.front().meta.deletion_time = kNow - std::chrono::seconds(5);
  const WhyReport report = why_train(view);
  EXPECT_EQ(stop_of(report), "ComputeDomain") << text_of(report);
  EXPECT_THAT(report.remedy, HasSubstr("pods pod-c1, pod-c2 end, or delete them;"));
  view.pods.pop_back();
  EXPECT_THAT(why_train(view).remedy, HasSubstr("pod pod-c1 end, or delete it;"));
}

TEST(WhyDomain, NamesTheDomainsThereAreForOneThatIsNot) {
  const auto report = why_domain(settled_view(), {"team-a", "tain"});
  ASSERT_FALSE(report);
  EXPECT_THAT(report.error().message,
              AllOf(HasSubstr("no ComputeDomain tain"), HasSubstr("those there are: train")));
}

TEST(WhyDomain, NamesNoTemplateWhereThereIsNone) {
  core::World world = core::testing::world_of(domain("train").wants(2).finalized(), 0);
  world.view.domain->spec.channel.reset();
  core::testing::apply_status(world, core::reconcile(world));
  WhyReport report = why_train(view_of(world));
  EXPECT_EQ(stop_of(report), "Claims") << text_of(report);
  EXPECT_THAT(text_of(report), ::testing::Not(HasSubstr("resourceClaimTemplateName")));
  EXPECT_THAT(report.remedy, HasSubstr("domainID: uid-train"));
  world.view.domain->spec.workload = {.kind = "Job", .name = "job-1", .uid = "uid-job"};
  world.view.domain->meta.owners = {
      {.api_version = "batch/v1", .kind = "Job", .name = "job-1", .uid = "uid-job"}};
  report = why_train(view_of(world));
  EXPECT_THAT(report.cause, HasSubstr("o pod of Job job-1 has a claim"));
}

// An Event is gone after an hour.
TEST(WhyDomain, DeletesManyPodsWithoutMemoryInSeveralCommands) {
  ClusterView view = settled_view();
  for (int i = 1; i <= 20; ++i) {
    const std::string name = base::cat("share-", i);
    view.pods.push_back(running_pod(name, "c1", "train-channel", "n1"));
    view.events.push_back(memory_lost(name, std::chrono::seconds(5)));
  }
  const WhyReport report = why_train(view);
  EXPECT_EQ(stop_of(report), "Pods") << text_of(report);
  EXPECT_THAT(report.command, ::testing::StartsWith("kubectl delete pods share-1 "));
  EXPECT_THAT(report.command,
              AllOf(::testing::EndsWith(" -n team-a"), ::testing::Not(HasSubstr("share-19"))));
  EXPECT_THAT(report.remedy, HasSubstr("18 of 20 at a time"));
}

}  // namespace
}  // namespace cdom::plugin
