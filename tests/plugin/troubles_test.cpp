// The troubles that people have with ComputeDomains. In each of them `why` says where it stops,
// names the cause and what to do; and so does `kubectl describe` of an object: in a condition that
// the controller or an agent writes, or that the definition gives, in an Event of the pod, or in
// what a node reports of a claim that waits. tests/smoke/plugin_test.sh asks real programs, also
// with the controller away and with a server that refuses; tests/smoke/webhook_test.sh has a real
// server that refuses.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <functional>

#include "compute_domain/api/channel_config.h"
#include "compute_domain/base/text.h"
#include "compute_domain/core/placement.h"
#include "compute_domain/core/reasons.h"
#include "compute_domain/core/reservations.h"
#include "compute_domain/core/status.h"
#include "compute_domain/plugin/why.h"
#include "plugin/agent_words.h"
#include "plugin/facts.h"
#include "plugin/views.h"
#include "source_tree/source_tree.h"

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
  std::string describe;  // what `kubectl describe` shows of …
  // … this: Ready of a domain; CanServe of a node's report (cdn n1); the last Event of a pod
  // (pod pod-c1); the first claim that waits on a node (claims n1).
  std::string where = "cd train";
};

constexpr char kNextClique[] = "6f0a5a5e-0000-4000-8000-000000000001.1";

// As the controller has written its status.
ClusterView told(World world) {
  apply_status(world, core::reconcile(world));
  return view_of(world);
}

// As the API server has the Events of a plan.
void add_events(ClusterView& view, const core::Plan& plan) {
  for (const core::Action& action : plan.actions) {
    const auto* record = std::get_if<core::RecordEvent>(&action);
    if (record == nullptr) continue;
    api::Occurrence event;
    event.meta.ns = record->involved.ns;
    event.involved = record->involved;
    event.type = record->type;
    event.reason = record->reason;
    event.message = record->message;
    event.event_time = kNow - seconds(2);
    view.events.push_back(event);
  }
}

// A domain of whose pods none has come.
World waiting(DomainBuilder builder) {
  World world = world_of(builder.finalized(), 0);
  make_template(world);
  return world;
}

// A claim of a pod that has waited for a seat for some time.
api::ResourceClaim waiting_claim(const std::string& name, const std::string& of) {
  api::ResourceClaim object = claim(name).of(of);
  object.meta.creation_time = kNow - seconds(18);
  return object;
}

// The pod of a claim of that domain waits, and the controller has counted the seats.
void add_waiting(ClusterView& view, World world, const api::ResourceClaim& claim) {
  const std::string& name = world.view.domain->meta.name;
  world.view.claims.push_back(claim);
  view.claims.push_back(claim);
  view.pods.push_back(pending_pod("pod-" + claim.meta.name, claim.meta.name, name + "-channel"));
  world.seats = Facts(view).seat_count();
  apply_status(world, core::reconcile(world));
  std::erase_if(view.domains, [&](const auto& domain) { return domain.meta.name == name; });
  view.domains.push_back(*world.view.domain);
}

// One that wants four seats of one clique, and the largest has two.
ClusterView not_placed() {
  const core::PlacementWorld cliques = {
      .cliques = {{kClique, {{"n1", core::Seat::State::Free}, {"n2", core::Seat::State::Free}}}},
      .domains = {{.uid = "uid-train", .name = {"team-a", "train"}, .num_nodes = 4}},
      .reservations = api::ConfigMap{}};
  DomainBuilder builder = domain("train").wants(4);
  builder.object.spec.placement =
      api::ComputeDomainPlacement{.clique = api::CliquePlacement::Single};
  World world = world_of(builder.finalized(), 0);
  world.placement = core::place(cliques).verdicts.at("uid-train");
  ClusterView view = told(world);
  add_node(view, idle_node("n1"));
  add_node(view, idle_node("n2"));
  view.pods.push_back(pending_pod("pod-c1", "", "train-channel"));
  view.pods.back().made.clear();
  return view;
}

// A domain of four nodes in a cluster of two, whose pods have all come.
ClusterView larger_than_the_cluster() {
  World world = settled_world();
  world.view.domain->spec.num_nodes = 4;
  ClusterView view = told(world);
  add_waiting(view, world, waiting_claim("c3", "train"));
  world.view.claims = view.claims;
  add_waiting(view, world, waiting_claim("c4", "train"));
  return view;
}

ClusterView with_daemon(const std::string& message) {
  World world = settled_world();
  group_report(world, "n1").state = api::DaemonState::Failed;
  group_report(world, "n1").message = message;
  return told(world);
}

// A daemon was killed, and is READY again; a pod runs since before that.
ClusterView with_daemon_that_was_killed() {
  World world = settled_world();
  world.view.claims.front().reserved_for.front().uid = "uid-pod-c1";
  group_report(world, "n1").state = api::DaemonState::Failed;
  group_report(world, "n1").message = words_of_killed_daemon();
  const core::Plan loss = core::reconcile(world);
  apply_status(world, loss);
  group_report(world, "n1").state = api::DaemonState::Ready;
  group_report(world, "n1").message.clear();
  ClusterView view = told(world);
  add_events(view, loss);
  return view;
}

// No node offers a device; what one of them says of itself.
ClusterView with_unfit_nodes(const std::vector<api::Condition>& conditions) {
  const World world = waiting(domain("train").wants(2));
  ClusterView view = told(world);
  if (!conditions.empty()) {
    add_node(view, idle_node("n1"));
    view.slices.clear();
    view.reports.front().status.conditions = conditions;
  }
  add_waiting(view, world, waiting_claim("c1", "train"));
  return view;
}

// The daemon of a member has ended, and somebody else's has its place.
ClusterView with_foreign_daemon() {
  World world = settled_world();
  group_report(world, "n1").state = api::DaemonState::Failed;
  group_report(world, "n1").message = "nvidia-imex has ended";
  const std::vector<api::Condition> conditions = conditions_with_foreign_daemon();
  world.nodes["n1"].report->status.conditions = conditions;
  ClusterView view = told(world);
  report_in(view, "n1").status.conditions = conditions;
  return view;
}

constexpr char kMisspelt[] =
    R"({"apiVersion":"resource.nvidia.com/v1beta1","kind":"ComputeDomainChannelConfig",)"
    R"("domainID":"uid-train","allocationMod":"All"})";

// The agent has refused it, and its report says so of the claim that waits.
ClusterView with_misspelt_field() {
  World world = settled_world();
  api::ComputeDomainNodeReport& report = world.nodes["n1"].report->status;
  report.groups.clear();
  report.pending_claims = {
      {"uid-c1", cat("error decoding config parameters of ResourceClaim team-a/c1: ",
                     api::decode_channel_config(kMisspelt).error().message,
                     "; correct it in its ResourceClaimTemplate, and create the pod again")}};
  ClusterView view = told(world);
  view.claims.front().meta.owners = {
      {.api_version = "v1", .kind = "Pod", .name = "pod-c1", .uid = "uid-pod-c1"}};
  for (auto* configs :
       {&view.claims.front().spec.configs, &view.claims.front().allocation->configs}) {
    configs->front().parameters = kMisspelt;
  }
  return view;
}

// What `kubectl describe` shows of that (Trouble::where); "" when there is no such thing.
std::string described(const ClusterView& view, const std::string& of) {
  const std::string kind = of.substr(0, of.find(' ')), name = of.substr(of.find(' ') + 1);
  const auto message_of = [](const std::vector<api::Condition>& conditions, const char* type) {
    const api::Condition* condition = api::find_condition(conditions, type);
    return condition == nullptr ? "" : condition->message;
  };
  if (kind == "cd") {
    const auto it =
        std::ranges::find(view.domains, name, [](const auto& d) { return d.meta.name; });
    const bool has_status = it != view.domains.end() && it->status;
    return has_status ? message_of(it->status->conditions, core::kConditionReady) : "";
  }
  if (kind == "pod") {
    const auto it = std::ranges::find(view.events.rbegin(), view.events.rend(), name,
                                      [](const auto& event) { return event.involved.name; });
    return it == view.events.rend() ? "" : it->message;
  }
  const auto it = std::ranges::find(view.reports, name, [](const auto& r) { return r.meta.name; });
  if (it == view.reports.end()) return "";
  const api::ComputeDomainNodeReport& report = it->status;
  if (kind == "cdn") return message_of(report.conditions, api::kConditionCanServe);
  return report.pending_claims.empty() ? "" : report.pending_claims.front().message;
}

// A domain whose status nobody has written: what the definition says of it by default.
constexpr char kNoController[] =
    "no controller has seen it yet: check deployment compute-domain-controller";

api::ComputeDomain unseen(api::ComputeDomain object) {
  object.status = api::ComputeDomainStatus{};
  object.status->conditions = {{.type = core::kConditionReady,
                                .status = api::ConditionStatus::Unknown,
                                .reason = std::string(core::Reason("WaitingForController").name()),
                                .message = kNoController}};
  return object;
}

void leave_without_controller(ClusterView& view) { view.leases = {lease_renewed(minutes(5))}; }

// The controller has gone, and another pod of the domain comes.
ClusterView with_pod_that_no_controller_sees() {
  World world = settled_world();
  world.view.domain->spec.num_nodes = 3;
  world.view.claims.push_back(claim("c3").on("n3"));
  world.nodes["n3"] = idle_node("n3");
  ClusterView view = view_of(world);
  report_in(view, "n3").status.pending_claims = {{"uid-c3", words_without_controller()}};
  leave_without_controller(view);
  return view;
}

// What only `why` tells: the status of a domain has no time of its own, so `kubectl describe` shows
// the last words of a controller that has gone as if they were of now.
TEST(Troubles, TheLastWordsOfAControllerThatHasGoneAreKnownAsSuchByWhyAlone) {
  World world = settled_world();
  group_report(world, "n1").state = api::DaemonState::Failed;
  ClusterView view = told(world);
  const std::string words = described(view, "cd train");
  EXPECT_THAT(words, HasSubstr("1 of 2 nodes ready"));
  report_in(view, "n1").status.groups.front().state = api::DaemonState::Ready;
  leave_without_controller(view);
  EXPECT_EQ(described(view, "cd train"), words);
  const auto report = why_domain(view, {"team-a", "train"});
  ASSERT_TRUE(report) << report.error().message;
  EXPECT_EQ(stop_of(*report), "Status") << text_of(*report);
  EXPECT_THAT(report->cause,
              HasSubstr("o controller works that would write that the ComputeDomain is Ready, as "
                        "it is by what its nodes report: the Lease of controller-1 was last "
                        "renewed 5m ago"));
  EXPECT_THAT(report->remedy, HasSubstr("ee why the controller does not run, and read its log"));
}

TEST(Troubles, ADomainThatNoControllerHasSeenSaysSoByItsDefinition) {
  EXPECT_THAT(source_text("crds/computedomains.yaml"),
              HasSubstr(cat("message: \"", kNoController, "\"")));
}

// What a node reports of these, with the next step.
constexpr char kLostGpu[] =
    "the NVLink fabric has never been read: GPU 0 cannot be asked: GPU is lost (15): see "
    "nvidia-smi on the node and the kernel log";
constexpr char kOldDriver[] = "the GPU driver 570.86.15 is too old: 570.158.01 or later is needed";

std::vector<Trouble> troubles() {
  return {
      {"numNodes is larger than the cluster",
       [] {
         World world = settled_world();
         world.view.domain->spec.num_nodes = 5;
         return told(world);
       },
       "pod-c1", "Peers", "wants 5 nodes, and all nodes together offer 2 devices",
       "ower spec.numNodes",
       "2 of 5 nodes have a pod with a claim, 2 of them ready; create the pods that are missing, "
       "or "
       "lower spec.numNodes"},
      {"numNodes is larger than the cluster, and its pods wait", larger_than_the_cluster, "cd",
       "Devices", "wants 4 nodes, and all nodes together offer 2 devices", "ower spec.numNodes",
       "2 of 4 nodes have a pod with a claim, 2 of them ready; 2 pods wait: claims c3, c4 have no "
       "seat yet (0 of 2 seats are free; a node serves one domain at a time): the domain wants 4 "
       "nodes, so lower spec.numNodes and start fewer pods, or add nodes"},
      {"a pod names a template that does not exist",
       [] {
         ClusterView view = told(waiting(domain("train").wants(2)));
         view.pods.push_back(pending_pod("lost", "", "tain-channel"));
         view.pods.back().made.clear();
         return view;
       },
       "lost", "Claim", "train-channel (of ComputeDomain train)",
       "orrect resourceClaimTemplateName",
       // That a pod names another one is in Kubernetes' own Event on that pod
       // (tests/smoke/plugin_test.sh).
       "no pod has a claim of this domain yet; pods get one by resourceClaimTemplateName: "
       "train-channel"},
      {"two domains want one node",
       [] {
         ClusterView view = settled_view();
         add_waiting(view, waiting(domain("other").wants(1)), waiting_claim("o1", "other"));
         view.pods.back().node_selector[kHostNameLabel] = "n1";
         return view;
       },
       "pod-o1", "Device", "wants node n1, whose device team-a/train has", "et the other pods end",
       "1 pod waits: claim o1 has no seat yet (0 of 2 seats are free; a node serves one domain at "
       "a time): see "
       "in kubectl get computedomainnodes who has them",
       "cd other"},
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
       "2 nodes are ready in 2 cliques (1 + 1); no memory is shared between cliques: "
       "spec.placement.clique Single keeps pods in one"},
      {"Single with a pod that is nailed outside the clique",
       [] {
         DomainBuilder builder = domain("train").wants(2);
         builder.object.spec.placement =
             api::ComputeDomainPlacement{.clique = api::CliquePlacement::Single};
         World world = waiting(builder);
         world.reservation = core::Reservation{.clique = kClique, .seats = 2, .generation = 1};
         world.placement = core::PlacementVerdict{true, "CliqueChosen", "2 seats are kept for it"};
         core::ask_for(world.templates.front(), *world.reservation);
         api::ResourceClaim asking = waiting_claim("c1", "train");
         asking.spec = world.templates.front().spec;
         ClusterView view = told(world);
         add_node(view, idle_node("n1"));
         add_node(view, idle_node("n9", kNextClique), kNextClique);
         add_waiting(view, world, asking);
         view.pods.back().node_selector[kHostNameLabel] = "n9";
         return view;
       },
       "pod-c1", "Device", cat("which has to go to clique ", kClique), "node selector",
       cat("1 pod waits: claim c1 has no seat yet (2 of 2 seats are free; a node serves one domain "
           "at a time): it takes seats of clique ",
           kClique,
           " alone, so a pod that may not run on its nodes stays Pending: see the pod's node "
           "selector, affinity and tolerations")},
      {"Single is larger than any clique", not_placed, "cd", "Template",
       cat("the largest clique, ", kClique, ", has 2"), "ower spec.numNodes",
       cat("needs 4 seats, and the largest clique, ", kClique,
           ", has 2: lower spec.numNodes, or create it with spec.placement.clique Any")},
      {"a node is without power",
       [] {
         World world = settled_world();
         world.nodes["n1"].node->ready = api::ConditionStatus::Unknown;
         return told(world);
       },
       "pod-c1", "Node", "taint the Node node.kubernetes.io/out-of-service",
       "do what the message says",
       "1 of 2 nodes ready; n1: its kubelet has stopped answering; check the machine; if it is off "
       "for good, taint the Node node.kubernetes.io/out-of-service=nodeshutdown:NoExecute, which "
       "ends its pods too; take the taint away when the machine is back"},
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
       "2 of 3 nodes ready; n1: 2 of 2 members cannot reach its IMEX daemon; check its network"},
      {"an IMEX daemon is killed", [] { return with_daemon(words_of_killed_daemon()); }, "pod-c1",
       "IMEX daemon", "ended by SIGKILL", "has ended is started again by itself",
       "1 of 2 nodes ready; n1: nvidia-imex was ended by SIGKILL (it is started again); pods there "
       "have lost the memory that they imported and have to start again"},
      {"an IMEX daemon is killed under a pod that runs on", with_daemon_that_was_killed, "pod-c1",
       "IMEX daemon", "the memory that this pod imported over NVLink",
       "elete the pod, so that it starts again",
       "the IMEX daemon of node n1 has ended, and with it the memory that this pod imported over "
       "NVLink; delete the pod, so that it starts again",
       "pod pod-c1"},
      {"an IMEX daemon hangs",
       [] {
         return with_daemon(
             "nvidia-imex-ctl -q gives no answer; nvidia-imex may hang; delete the "
             "compute-domain-imex pod on n1 to restart it: this ends what uses NVLink there");
       },
       "pod-c1", "IMEX daemon", "delete the compute-domain-imex pod on n1 to restart it",
       "hangs or cannot be started do what the message says",
       "1 of 2 nodes ready; n1: nvidia-imex-ctl -q gives no answer; nvidia-imex may hang; delete "
       "the "
       "compute-domain-imex pod on n1 to restart it: this ends what uses NVLink there"},
      {"a domain is deleted under pods that run",
       [] {
         World world = settled_world();
         world.view.domain->meta.deletion_time = kNow - seconds(30);
         return told(world);
       },
       "pod-c1", "ComputeDomain", "deleted ComputeDomain team-a/train 30s ago",
       "create the ComputeDomain again",
       "waits for 2 pods (pod-c1, pod-c2): delete them, or what has made them"},
      {"a field of a configuration is misspelt", with_misspelt_field, "pod-c1", "Claim",
       "unknown field \"allocationMod\"", "orrect it in its ResourceClaimTemplate",
       "1 of 2 nodes ready; n1: it has not prepared a claim yet: error decoding config parameters "
       "of "
       "ResourceClaim team-a/c1: strict decoding error: unknown field \"allocationMod\"; correct "
       "it "
       "in its ResourceClaimTemplate, and create the pod again"},
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
       "cd", "Template", "belongs to somebody else", "another template name",
       "ResourceClaimTemplate train-channel belongs to somebody else and is left alone; delete "
       "this "
       "ComputeDomain and create it with another template name"},
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
       "2 nodes are ready; none has an NVLink fabric, so they share no memory: choose nodes that "
       "have one"},
      {"there are no nodes with GPUs", [] { return with_unfit_nodes({}); }, "pod-c1", "Device",
       "no node has an agent that has reported", "nstall the agents on nodes with GPUs",
       "1 pod waits: claim c1 has no seat yet (no node offers one): see that compute-domain-agent "
       "runs on the nodes with GPUs"},
      {"no controller works",
       [] {
         ClusterView view = settled_view();
         view.templates.clear();
         view.domains = {unseen(domain("train").wants(2))};
         view.claims.clear();
         leave_without_controller(view);
         pod_in(view, "pod-c1").made.clear();
         return view;
       },
       "pod-c1", "Claim", "o controller works that would create the ResourceClaimTemplate",
       "ee why the controller does not run, and read its log", kNoController},
      {"no controller works any more", with_pod_that_no_controller_sees, "pod-c3", "Node list",
       "the Lease of controller-1 was last renewed 5m ago",
       "ee why the controller does not run, and read its log",
       "no node list has a place for this node yet: see the condition Ready of ComputeDomain "
       "team-a/train, and whether compute-domain-controller runs",
       "claims n3"},
      {"a node has no agent",
       [] {
         World world = settled_world();
         world.nodes["n1"].agent = core::AgentPod{.ready = false, .lasts = minutes(5)};
         ClusterView view = told(world);
         std::erase_if(view.pods, [](const auto& pod) { return pod.meta.name == "agent-n1"; });
         return view;
       },
       "pod-c1", "Node", "its agent is not ready, so what its IMEX daemon does is not known",
       "heck the compute-domain-agent pod there",
       "1 of 2 nodes ready; n1: its agent is not ready, so what its IMEX daemon does is not known; "
       "check the compute-domain-agent pod there"},
      {"the fabric is broken", [] { return with_unfit_nodes(conditions_with_lost_gpu()); },
       "pod-c1", "Device", cat("n1: FabricUnreadable: ", kLostGpu), "end what the nodes lack",
       "1 pod waits: claim c1 has no seat yet (no node offers one): n1: FabricUnreadable (the "
       "node's NVLink fabric cannot be read); see kubectl describe "
       "computedomainnode n1"},
      {"the fabric is broken, as its node's report says",
       [] { return with_unfit_nodes(conditions_with_lost_gpu()); }, "cd", "Devices",
       cat("n1: FabricUnreadable: ", kLostGpu), "end what the nodes lack", kLostGpu, "cdn n1"},
      {"a quota refuses what the controller writes",
       [] {
         World world = waiting(domain("train").wants(2));
         world.refusals = {"cannot create ConfigMap cd-train: exceeded quota: few"};
         return told(world);
       },
       "cd", "Controller", "exceeded quota: few", "a quota, a policy, a webhook, a role",
       "cannot go on: cannot create ConfigMap cd-train: exceeded quota: few; it is tried again; if "
       "it lasts, change what refuses it"},
      {"the driver is too old", [] { return with_unfit_nodes(conditions_with_old_driver()); },
       "pod-c1", "Device", cat("n1: DriverTooOld: ", kOldDriver), "end what the nodes lack",
       "1 pod waits: claim c1 has no seat yet (no node offers one): n1: DriverTooOld (the NVIDIA "
       "driver is too old for IMEX with names of hosts); see kubectl "
       "describe computedomainnode n1"},
      {"the driver is too old, as its node's report says",
       [] { return with_unfit_nodes(conditions_with_old_driver()); }, "cd", "Devices",
       cat("n1: DriverTooOld: ", kOldDriver), "end what the nodes lack", kOldDriver, "cdn n1"},
      {"somebody else's nvidia-imex runs on a node",
       [] { return with_unfit_nodes(conditions_with_foreign_daemon()); }, "pod-c1", "Device",
       cat("n1: ImexCannotStart: ", kForeignDaemon), "end what the nodes lack",
       "1 pod waits: claim c1 has no seat yet (no node offers one): n1: ImexCannotStart (no IMEX "
       "daemon can be started on the node: nvidia-imex is missing or does not run, or the host "
       "runs "
       "its own); see kubectl describe "
       "computedomainnode n1"},
      {"somebody else's nvidia-imex runs on a node, as its report says",
       [] { return with_unfit_nodes(conditions_with_foreign_daemon()); }, "cd", "Devices",
       cat("n1: ImexCannotStart: ", kForeignDaemon), "end what the nodes lack", kForeignDaemon,
       "cdn n1"},
      {"somebody else's nvidia-imex runs on a node of the domain", with_foreign_daemon, "pod-c1",
       "IMEX daemon", kForeignDaemon, "hangs or cannot be started do what the message says",
       cat("1 of 2 nodes ready; n1: nvidia-imex has ended; ", kForeignDaemon)},
  };
}

class TroublesTest : public ::testing::TestWithParam<Trouble> {};

TEST_P(TroublesTest, HaveACauseAndANextStep) {
  const Trouble& trouble = GetParam();
  const ClusterView view = trouble.view();
  const auto report = trouble.of == "cd" ? why_domain(view, {"team-a", "train"})
                                         : why_pod(view, {"team-a", trouble.of});
  ASSERT_TRUE(report) << report.error().message;
  EXPECT_EQ(stop_of(*report), trouble.stops_at) << text_of(*report);
  EXPECT_THAT(report->cause, HasSubstr(trouble.cause)) << text_of(*report);
  EXPECT_THAT(report->remedy, HasSubstr(trouble.remedy)) << text_of(*report);
  EXPECT_EQ(described(view, trouble.where), trouble.describe);
}

INSTANTIATE_TEST_SUITE_P(Troubles, TroublesTest, ::testing::ValuesIn(troubles()),
                         [](const auto& row) {
                           std::string name = row.param.name;
                           std::ranges::replace_if(
                               name, [](char c) { return std::isalnum(c) == 0; }, '_');
                           return name;
                         });

}  // namespace
}  // namespace cdom::plugin
