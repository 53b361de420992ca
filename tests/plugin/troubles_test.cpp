// Twenty troubles that people have with ComputeDomains. In each of them `why` says where it stops,
// names the cause and what to do; and where `kubectl describe computedomain` is what one looks at,
// its condition Ready names the cause too. Those that need programs (a controller that is away, a
// server that refuses) are told by the same words in tests/smoke/plugin_test.sh.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <functional>

#include "compute_domain/base/text.h"
#include "compute_domain/core/reservations.h"
#include "compute_domain/core/status.h"
#include "compute_domain/plugin/why.h"
#include "plugin/views.h"

namespace cdom::plugin {
namespace {

using namespace plugin::testing;  // NOLINT(google-build-using-namespace): the words of a view
using base::cat;
using core::World;
using core::testing::apply_status;
using core::testing::DomainBuilder;
using core::testing::group_report;
using core::testing::make_template;
using core::testing::world_of;
using std::chrono::minutes;
using std::chrono::seconds;
using ::testing::HasSubstr;

struct Trouble {
  std::string name;
  std::function<ClusterView()> view;
  std::string of;        // "cd" for the domain train, or a pod
  std::string stops_at;  // a link of the chain
  std::string cause;     // a part of it
  std::string remedy;    // a part of it
  std::string describe;  // a part of the condition Ready of the domain; "": it has nothing to say
};

constexpr char kNextClique[] = "6f0a5a5e-0000-4000-8000-000000000001.1";

// As the controller has written its status.
ClusterView told(World world) {
  apply_status(world, core::reconcile(world));
  return view_of(world);
}

// A domain of whose pods none has come.
World waiting(DomainBuilder builder) {
  World world = world_of(builder.finalized(), 0);
  make_template(world);
  return world;
}

// One whose controller looks for a clique, and says this of it.
ClusterView placed(const core::PlacementVerdict& verdict) {
  DomainBuilder builder = domain("train").wants(4);
  builder.object.spec.placement =
      api::ComputeDomainPlacement{.clique = api::CliquePlacement::Single};
  World world = world_of(builder.finalized(), 0);
  world.placement = verdict;
  ClusterView view = told(world);
  add_node(view, idle_node("n1"));
  add_node(view, idle_node("n2"));
  view.pods.push_back(pending_pod("pod-c1", "", "train-channel"));
  view.pods.back().made.clear();
  return view;
}

ClusterView with_daemon(const std::string& message) {
  World world = settled_world();
  group_report(world, "n1").state = api::DaemonState::Failed;
  group_report(world, "n1").message = message;
  return told(world);
}

// No node offers a device; what one of them says of itself.
ClusterView with_unfit_nodes(const std::string& reason, const std::string& message) {
  ClusterView view = told(waiting(domain("train").wants(2)));
  view.claims.push_back(claim("c1").of("train"));
  view.pods.push_back(pending_pod("pod-c1", "c1", "train-channel"));
  if (reason.empty()) return view;
  add_node(view, idle_node("n1"));
  view.slices.clear();
  view.reports.front().status.conditions = {{.type = api::kConditionCanServe,
                                             .status = api::ConditionStatus::False,
                                             .reason = reason,
                                             .message = message,
                                             .last_transition = kNow}};
  return view;
}

std::vector<Trouble> troubles() {
  return {
      {"numNodes is larger than the cluster",
       [] {
         World world = settled_world();
         world.view.domain->spec.num_nodes = 5;
         return told(world);
       },
       "pod-c1", "Peers", "wants 5 nodes, and all nodes together offer 2 devices",
       "ower spec.numNodes", "2 of 5 nodes have a pod with a claim"},
      {"a pod names a template that does not exist",
       [] {
         ClusterView view = told(waiting(domain("train").wants(2)));
         view.pods.push_back(pending_pod("lost", "", "tain-channel"));
         view.pods.back().made.clear();
         return view;
       },
       "lost", "Claim", "train-channel (of ComputeDomain train)",
       "orrect resourceClaimTemplateName", "no pod has a claim of this domain yet"},
      {"two domains want one node",
       [] {
         ClusterView view = settled_view();
         view.domains.push_back(domain("other").wants(1));
         view.claims.push_back(claim("o1").of("other"));
         view.pods.push_back(pending_pod("pod-o1", "o1", "other-channel"));
         view.pods.back().node_selector[kHostNameLabel] = "n1";
         return view;
       },
       "pod-o1", "Device", "wants node n1, whose device team-a/train has", "et the other pods end",
       ""},
      {"pods are in two cliques",
       [] {
         World world = world_of(domain("train").wants(2).finalized(), 2);
         world.nodes["n2"] = idle_node("n2", kNextClique);
         make_template(world);
         for (const char* clique : {kClique, kNextClique}) core::testing::write_list(world, clique);
         for (const char* clique : {kClique, kNextClique})
           core::testing::report_ready(world, clique);
         for (const char* clique : {kClique, kNextClique}) core::testing::write_list(world, clique);
         return told(world);
       },
       "cd", "Peers", "nodes are in different NVLink cliques", "eep the pods within one clique",
       "nodes are ready"},
      {"Single with a pod that is nailed outside the clique",
       [] {
         World world = waiting(domain("train").wants(2));
         core::Reservation reservation{.clique = kClique, .seats = 2, .generation = 1};
         core::ask_for(world.templates.front(), reservation);
         api::ResourceClaim asking = claim("c1").of("train");
         asking.spec = world.templates.front().spec;
         ClusterView view = told(world);
         view.claims.push_back(asking);
         add_node(view, idle_node("n1"));
         add_node(view, idle_node("n9", kNextClique), kNextClique);
         view.pods.push_back(pending_pod("pod-c1", "c1", "train-channel"));
         view.pods.back().node_selector[kHostNameLabel] = "n9";
         return view;
       },
       "pod-c1", "Device", cat("which has to go to clique ", kClique), "node selector", ""},
      {"Single is larger than any clique",
       [] {
         return placed({.holds = false,
                        .reason = "NoCliqueIsLargeEnough",
                        .message = "needs 4 seats, and the largest clique has 2"});
       },
       "cd", "Template", "the largest clique has 2", "ower spec.numNodes",
       "the largest clique has 2"},
      {"a node is without power",
       [] {
         World world = settled_world();
         world.nodes["n1"].node->ready = api::ConditionStatus::Unknown;
         return told(world);
       },
       "pod-c1", "Node", "kubelet has stopped answering", "heck the machine", "n1"},
      {"a node is cut off",
       [] {
         World world = settled_world(3);
         for (const char* node : {"n2", "n3"}) {
           group_report(world, node).connected = "1-2";
           group_report(world, node).unreachable = {"n1"};
         }
         return told(world);
       },
       "pod-c1", "Peers", "2 of 2 members cannot reach its IMEX daemon", "TCP port 50000",
       "n1: 2 of 2 members cannot reach its IMEX daemon"},
      {"an IMEX daemon is killed", [] { return with_daemon("nvidia-imex was killed by signal 9"); },
       "pod-c1", "IMEX daemon", "killed by signal 9", "it is started again by itself",
       "n1: nvidia-imex was killed by signal 9"},
      {"an IMEX daemon hangs", [] { return with_daemon("nvidia-imex-ctl got no answer for 4 s"); },
       "pod-c1", "IMEX daemon", "got no answer for 4 s", "ead the message",
       "n1: nvidia-imex-ctl got no answer for 4 s"},
      {"a domain is deleted under pods that run",
       [] {
         World world = settled_world();
         world.view.domain->meta.deletion_time = kNow - seconds(30);
         return told(world);
       },
       "pod-c1", "ComputeDomain", "deleted ComputeDomain team-a/train 30s ago",
       "create the ComputeDomain again", "waits for 2 pods"},
      {"a field of a configuration is misspelt",
       [] {
         ClusterView view = settled_view();
         for (auto* configs :
              {&view.claims.front().spec.configs, &view.claims.front().allocation->configs}) {
           configs->front().parameters =
               R"({"apiVersion":"resource.nvidia.com/v1beta1","kind":"ComputeDomainChannelConfig",)"
               R"("domainID":"uid-train","allocationMod":"All"})";
         }
         return view;
       },
       "pod-c1", "Claim", "unknown field \"allocationMod\"",
       "orrect it in the ResourceClaimTemplate", ""},
      {"the name of the template is taken",
       [] {
         World world = world_of(domain("train").wants(2).finalized(), 0);
         api::ResourceClaimTemplate foreign;
         foreign.meta.name = "train-channel";
         foreign.meta.ns = "team-a";
         foreign.meta.uid = "uid-foreign";
         world.templates = {foreign};
         return told(world);
       },
       "cd", "Template", "belongs to somebody else", "another template name", "train-channel"},
      {"nodes have no fabric",
       [] {
         World world = world_of(domain("train").wants(2).finalized(), 2);
         for (const char* node : {"n1", "n2"}) world.nodes[node] = idle_node(node, "");
         make_template(world);
         core::testing::write_list(world, "");
         core::testing::report_ready(world, "");
         core::testing::write_list(world, "");
         return told(world);
       },
       "cd", "Peers", "no node has an NVLink fabric", "se nodes with an NVLink fabric",
       "nodes are ready"},
      {"there are no nodes with GPUs", [] { return with_unfit_nodes("", ""); }, "pod-c1", "Device",
       "no node has an agent that has reported", "nstall the agents on nodes with GPUs", ""},
      {"no controller works",
       [] {
         ClusterView view = settled_view();
         view.templates.clear();
         view.domains = {domain("train").wants(2)};
         view.claims.clear();
         view.leases = {lease_renewed(minutes(5))};
         pod_in(view, "pod-c1").made.clear();
         return view;
       },
       "pod-c1", "Claim", "renewed 5m ago", "controller", ""},
      {"a node has no agent",
       [] {
         World world = settled_world();
         world.nodes["n1"].agent = core::AgentPod{.ready = false, .lasts = minutes(5)};
         ClusterView view = told(world);
         std::erase_if(view.pods, [](const auto& pod) { return pod.meta.name == "agent-n1"; });
         return view;
       },
       "pod-c1", "Node", "agent", "heck the compute-domain-agent pod there", "n1"},
      {"the fabric is broken",
       [] { return with_unfit_nodes("FabricUnreadable", "GPU 0 cannot be asked: GPU is lost"); },
       "pod-c1", "Device", "n1: FabricUnreadable: GPU 0 cannot be asked: GPU is lost",
       "end what the nodes lack", ""},
      {"a quota refuses what the controller writes",
       [] {
         World world = waiting(domain("train").wants(2));
         world.refusals = {"cannot create ConfigMap cd-train: exceeded quota: few"};
         return told(world);
       },
       "cd", "Controller", "exceeded quota: few", "a quota, a policy, a role",
       "exceeded quota: few"},
      {"the driver is too old",
       [] { return with_unfit_nodes("DriverTooOld", "driver 535 has no IMEX by host names"); },
       "pod-c1", "Device", "n1: DriverTooOld: driver 535", "end what the nodes lack", ""},
  };
}

class Troubles : public ::testing::TestWithParam<Trouble> {};

TEST_P(Troubles, HaveACauseAndANextStep) {
  const Trouble& trouble = GetParam();
  const ClusterView view = trouble.view();
  const auto report = trouble.of == "cd" ? why_domain(view, {"team-a", "train"})
                                         : why_pod(view, {"team-a", trouble.of});
  ASSERT_TRUE(report) << report.error().message;
  EXPECT_EQ(stop_of(*report), trouble.stops_at) << text_of(*report);
  EXPECT_THAT(report->cause, HasSubstr(trouble.cause)) << text_of(*report);
  EXPECT_THAT(report->remedy, HasSubstr(trouble.remedy)) << text_of(*report);
  if (trouble.describe.empty()) return;
  ASSERT_FALSE(view.domains.empty());
  ASSERT_TRUE(view.domains.front().status);
  const api::Condition* ready =
      api::find_condition(view.domains.front().status->conditions, core::kConditionReady);
  ASSERT_NE(ready, nullptr);
  EXPECT_THAT(ready->message, HasSubstr(trouble.describe));
}

INSTANTIATE_TEST_SUITE_P(Twenty, Troubles, ::testing::ValuesIn(troubles()), [](const auto& row) {
  std::string name = row.param.name;
  std::ranges::replace_if(
      name, [](char c) { return std::isalnum(c) == 0; }, '_');
  return name;
});

}  // namespace
}  // namespace cdom::plugin
