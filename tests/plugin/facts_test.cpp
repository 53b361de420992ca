// What the plugin says where it does not know with what the controller has been started.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "compute_domain/core/channels.h"
#include "compute_domain/core/status.h"
#include "compute_domain/core/templates.h"
#include "compute_domain/plugin/timeline.h"
#include "compute_domain/plugin/why.h"
#include "plugin/views.h"

namespace cdom::plugin {
namespace {

using namespace plugin::testing;  // NOLINT(google-build-using-namespace): the words of a view
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr char kTheirs[] = "nvidia-dra-driver-gpu";

api::ResourceClaimTemplate of_predecessor(api::ResourceClaimTemplate object) {
  object.meta.uid = "uid-" + object.meta.name;
  object.meta.owners.clear();
  object.meta.finalizers = {api::kDomainFinalizer};
  return object;
}

// NVIDIA's driver has made the domain, and left its templates and daemons.
core::World left_world() {
  core::World world = core::testing::world_of(domain("train").wants(2).finalized(), 2);
  const auto wanted = core::wanted_template(*world.view.domain, std::nullopt);
  world.templates = {of_predecessor(*wanted)};
  world.view.domain->status = api::ComputeDomainStatus{};
  return world;
}

ClusterView view_of_left(const core::World& world) {
  ClusterView view = view_of(world);
  api::ResourceClaimTemplate sign = *core::wanted_template(*world.view.domain, std::nullopt);
  sign.meta.name = core::predecessors_name(world.view.uid);
  sign.meta.ns = kTheirs;
  sign.meta.labels[api::kTargetLabel] = api::kTargetDaemon;
  view.templates.push_back(of_predecessor(sign));
  return view;
}

// Its controller has --adopt-from, and has looked at the domain.
core::World inherited_world() {
  core::World world = left_world();
  world.settings.adopt_from = {kTheirs};
  world.view.has_predecessor = true;
  core::testing::apply_status(world, core::reconcile(world));
  return world;
}

std::string why_of_domain(const ClusterView& view) {
  const auto report = why_domain(view, {"team-a", "train"});
  return report ? text_of(*report) : report.error().message;
}
std::string why_of_pod(const ClusterView& view, const std::string& pod) {
  const auto report = why_pod(view, {"team-a", pod});
  return report ? text_of(*report) : report.error().message;
}
std::string timeline_of_train(const ClusterView& view) {
  const auto report = timeline(view, {"team-a", "train"});
  return report ? text_of(*report) : report.error().message;
}

TEST(Facts, SayOfADomainThatNvidiasDriverServesWhatTheControllerSays) {
  const ClusterView view = view_of_left(inherited_world());
  const std::string why = why_of_domain(view);
  EXPECT_THAT(why, AllOf(HasSubstr("stops at Nodes"), HasSubstr("new pods wait until these"),
                         HasSubstr("pod-c1, pod-c2"), HasSubstr("Let the pods that the message"),
                         Not(HasSubstr("another template"))));
  EXPECT_THAT(timeline_of_train(view), AllOf(HasSubstr("NVIDIA's DRA driver serves it"),
                                             Not(HasSubstr("delete this ComputeDomain"))));
}

TEST(Facts, SayThatAPodThatNvidiasDriverServesRuns) {
  const std::string why = why_of_pod(view_of_left(inherited_world()), "pod-c1");
  EXPECT_THAT(why, AllOf(Not(HasSubstr("STOP")), HasSubstr("a daemon of NVIDIA's DRA driver")));
}

TEST(Facts, SayForWhichPodsANewOneWaits) {
  ClusterView view = view_of_left(inherited_world());
  add_node(view, idle_node("n3"));
  view.claims.push_back(claim("c3").on("n3"));
  api::PodState& pod = view.pods.emplace_back(running_pod("pod-c3", "c3", "train-channel", "n3"));
  pod.phase = "Pending";
  pod.containers.clear();
  EXPECT_THAT(why_of_pod(view, "pod-c3"),
              AllOf(HasSubstr("stops at Node list"), HasSubstr("new pods wait until these"),
                    Not(HasSubstr("Wait a moment"))));
}

// One without --adopt-from says so, and none has yet.
TEST(Facts, AdviseNobodyToDeleteADomainBeforeTheControllerDoes) {
  const ClusterView unseen = view_of_left(left_world());
  EXPECT_THAT(why_of_domain(unseen), Not(HasSubstr("another template")));
  core::World world = left_world();
  core::testing::apply_status(world, core::reconcile(world));
  EXPECT_THAT(why_of_domain(view_of_left(world)), HasSubstr("another template"));
}

// Domains "blue" and "train" on one node that isolates by channel.
ClusterView view_of_two(std::int64_t channels) {
  core::CliqueWorld clique;
  clique.now = kNow;
  clique.clique = core::testing::kClique;
  clique.settings.channels = channels;
  clique.nodes["n1"] = idle_node("n1");
  clique.nodes["n1"].report->status.isolation = api::Isolation::Channel;
  for (const char* name : {"blue", "train"}) {
    core::DomainView& view = clique.domains.emplace_back();
    view.uid = core::testing::uid_of(name);
    view.domain = domain(name).wants(1).finalized();
    view.claims = {claim(base::cat("c-", name)).of(name).on("n1")};
  }
  api::ConfigMap list_written;
  for (const core::Action& action : core::reconcile_clique(clique).actions) {
    const auto* write = std::get_if<core::WriteNodeList>(&action);
    if (write != nullptr) list_written = write->desired;
  }
  clique.list = core::stored_list(list_written);
  api::ImexGroupReport report;
  const api::NodeList& list = *clique.list->list;
  report.group = list.group;
  report.slot = core::find_entry(list, "n1")->slot;
  report.term = core::find_entry(list, "n1")->term;
  report.state = api::DaemonState::Ready;
  report.table_hash = api::table_hash(list);
  report.claims = {"uid-c-blue"};
  report.channels = "1";
  clique.nodes["n1"].report->status.groups = {report};
  core::World world;
  world.now = kNow;
  world.settings = clique.settings;
  world.view = clique.domains.back();
  world.nodes = clique.nodes;
  world.lists = {*clique.list};
  core::testing::make_template(world);
  core::testing::apply_status(world, core::reconcile(world));
  ClusterView view = view_of(world);
  view.lists = {list_written};
  return view;
}

TEST(Facts, SayThatChannelsAreUsedUpWhereTheControllerDoes) {
  const ClusterView view = view_of_two(2);
  EXPECT_THAT(why_of_domain(view),
              AllOf(HasSubstr("stops at Nodes"), HasSubstr("all 1 IMEX channels"),
                    HasSubstr("elete ComputeDomains that have ended")));
  EXPECT_THAT(why_of_pod(view, "pod-c-train"),
              AllOf(HasSubstr("stops at Node list"), HasSubstr("all 1 IMEX channels"),
                    Not(HasSubstr("Wait a moment"))));
}

// Where nodes have more of them than by default, and no channel is given yet.
TEST(Facts, SayThatChannelsAreUsedUpOnlyWhereTheControllerDoes) {
  ClusterView view = view_of_two(2);
  view.domains.front().status->conditions.clear();
  view.domains.front().status->nodes.front().reason = "Starting";
  EXPECT_THAT(why_of_domain(view), HasSubstr("it has no channel yet"));
}

}  // namespace
}  // namespace cdom::plugin
