#include "compute_domain/core/reconcile.h"

#include <gmock/gmock.h>

#include <algorithm>

#include "compute_domain/core/node_world.h"
#include "compute_domain/core/status.h"
#include "core/builders.h"

namespace cdom::core {
namespace {

using namespace testing;  // NOLINT(google-build-using-namespace): the builders
using ::testing::_;
using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;
using ::testing::VariantWith;
using namespace std::chrono_literals;

TEST(Reconcile, StartsWithFinalizerThenTemplateThenStatus) {
  const World world = world_of(domain("train").wants(2), 0);
  EXPECT_THAT(sentences(reconcile(world)),
              ElementsAre("add the finalizer to ComputeDomain team-a/train",
                          "create ResourceClaimTemplate team-a/train-channel",
                          "set the status of ComputeDomain team-a/train: NotReady 0/2 "
                          "(WaitingForPods: no pod has a claim of this domain yet; pods get one by "
                          "resourceClaimTemplateName: train-channel)"));
}

TEST(Reconcile, MakesTheTemplateOfTheReferenceDriver) {
  const auto made = wanted_template(domain("train"));
  ASSERT_TRUE(made);
  EXPECT_EQ(made->meta.label("resource.nvidia.com/computeDomain"), "uid-train");
  EXPECT_EQ(made->meta.label("resource.nvidia.com/computeDomainTarget"), "Workload");
  EXPECT_EQ(made->spec.requests.front().name, "channel");
  EXPECT_EQ(made->spec.requests.front().device_class, "compute-domain-default-channel.nvidia.com");
  EXPECT_EQ(made->spec.configs.front().driver, "compute-domain.nvidia.com");
}

TEST(Reconcile, LeavesASettledWorldAlone) {
  const World world = settled_world(18);
  EXPECT_TRUE(world.view.domain->status->ready);
  EXPECT_EQ(world.view.domain->status->ready_nodes, "18/18");
  EXPECT_THAT(reconcile(world).actions, IsEmpty());
  EXPECT_THAT(reconcile_group(world, group_of(world)).actions, IsEmpty());
}

TEST(Reconcile, GivesEqualPlansWhateverTheOrderOfInputs) {
  World world = settled_world(5);
  world.nodes.at("n3").node->ready = api::ConditionStatus::Unknown;
  for (const char* name : {"z", "a"}) world.view.claims.push_back(claim(name).on("n2"));
  World turned = world;
  std::ranges::reverse(turned.view.claims);
  std::ranges::reverse(turned.lists);
  std::ranges::reverse(turned.templates);
  EXPECT_EQ(reconcile(world), reconcile(turned));
  EXPECT_EQ(reconcile_group(world, group_of(world)), reconcile_group(turned, group_of(turned)));
}

TEST(Reconcile, AnswersAnInvalidTemplateNameBeforeAnySideEffect) {
  const World world = world_of(domain("train").template_name("Bad_Name"), 0);
  const Plan plan = reconcile(world);
  EXPECT_EQ(condition_in(plan, "TemplateReady").reason, "InvalidTemplateName");
  EXPECT_THAT(condition_in(plan, "Ready").message,
              HasSubstr("\"Bad_Name\" is not a DNS subdomain"));
  for (const Action& action : plan.actions) {
    EXPECT_TRUE(std::holds_alternative<SetStatus>(action) ||
                std::holds_alternative<RecordEvent>(action));
  }
}

TEST(Reconcile, LeavesATemplateOfSomebodyElseAloneAndSaysWhose) {
  World world = world_of(domain("train").finalized(), 0);
  make_template(world);
  world.templates.front().meta.labels["resource.nvidia.com/computeDomain"] = "uid-other";
  world.templates.front().meta.owners.front().name = "other";
  world.templates.front().meta.owners.front().uid = "uid-other";
  const Plan plan = reconcile(world);
  EXPECT_EQ(condition_in(plan, "TemplateReady").reason, "TemplateNameTaken");
  EXPECT_THAT(condition_in(plan, "TemplateReady").message, HasSubstr("ComputeDomain other"));
  EXPECT_THAT(condition_in(plan, "TemplateReady").message,
              HasSubstr("delete this ComputeDomain and create it with another template name"));
  EXPECT_THAT(plan.actions, SizeIs(2));  // the status and an Event
}

TEST(Reconcile, HealsWhenTheTemplateNameIsFree) {
  World world = world_of(domain("train").finalized(), 0);
  make_template(world);
  world.templates.front().meta.labels.clear();
  apply_status(world, reconcile(world));
  world.templates.clear();
  EXPECT_THAT(sentences(reconcile(world)).front(), HasSubstr("create ResourceClaimTemplate"));
}

TEST(Reconcile, NeedsNoTemplateWhenTheSpecNamesNone) {
  api::ComputeDomain object = domain("train").finalized();
  object.spec.channel.reset();
  const Plan plan = reconcile(world_of(object, 0));
  EXPECT_THAT(plan.actions, SizeIs(1));
  EXPECT_EQ(condition_in(plan, "TemplateReady").type, "");
}

TEST(Reconcile, IsNotReadyWithFewerNodesThanWanted) {
  World world = settled_world(2);
  world.view.domain->spec.num_nodes = 3;
  const Plan plan = reconcile(world);
  EXPECT_FALSE(status_in(plan)->status.ready);
  EXPECT_EQ(status_in(plan)->status.ready_nodes, "2/3");
  EXPECT_EQ(condition_in(plan, "Ready").reason, "WaitingForNodes");
}

TEST(Reconcile, IsNeverReadyWithoutMembers) {
  World world = world_of(domain("train").wants(0).finalized(), 0);
  make_template(world);
  EXPECT_FALSE(status_in(reconcile(world))->status.ready);
}

struct LossCase {
  const char* name;
  void (*happens)(NodeView&);
  const char* reason;
};

class LossOfAMember : public ::testing::TestWithParam<LossCase> {};

TEST_P(LossOfAMember, WithdrawsReadyAtOnceAndNamesTheNode) {
  World world = settled_world(3);
  world.status_written = world.now;
  GetParam().happens(world.nodes.at("n2"));
  const Plan plan = reconcile(world);
  ASSERT_NE(status_in(plan), nullptr);
  EXPECT_FALSE(status_in(plan)->status.ready);
  EXPECT_EQ(condition_in(plan, "Ready").reason, GetParam().reason);
  EXPECT_THAT(condition_in(plan, "Ready").message, HasSubstr("n2"));
  const auto* event = std::get_if<RecordEvent>(&plan.actions.at(1));
  ASSERT_NE(event, nullptr);
  EXPECT_THAT(event->message, HasSubstr("node n2"));
  EXPECT_EQ(event->type, "Warning");
}

INSTANTIATE_TEST_SUITE_P(
    Reconcile, LossOfAMember,
    ::testing::Values(
        LossCase{"NodeUnknown", [](NodeView& n) { n.node->ready = api::ConditionStatus::Unknown; },
                 "NodeUnknown"},
        LossCase{"NodeMissing", [](NodeView& n) { n.node.reset(); }, "NodeUnknown"},
        LossCase{"Rebooted", [](NodeView& n) { n.node->boot_id = "boot-2"; }, "NodeRebooted"},
        LossCase{"AgentGone", [](NodeView& n) { n.agent = AgentPod{.ready = false, .lasts = 61s}; },
                 "AgentUnknown"},
        LossCase{"ReportGone", [](NodeView& n) { n.report.reset(); }, "NotReported"},
        LossCase{"DaemonFailed",
                 [](NodeView& n) { n.report->status.groups[0].state = api::DaemonState::Failed; },
                 "ImexFailed"},
        LossCase{
            "Recovering",
            [](NodeView& n) { n.report->status.groups[0].state = api::DaemonState::Recovering; },
            "Recovering"},
        LossCase{"OtherTable", [](NodeView& n) { n.report->status.groups[0].table_hash = "other"; },
                 "WrongNodeTable"}),
    [](const auto& loss) { return loss.param.name; });

TEST(Reconcile, AlarmsNobodyWhenThePodsOfADomainEnd) {
  World world = settled_world(3);
  group_report(world, "n2").state = api::DaemonState::Stopped;
  world.view.claims.erase(world.view.claims.begin());
  const Plan plan = reconcile(world);
  EXPECT_EQ(condition_in(plan, "Ready").reason, "WaitingForNodes");
  int events = 0;
  for (const Action& action : plan.actions) {
    const auto* event = std::get_if<RecordEvent>(&action);
    if (event == nullptr) continue;
    ++events;
    EXPECT_EQ(event->type, "Normal") << event->reason << ": " << event->message;
  }
  EXPECT_EQ(events, 2);
}

TEST(Reconcile, KeepsReadyWhileAnAgentIsGoneForLessThanItsGrace) {
  World world = settled_world(2);
  world.nodes.at("n1").agent = AgentPod{.ready = false, .lasts = 20s};
  const Plan plan = reconcile(world);
  EXPECT_THAT(plan.actions, IsEmpty());
  EXPECT_EQ(plan.look_again, base::Duration(40s));
}

// Until then others may speak of the one that is to blame.
TEST(Reconcile, AccusesNobodyWithinAnIntervalOfTheFirstComplaint) {
  World world = settled_world(4);
  group_report(world, "n2").unreachable = {"n3"};
  const Plan first = reconcile(world);
  EXPECT_FALSE(status_in(first)->status.ready);
  EXPECT_THAT(condition_in(first, "Ready").message, HasSubstr("(1 pair: n2 and n3)"));
  apply_status(world, first);
  world.status_written = world.now;
  world.now += 500ms;
  const Plan meanwhile = reconcile(world);
  EXPECT_THAT(meanwhile.actions, IsEmpty());
  EXPECT_EQ(meanwhile.look_again, base::Duration(1500ms));
  world.now += 1500ms;
  EXPECT_THAT(condition_in(reconcile(world), "Ready").message, HasSubstr("n3 is not reached"));
  // Meanwhile it turns out to be the witness itself.
  group_report(world, "n2").unreachable = {"n1", "n3", "n4"};
  EXPECT_EQ(condition_in(reconcile(world), "Ready").reason, "Unreachable");
  EXPECT_THAT(condition_in(reconcile(world), "Ready").message, Not(HasSubstr("n3")));
}

TEST(Reconcile, NamesTheMemberThatIsNotReached) {
  World world = settled_world(4);
  group_report(world, "n2").unreachable = {"n3"};
  apply_status(world, reconcile(world));
  const Plan plan = reconcile(world);
  EXPECT_EQ(condition_in(plan, "Ready").reason, "MembersNotConnected");
  EXPECT_EQ(condition_in(plan, "Ready").message,
            "n3 is not reached by 1 of 3 members (n2); check TCP port 50000 between the "
            "compute-domain-imex pods of these nodes");
  EXPECT_EQ(status_in(plan)->status.ready_nodes, "4/4");
}

TEST(Reconcile, BlamesTheMemberThatNobodyReaches) {
  World world = settled_world(4);
  for (const char* node : {"n1", "n2", "n4"}) group_report(world, node).unreachable = {"n3"};
  const Plan plan = reconcile(world);
  EXPECT_EQ(condition_in(plan, "Ready").reason, "Unreachable");
  EXPECT_EQ(status_in(plan)->status.ready_nodes, "3/4");
}

// `who` reaches nobody and nobody reaches it; all say so.
void isolate(World& world, const std::vector<std::string>& who) {
  for (auto& [name, view] : world.nodes) {
    auto& unreachable = view.report->status.groups.front().unreachable;
    for (const auto& [other, ignored] : world.nodes) {
      const bool is_lost =
          std::ranges::find(who, name) != who.end() || std::ranges::find(who, other) != who.end();
      if (other != name && is_lost) unreachable.push_back(other);
    }
  }
}

TEST(Reconcile, BlamesNobodyForWhatOneThatIsLostSays) {
  World world = settled_world(3);
  isolate(world, {"n2"});
  const Plan plan = reconcile(world);
  EXPECT_EQ(status_in(plan)->status.ready_nodes, "2/3");
  EXPECT_EQ(condition_in(plan, "Ready").message,
            "2 of 3 nodes ready; n2: 2 of 2 members cannot reach its IMEX daemon; check its "
            "network");
}

TEST(Reconcile, BlamesAllThatAreLost) {
  World world = settled_world(4);
  isolate(world, {"n2", "n3"});
  EXPECT_EQ(status_in(reconcile(world))->status.ready_nodes, "2/4");
  group_report(world, "n1").unreachable = {"n2"};  // what it says of n3 comes later
  const Plan plan = reconcile(world);
  EXPECT_EQ(status_in(plan)->status.ready_nodes, "2/4");
  EXPECT_THAT(condition_in(plan, "Ready").message, HasSubstr("n3: 2 of 3 members cannot reach"));
}

TEST(Reconcile, BlamesTheMemberThatSaysItReachesNobodyNotThoseWhomItAccuses) {
  World world = settled_world(3);
  group_report(world, "n2").unreachable = {"n1", "n3"};
  const Plan plan = reconcile(world);
  EXPECT_EQ(status_in(plan)->status.ready_nodes, "2/3");
  EXPECT_THAT(condition_in(plan, "Ready").message,
              HasSubstr("n2: its IMEX daemon cannot reach 2 of 2 members; check its network"));
}

TEST(Reconcile, CountsAPairAsConnectedOnlyWhenOneOfTheTwoSaysSo) {
  World world = settled_world(2);
  group_report(world, "n1").connected = "";
  EXPECT_THAT(reconcile(world).actions, IsEmpty());  // n2 still says so
  group_report(world, "n2").connected = "";
  EXPECT_EQ(condition_in(reconcile(world), "Ready").reason, "Connecting");
}

TEST(Reconcile, WritesSmallChangesAtMostOncePerInterval) {
  World world = world_of(domain("train").wants(4).finalized(), 1);
  make_template(world);
  apply_status(world, reconcile(world));
  world.status_written = world.now - 200ms;
  world.view.claims.push_back(claim("c2").on("n2"));
  world.nodes["n2"] = idle_node("n2");
  const Plan plan = reconcile(world);
  EXPECT_THAT(plan.actions, IsEmpty());
  EXPECT_EQ(plan.look_again, base::Duration(1800ms));
}

// The agent lets the word of the end stand for a second: it has to be read within that.
TEST(Reconcile, DoesNotPaceALossOfMemoryInADomainThatIsNotReady) {
  World world = settled_world(3);
  group_report(world, "n1").state = api::DaemonState::Failed;
  apply_status(world, reconcile(world));
  world.status_written = world.now;
  world.now += 100ms;
  group_report(world, "n2").state = api::DaemonState::Failed;
  group_report(world, "n2").message =
      "pods there have lost the memory that they imported and have to start again";
  const Plan plan = reconcile(world);
  ASSERT_TRUE(status_in(plan) != nullptr || plan.look_again.has_value());
  EXPECT_TRUE(status_in(plan) != nullptr || *plan.look_again <= 500ms);
}

// It is the second record of who has which slot.
TEST(Reconcile, RecordsANewSlotWithinHalfASecond) {
  World world = world_of(domain("train").wants(18).finalized(), 1);
  make_template(world);
  write_list(world);
  apply_status(world, reconcile(world));
  world.view.claims.push_back(claim("c2").on("n2"));
  world.nodes["n2"] = idle_node("n2");
  write_list(world);
  world.status_written = world.unreported_list = world.now;
  const Plan plan = reconcile(world);
  ASSERT_TRUE(plan.look_again);
  EXPECT_LE(*plan.look_again, 500ms);
}

TEST(Reconcile, WritesSmallChangesOfADomainThatIsReadySooner) {
  World world = settled_world(2);
  apply_status(world, reconcile(world));
  world.status_written = world.now - 200ms;
  world.view.domain->meta.generation = 2;
  const Plan plan = reconcile(world);
  EXPECT_THAT(plan.actions, IsEmpty());
  EXPECT_EQ(plan.look_again, base::Duration(300ms));
}

TEST(Reconcile, TellsWhatANodeListBringsAboutTogetherWithIt) {
  World world = world_of(domain("train").wants(4).finalized(), 1);
  make_template(world);
  apply_status(world, reconcile(world));
  world.view.claims.push_back(claim("c2").on("n2"));
  world.nodes["n2"] = idle_node("n2");
  world.status_written = world.now - 900ms;
  world.unreported_list = world.now - 100ms;
  const Plan plan = reconcile(world);
  EXPECT_THAT(plan.actions, IsEmpty());
  EXPECT_EQ(plan.look_again, base::Duration(1900ms));
  world.now += 1900ms;
  EXPECT_THAT(reconcile(world).actions, SizeIs(1));
}

TEST(Reconcile, TellsOfTheTemplateInThePlanThatMakesIt) {
  const World world = world_of(domain("train"), 0);
  const Plan plan = reconcile(world);
  EXPECT_EQ(condition_in(plan, "TemplateReady").reason, "Created");
}

TEST(Reconcile, CountsAClaimOnlyWhileItIsReserved) {
  World world = settled_world(2);
  world.view.claims[1].reserved_for.clear();
  EXPECT_EQ(status_in(reconcile(world))->status.ready_nodes, "1/2");
}

TEST(Reconcile, TellsAClaimOfAnotherNamespaceAndDoesNotCountIt) {
  World world = settled_world(2);
  world.view.claims.push_back(claim("stray").in("team-b").on("n9"));
  const Plan plan = reconcile(world);
  ASSERT_THAT(plan.actions, SizeIs(1));
  const auto& event = std::get<RecordEvent>(plan.actions[0]);
  EXPECT_EQ(event.reason, "WrongNamespace");
  EXPECT_EQ(event.message,
            "the ComputeDomain with UID uid-train belongs to another namespace; a claim can only "
            "use one of its own namespace, team-b: create a ComputeDomain there");
  world.reported_claims = {"uid-stray"};
  EXPECT_THAT(reconcile(world).actions, IsEmpty());
}

TEST(Reconcile, AsksTheServerBeforeItTellsAClaimThatItsDomainIsUnknown) {
  World world = settled_world(1);
  world.view.domain.reset();
  world.lists.clear();
  world.templates.clear();
  const Plan plan = reconcile(world);
  ASSERT_THAT(plan.actions, SizeIs(2));
  EXPECT_EQ(plan.actions[0], Action(EnsureDomainGone{"uid-train", true}));
  EXPECT_EQ(std::get<RecordEvent>(plan.actions[1]).reason, "UnknownComputeDomain");
}

TEST(Reconcile, SweepsChildrenOfADomainOnlyWhenTheServerSaysThatItIsGone) {
  World world = settled_world(1);
  world.view.domain.reset();
  world.view.claims.clear();
  const Plan plan = reconcile(world);
  ASSERT_THAT(plan.actions, SizeIs(3));
  EXPECT_EQ(plan.actions[0], Action(EnsureDomainGone{"uid-train", true}));
  EXPECT_TRUE(std::holds_alternative<EnsureNodeListsAbsent>(plan.actions[1]));
  EXPECT_TRUE(std::holds_alternative<EnsureTemplateAbsent>(plan.actions[2]));
}

TEST(Reconcile, LeavesToOthersTheTemplateThatAnotherGroupsComputeDomainOwns) {
  World world = settled_world(1);
  world.view.domain.reset();
  world.view.claims.clear();
  world.lists.clear();
  world.templates.front().meta.owners = {{"example.com/v1", "ComputeDomain", "train", "uid-train"}};
  EXPECT_THAT(reconcile(world).actions, IsEmpty());
}

// The controller may not delete it; the garbage collector does, as its owner is gone.
TEST(Reconcile, LeavesToTheGarbageCollectorATemplateThatHasLostItsLabels) {
  World world = settled_world(1);
  world.view.domain.reset();
  world.view.claims.clear();
  world.lists.clear();
  world.templates.front().meta.labels.clear();
  EXPECT_THAT(reconcile(world).actions, IsEmpty());
}

TEST(Reconcile, BelievesNoLabelOfATemplateThatItsDomainDoesNotOwn) {
  World world = settled_world(2);
  world.templates.front().meta.owners.clear();
  EXPECT_EQ(condition_in(reconcile(world), "TemplateReady").reason, "TemplateNameTaken");
  world.templates.front().meta.owners = {
      {"resource.nvidia.com/v1beta1", "ComputeDomain", "train", "uid-of-a-former-one", true}};
  EXPECT_EQ(condition_in(reconcile(world), "TemplateReady").reason, "TemplateNameTaken");
}

TEST(Reconcile, KeepsItsTemplateThatHasLostItsLabels) {
  World world = settled_world(2);
  world.templates.front().meta.labels.clear();
  EXPECT_THAT(reconcile(world).actions, IsEmpty());
}

TEST(Reconcile, LeavesAUsersCopyOfItsTemplateAlone) {
  World world = settled_world(2);
  api::ResourceClaimTemplate copy = world.templates.front();
  copy.meta.name = "mine";
  world.templates.push_back(copy);
  EXPECT_THAT(reconcile(world).actions, IsEmpty());
  world.view.domain->meta.deletion_time = kNow;
  for (const std::string& sentence : sentences(reconcile(world))) {
    EXPECT_THAT(sentence, Not(HasSubstr("mine")));
  }
}

// What somebody else's finalizer holds goes one day, and nothing can be done about it meanwhile.
TEST(Reconcile, TellsOfItsDeletionWhileSomebodyHoldsItsTemplate) {
  World world = settled_world(2);
  world.templates.front().meta.deletion_time = kNow;
  world.templates.front().meta.finalizers = {"example.com/mine"};
  world.view.domain->meta.deletion_time = kNow;
  const Plan plan = reconcile(world);
  ASSERT_FALSE(plan.actions.empty());
  EXPECT_TRUE(std::holds_alternative<SetStatus>(plan.actions.front()));
  EXPECT_EQ(condition_in(plan, "Ready").reason, "Deleting");
}

TEST(Reconcile, LooksAgainAtADeletionWhenTheGraceOfAnAgentEnds) {
  World world = settled_world(2);
  world.view.domain->meta.deletion_time = kNow;
  world.nodes.at("n1").agent = AgentPod{.ready = false, .lasts = 20s};
  world.pods_read = kNow + 5s;
  EXPECT_EQ(reconcile(world).look_again, base::Duration(40s));
}

TEST(Reconcile, NamesWhatHasMadeThePodsThatADeletionWaitsFor) {
  World world = settled_world(3);
  world.view.domain->meta.deletion_time = kNow;
  for (api::ResourceClaim& held : world.view.claims) held.reserved_for[0].uid = held.meta.name;
  const api::OwnerReference job{
      .api_version = "batch/v1", .kind = "Job", .name = "train", .uid = "u", .controller = true};
  world.makers = {{"c1", job}, {"c2", job}};
  EXPECT_EQ(condition_in(reconcile(world), "Ready").message,
            "waits for 1 pod (pod-c3), 2 pods of Job train: delete it, or what has made it; "
            "kubectl delete job train -n team-a");
  world.makers["c3"] = job;
  EXPECT_EQ(condition_in(reconcile(world), "Ready").message,
            "waits for 3 pods of Job train: kubectl delete job train -n team-a");
}

TEST(Reconcile, ReadsOnceWhatHasMadePodsThatDoNotEndWithTheirDomain) {
  World world = settled_world(1);
  world.view.domain->meta.deletion_time = kNow;
  apply_status(world, reconcile(world));
  world.templates.front().meta.deletion_time = kNow;
  EXPECT_EQ(reconcile(world).look_again, base::Duration(5s));
  world.now -= 1h;
  EXPECT_EQ(reconcile(world).look_again, base::Duration(5s)) << "whatever the clock is set to";
  world.now += 1h + 5s;
  EXPECT_THAT(reconcile(world).actions, ElementsAre(Action(ReadPods{"team-a", false})));
  world.pods_read = world.now;
  EXPECT_THAT(reconcile(world).actions, IsEmpty());
}

TEST(Reconcile, WaitsWithTheDeletionForPodsThatStillRunAndNamesThem) {
  World world = settled_world(2);
  world.view.domain->meta.deletion_time = kNow;
  const Plan plan = reconcile(world);
  EXPECT_EQ(plan.actions.front(),
            Action(EnsureTemplateAbsent{{"team-a", "train-channel"}, "uid-train"}));
  EXPECT_EQ(condition_in(plan, "Ready").reason, "Deleting");
  EXPECT_THAT(condition_in(plan, "Ready").message,
              HasSubstr("waits for 2 pods (pod-c1, pod-c2): delete them"));
  for (const Action& action : plan.actions) {
    const auto* event = std::get_if<RecordEvent>(&action);
    EXPECT_TRUE(event == nullptr || event->type == "Normal");
  }
  for (const Action& action : plan.actions) {
    EXPECT_FALSE(std::holds_alternative<RemoveFinalizer>(action));
  }
}

TEST(Reconcile, SaysHowToEndAClaimThatIsHeldForNobody) {
  World world = settled_world(2);
  world.view.domain->meta.deletion_time = kNow;
  for (api::ResourceClaim& held : world.view.claims) held.reserved_for.clear();
  world.view.claims.pop_back();
  group_report(world, "n2").claims.clear();
  EXPECT_EQ(condition_in(reconcile(world), "Ready").message,
            "waits for claim c1, which is allocated and which no pod has (kubectl delete "
            "resourceclaim c1 -n team-a)");
}

TEST(Reconcile, NamesTheWorkloadThatADeletedAutomaticDomainWaitsFor) {
  World world = settled_world(2);
  world.view.domain->meta.deletion_time = kNow;
  world.view.domain->spec.workload = {"Job", "train", "uid-job"};
  EXPECT_EQ(condition_in(reconcile(world), "Ready").message,
            "waits for 2 pods of Job train: kubectl delete job train -n team-a");
}

std::string deletion_text(const api::Workload& workload, const std::string& api_version) {
  World world = settled_world(2);
  world.view.domain->meta.deletion_time = kNow;
  world.view.domain->spec.workload = workload;
  world.view.domain->meta.owners = {{.api_version = api_version,
                                     .kind = workload.kind,
                                     .name = workload.name,
                                     .uid = workload.uid}};
  return condition_in(reconcile(world), "Ready").message;
}

TEST(Reconcile, OffersACommandOfAUsersTextOnlyWhereItIsANameOfAWorkload) {
  const char names[] = "waits for 2 pods (pod-c1, pod-c2): delete them, or what has made them";
  EXPECT_EQ(deletion_text({"job --all -A #", "train", "u"}, "batch/v1"), names);
  EXPECT_EQ(deletion_text({"Job", "train --all", "u"}, "batch/v1"), names);
  EXPECT_EQ(deletion_text({"Job", "$(id)", "u"}, "batch/v1"), names);
  EXPECT_EQ(deletion_text({"Namespace", "kube-system", "u"}, "v1"), names);
  EXPECT_EQ(deletion_text({"ClusterRole", "admin", "u"}, "rbac.authorization.k8s.io/v1"), names);
  EXPECT_EQ(deletion_text({"RayJob", "train", "u"}, "ray.io/v1;id"), names);
}

TEST(Reconcile, NamesTheGroupOfAWorkloadOfOthers) {
  EXPECT_EQ(deletion_text({"RayJob", "train", "u"}, "ray.io/v1"),
            "waits for 2 pods of RayJob train: kubectl delete rayjob.v1.ray.io train -n team-a");
}

TEST(Reconcile, AReplicaSetIsEndedByItsOwner) {
  EXPECT_EQ(deletion_text({"ReplicaSet", "serve-7d9c", "u"}, "apps/v1"),
            "waits for 2 pods of ReplicaSet serve-7d9c: delete or scale down what owns ReplicaSet "
            "serve-7d9c");
}

// Two nodes are asked for; a pod has a seat, the claim of the other was made some time ago.
World world_with_a_waiting_claim(base::Duration age) {
  World world = settled_world(1);
  world.view.domain->spec.num_nodes = 2;
  api::ResourceClaim waiting = claim("c2");
  waiting.meta.creation_time = kNow - age;
  world.view.claims.push_back(waiting);
  return world;
}

TEST(Reconcile, NamesTheClaimThatWaitsForASeatAndCountsTheSeats) {
  World world = world_with_a_waiting_claim(5s);
  world.seats = SeatCount{.total = 36, .in_use = 1};
  const api::Condition one = condition_in(reconcile(world), "Ready");
  EXPECT_EQ(one.reason, "WaitingForNodes");
  EXPECT_THAT(one.message, HasSubstr("; 1 pod waits: claim c2 has no seat yet (35 of 36 seats "
                                     "are free; a node serves one domain at a time)"));
  world.view.claims.erase(world.view.claims.begin());
  EXPECT_THAT(condition_in(reconcile(world), "Ready").message,
              ::testing::StartsWith("1 pod waits: claim c2 has no seat yet"));
}

TEST(Reconcile, TellsOfSeatsTheMoreSeldomTheMoreDomainsWaitForThem) {
  World world = world_with_a_waiting_claim(5s);
  world.seats = SeatCount{.total = 36, .in_use = 1};
  world.view.domain->status = status_in(reconcile(world))->status;
  world.status_written = world.now;
  world.seats->in_use = 2;
  EXPECT_EQ(reconcile(world).look_again, base::Duration(2s));
  world.seats->told_by = 1000;
  EXPECT_EQ(reconcile(world).look_again, base::Duration(20s));
  World with_more = world;
  with_more.view.domain->status->nodes.front().ip_address = "10.0.9.9";
  EXPECT_EQ(reconcile(with_more).look_again, base::Duration(2s)) << "not of seats alone";
  world.now += 20s;
  EXPECT_THAT(condition_in(reconcile(world), "Ready").message, HasSubstr("34 of 36 seats"));
}

TEST(Reconcile, SaysWhatAPersonLooksAtNextWhenAClaimWaitsForASeat) {
  World world = world_with_a_waiting_claim(5s);
  const auto message = [&world](SeatCount seats) {
    world.seats = std::move(seats);
    return condition_in(reconcile(world), "Ready").message;
  };
  EXPECT_THAT(message({.total = 36, .in_use = 1}),
              EndsWith("): see the scheduler's Event on the pod"));
  EXPECT_THAT(message({.total = 36, .in_use = 36}),
              EndsWith("): see in kubectl get computedomainnodes who has them"));
  EXPECT_THAT(message({.total = 1, .in_use = 1}),
              EndsWith("(0 of 1 seat is free; a node serves one domain at a time): the domain "
                       "wants 2 nodes, so lower spec.numNodes and start fewer pods, or add nodes"));
  EXPECT_THAT(message({.total = 1, .in_use = 1, .one_per_node = false}),
              EndsWith("): see in kubectl get computedomainnodes who has them"))
      << "one node may have several";
  EXPECT_THAT(message({}), EndsWith("has no seat yet (no node offers one): see that "
                                    "compute-domain-agent runs on the nodes with GPUs"));
}

TEST(Reconcile, CountsNoSeatAsFreeWhoseNodeTakesNoPods) {
  World world = world_with_a_waiting_claim(5s);
  world.seats = SeatCount{.total = 6, .in_use = 5, .out = 1, .closed = {{"cordoned", {"r2n01"}}}};
  EXPECT_THAT(condition_in(reconcile(world), "Ready").message,
              EndsWith("(0 of 6 seats are free; r2n01 is cordoned; a node serves one domain at a "
                       "time): see in kubectl get computedomainnodes who has them, or bring back "
                       "the nodes that take no pods"));
  world.seats =
      SeatCount{.total = 5,
                .in_use = 0,
                .out = 5,
                .closed = {{"cordoned", {"n5"}}, {"not Ready", {"n1", "n2", "n3", "n4"}}}};
  EXPECT_THAT(condition_in(reconcile(world), "Ready").message,
              EndsWith("(0 of 5 seats are free; n5 is cordoned; n1, n2, n3 and 1 more are not "
                       "Ready; a node serves one domain at a time): the domain wants 2 nodes, so "
                       "lower spec.numNodes and start fewer pods, or add nodes, or bring back the "
                       "nodes that take no pods"));
}

TEST(Reconcile, SaysWhyNodesOfferNoSeatInWordsOfItsOwn) {
  World world = world_with_a_waiting_claim(5s);
  world.seats =
      SeatCount{.lacking = {{"DriverTooOld", {"n2", "n3", "n4", "n5"}}, {"mine bitcoin", {"n6"}}}};
  EXPECT_THAT(condition_in(reconcile(world), "Ready").message,
              EndsWith("(no node offers one): n2, n3, n4 and 1 more: DriverTooOld (the NVIDIA "
                       "driver is too old for IMEX with names of hosts); see kubectl describe "
                       "computedomainnode n2"));
  world.seats->total = world.seats->in_use = 1;
  EXPECT_THAT(condition_in(reconcile(world), "Ready").message,
              HasSubstr("; these nodes offer none: n2, n3, n4 and 1 more: DriverTooOld"));
  world.seats->in_use = 0;
  EXPECT_THAT(condition_in(reconcile(world), "Ready").message, Not(HasSubstr("DriverTooOld")))
      << "there is one, whatever others lack";
}

TEST(Reconcile, NamesAtMostThreeReasonsForWhichNodesOfferNoSeat) {
  World world = world_with_a_waiting_claim(5s);
  world.seats = SeatCount{.lacking = {{"DriverTooOld", {"n2"}},
                                      {"FabricUnhealthy", {"n3"}},
                                      {"FabricUnreadable", {"n4"}},
                                      {"ImexCannotStart", {"n5"}},
                                      {"NoImexChannels", {"n6"}}}};
  const std::string message = condition_in(reconcile(world), "Ready").message;
  EXPECT_THAT(message, HasSubstr("n4: FabricUnreadable"));
  EXPECT_THAT(message, HasSubstr("; and 2 more reasons; see"));
  EXPECT_THAT(message, Not(HasSubstr("n5")));
}

TEST(Lacks, AreReasonsOfOursThatStillHold) {
  api::ComputeDomainNode report = *idle_node("n1").report;
  EXPECT_EQ(lack_of(report), "");
  report.status.conditions = {{.type = api::kConditionCanServe,
                               .status = api::ConditionStatus::False,
                               .reason = "DriverTooOld",
                               .message = "whatever a node writes"}};
  EXPECT_EQ(lack_of(report), "DriverTooOld");
  report.stale = api::Staleness{};
  EXPECT_EQ(lack_of(report), "") << "it may not be true any more";
  report.stale.reset();
  for (const char* reason : {"Whatever", "ImexFailed", "Deleting", ""}) {
    report.status.conditions.front().reason = reason;
    EXPECT_EQ(lack_of(report), "") << reason;
  }
  report.status.conditions.front() = {
      .type = api::kConditionCanServe, .status = api::ConditionStatus::True, .reason = "Cordoned"};
  EXPECT_EQ(lack_of(report), "") << "it offers its devices";
}

TEST(Reconcile, SaysOfAFailedMemberWhatKeepsItsNodeFromStartingADaemon) {
  World world = settled_world();
  group_report(world, "n1").state = api::DaemonState::Failed;
  group_report(world, "n1").message = "nvidia-imex has ended";
  auto& conditions = world.nodes["n1"].report->status.conditions;
  conditions = {{.type = kFaultImex,
                 .status = api::ConditionStatus::False,
                 .reason = "ImexCannotStart",
                 .message = "another IMEX daemon runs on this node"}};
  EXPECT_THAT(condition_in(reconcile(world), "Ready").message,
              HasSubstr("n1: nvidia-imex has ended; another IMEX daemon runs on this node"));
  group_report(world, "n1").message = "another IMEX daemon runs on this node";
  EXPECT_THAT(condition_in(reconcile(world), "Ready").message,
              EndsWith("n1: another IMEX daemon runs on this node"))
      << "once";
  world.nodes["n1"].report->status.groups.clear();
  EXPECT_THAT(condition_in(reconcile(world), "Ready").message,
              HasSubstr("n1: it has not prepared a claim yet; another IMEX daemon runs"));
  conditions.front().status = api::ConditionStatus::True;
  EXPECT_THAT(condition_in(reconcile(world), "Ready").message, Not(HasSubstr("another")));
}

TEST(Reconcile, NamesAClaimThatWaitsAlsoWhenTheDomainHasTheNodesThatItWants) {
  for (const int wanted : {0, 1}) {
    World world = world_with_a_waiting_claim(5s);
    world.view.domain->spec.num_nodes = wanted;
    world.seats = SeatCount{.total = 2, .in_use = 1};
    const Plan plan = reconcile(world);
    EXPECT_EQ(condition_in(plan, "Ready").reason, "AllNodesReady");
    EXPECT_THAT(condition_in(plan, "Ready").message,
                HasSubstr("; 1 pod waits: claim c2 has no seat yet (1 of 2 seats is free; a node "
                          "serves one domain at a time)"));
    EXPECT_THAT(plan.actions, SizeIs(1)) << "no Event";
  }
}

TEST(Reconcile, SaysNothingOfAClaimThatASchedulerIsAboutToAllocate) {
  const Plan plan = reconcile(world_with_a_waiting_claim(2s));
  EXPECT_EQ(
      condition_in(plan, "Ready").message,
      "1 of 2 nodes have a pod with a claim, 1 of them ready; create the pods that are missing, "
      "or lower spec.numNodes");
  EXPECT_EQ(plan.look_again, base::Duration(3s));
}

TEST(Reconcile, WaitsWithTheDeletionForANodeThatServesAClaimWhichIsGone) {
  World world = settled_world(2);
  world.view.domain->meta.deletion_time = kNow;
  world.view.claims.clear();
  world.nodes.at("n1").report->status.groups[0].claims.clear();
  const Plan plan = reconcile(world);
  EXPECT_THAT(condition_in(plan, "Ready").message, HasSubstr("claim UID uid-c2 on node n2"));
}

TEST(Reconcile, KeepsTheFinalizerUntilTheServerConfirmsEveryChildIsGone) {
  World world = settled_world(2);
  world.view.domain->meta.deletion_time = kNow;
  world.view.claims.clear();
  for (const char* node : {"n1", "n2"}) group_report(world, node).claims.clear();
  EXPECT_THAT(
      reconcile(world).actions,
      ElementsAre(Action(EnsureTemplateAbsent{{"team-a", "train-channel"}, "uid-train"}),
                  Action(EnsureClaimsReleased{"team-a", "compute-domain-operator", "uid-train"}),
                  Action(EnsureNodeListsAbsent{"compute-domain-operator", "uid-train"}),
                  Action(RemoveFinalizer{world.view.domain->meta})));
}

TEST(Reconcile, IsQuietWhileItWaitsForPodsAlthoughTheTemplateIsSomebodyElses) {
  World world = settled_world(2);
  world.templates.front().meta.owners.clear();
  world.view.domain->meta.deletion_time = kNow;
  apply_status(world, reconcile(world));
  EXPECT_THAT(sentences(reconcile(world)), IsEmpty());
}

TEST(Reconcile, LeavesADeletedDomainToTheOtherFinalizersOnceItsOwnIsGone) {
  World world = world_of(domain("train").deleting(), 0);
  world.view.domain->meta.finalizers = {"grove.io/computedomain-finalizer"};
  EXPECT_THAT(reconcile(world).actions, IsEmpty());
}

TEST(Reconcile, SaysThatADomainSpansCliques) {
  World world = settled_world(2);
  world.view.claims.push_back(claim("c3").on("n3"));
  world.nodes["n3"] = idle_node("n3", "6f0a5a5e-0000-4000-8000-000000000002.0");
  const Plan plan = reconcile(world);
  EXPECT_EQ(status_in(plan)->status.cliques, 2);
  EXPECT_EQ(condition_in(plan, "SingleClique").reason, "SeveralCliques");
}

TEST(Reconcile, CountsANodeWithoutFabricAsReadyOncePrepared) {
  World world = world_of(domain("train").wants(1).finalized(), 1);
  make_template(world);
  world.nodes["n1"] = idle_node("n1", "");
  write_list(world, "");
  EXPECT_FALSE(status_in(reconcile(world))->status.ready);
  report_ready(world, "");
  const Plan plan = reconcile(world);
  EXPECT_TRUE(status_in(plan)->status.ready);
  EXPECT_EQ(status_in(plan)->status.nodes.front().index, -1);
  EXPECT_EQ(status_in(plan)->status.cliques, 0);
}

TEST(Reconcile, TellsTheRestartsOfAMembersDaemonAlsoOnceItIsReadyAgain) {
  World world = settled_world(2);
  const api::DaemonFailure failure{kNow, "nvidia-imex has ended"};
  group_report(world, "n2").restarts = 1;
  group_report(world, "n2").last_failure = failure;
  const api::DaemonFailure loss{kNow - std::chrono::seconds(9), "it was killed"};
  group_report(world, "n2").last_loss = loss;
  group_report(world, "n2").lost_claims = {uid_of("c2")};
  const Plan plan = reconcile(world);
  ASSERT_NE(status_in(plan), nullptr);
  EXPECT_THAT(plan.actions, SizeIs(2)) << "and an Event of the loss, for the pod that has it";
  apply_status(world, plan);
  const api::ComputeDomainStatus& status = *world.view.domain->status;
  EXPECT_TRUE(status.ready);
  EXPECT_EQ(status.nodes[0].restarts, 0);
  EXPECT_EQ(status.nodes[1].restarts, 1);
  EXPECT_EQ(status.nodes[1].last_failure, failure);
  EXPECT_EQ(status.nodes[1].last_loss, loss);
  EXPECT_THAT(reconcile(world).actions, IsEmpty());
  // A node that says nothing takes nothing back.
  world.nodes.at("n2").report.reset();
  apply_status(world, reconcile(world));
  EXPECT_EQ(world.view.domain->status->nodes[1].restarts, 1);
  EXPECT_EQ(world.view.domain->status->nodes[1].last_failure, failure);
  EXPECT_EQ(world.view.domain->status->nodes[1].last_loss, loss);
}

TEST(Reconcile, KeepsConditionsOfOtherWriters) {
  World world = settled_world(1);
  world.view.domain->status->conditions.push_back(
      {.type = "Scheduled", .status = api::ConditionStatus::True, .reason = "ByOthers"});
  world.nodes.at("n1").node->boot_id = "boot-2";
  EXPECT_EQ(condition_in(reconcile(world), "Scheduled").reason, "ByOthers");
}

TEST(ReconcileReport, DeletesTheReportOfANodeThatIsGoneAndHoldsNoSlot) {
  ReportWorld world{.node = "n1", .view = idle_node("n1"), .lists = {}};
  EXPECT_THAT(reconcile_report(world).actions, IsEmpty());
  world.view.node.reset();
  ASSERT_THAT(reconcile_report(world).actions, SizeIs(2));
  EXPECT_EQ(reconcile_report(world).actions[0], Action(EnsureNodeGone{"n1"}));
  world.lists = settled_world(1).lists;
  EXPECT_THAT(reconcile_report(world).actions,
              ElementsAre(EnsureNodeGone{"n1"}, VariantWith<MarkReport>(_)));
}

// The report is the node's word; whether it can be believed is not.
TEST(ReconcileReport, MarksTheReportOfASilentNodeOnceAndTakesTheMarkAwayWhenItIsBack) {
  ReportWorld world{.node = "n1", .view = idle_node("n1"), .lists = {}, .now = kNow};
  world.view.node->ready = api::ConditionStatus::Unknown;
  const Plan plan = reconcile_report(world);
  ASSERT_THAT(plan.actions, ElementsAre(VariantWith<MarkReport>(_)));
  const auto& mark = std::get<MarkReport>(plan.actions.front());
  ASSERT_TRUE(mark.stale);
  EXPECT_EQ(mark.stale->reason, "NodeUnknown");
  EXPECT_THAT(mark.stale->message, HasSubstr("kubelet has stopped answering"));
  world.view.report->stale = mark.stale;
  world.now += std::chrono::minutes(1);
  EXPECT_THAT(reconcile_report(world).actions, IsEmpty());
  world.view.node->ready = api::ConditionStatus::True;
  EXPECT_THAT(reconcile_report(world).actions,
              ElementsAre(MarkReport{world.view.report->meta, std::nullopt}));
}

TEST(ReconcileReport, IsNotBelievedAfterARebootUntilTheAgentReportsAgain) {
  ReportWorld world{.node = "n1", .view = idle_node("n1"), .lists = {}, .now = kNow};
  world.view.node->boot_id = "another-boot";
  const Plan plan = reconcile_report(world);
  ASSERT_THAT(plan.actions, ElementsAre(VariantWith<MarkReport>(_)));
  EXPECT_EQ(std::get<MarkReport>(plan.actions.front()).stale->reason, "NodeRebooted");
}

TEST(ReconcileReport, GivesAnAgentItsGraceAndAfterARestartOfTheControllerNoSecondOne) {
  ReportWorld world{.node = "n1", .view = idle_node("n1"), .lists = {}, .now = kNow};
  world.view.agent = AgentPod{.ready = false, .lasts = {}};
  const base::Duration grace = world.settings.agent_grace;
  EXPECT_EQ(reconcile_report(world), (Plan{.actions = {}, .look_again = grace}));
  world.view.agent->lasts = grace;
  const Plan plan = reconcile_report(world);
  ASSERT_THAT(plan.actions, ElementsAre(VariantWith<MarkReport>(_)));
  world.view.report->stale = std::get<MarkReport>(plan.actions.front()).stale;
  EXPECT_EQ(world.view.report->stale->reason, "AgentUnknown");
  world.view.agent->lasts = {};
  EXPECT_THAT(reconcile_report(world).actions, IsEmpty());
}

TEST(ReconcileReport, TellsTheAgentWhatItsNodeSays) {
  ReportWorld world{.node = "n1", .view = idle_node("n1"), .lists = {}};
  world.view.node->unschedulable = true;
  const api::ObjectMeta& report = world.view.report->meta;
  EXPECT_THAT(reconcile_report(world).actions, ElementsAre(Action(TellPause{report, "cordoned"})));
  world.view.report->meta.annotations[api::kPauseAnnotation] = "cordoned";
  EXPECT_THAT(reconcile_report(world).actions, IsEmpty());
  world.view.node->unschedulable = false;
  EXPECT_THAT(reconcile_report(world).actions, ElementsAre(Action(TellPause{report, ""})));
  world.view.node->meta.labels["nvidia.com/gpu.deploy.dcgm"] = "paused-for-driver-upgrade";
  EXPECT_THAT(reconcile_report(world).actions,
              ElementsAre(Action(TellPause{
                  report, "driver nvidia.com/gpu.deploy.dcgm=paused-for-driver-upgrade"})));
  world.view.report->meta.deletion_time.emplace();
  EXPECT_THAT(reconcile_report(world).actions, IsEmpty());
}

bool ends(const Plan& plan) {
  return !plan.actions.empty() && std::holds_alternative<RemoveFinalizer>(plan.actions.back());
}

TEST(Reconcile, EndsADomainThatNobodyOwnsAlsoWhereAClaimOfAnotherNamespaceNamesIt) {
  World world = settled_world(1);
  api::ComputeDomain& domain = *world.view.domain;
  domain.spec.workload = api::Workload{.kind = "Pod", .name = "train-0", .uid = ""};
  domain.meta.owners.clear();
  world.view.claims = {claim("stray").in("team-b").on("n1")};
  const Plan plan = reconcile(world);
  ASSERT_FALSE(plan.actions.empty());
  EXPECT_TRUE(std::holds_alternative<DeleteDomain>(plan.actions.back()))
      << base::join(sentences(plan), "\n");
}

// A claim of another namespace uses nothing of it, whatever it names.
TEST(Reconcile, WaitsWithItsDeletionForNoClaimOfAnotherNamespaceAlsoWhereItsListIsLost) {
  World world = settled_world(2);
  world.view.domain->meta.deletion_time = kNow;
  world.view.claims.clear();
  for (const char* node : {"n1", "n2"}) group_report(world, node).claims.clear();
  world.view.claims.push_back(claim("stray").in("team-b").on("n9"));
  ASSERT_TRUE(ends(reconcile(world))) << "with its list";
  world.lists.clear();
  const Plan plan = reconcile(world);
  EXPECT_TRUE(ends(plan)) << condition_in(plan, "Ready").message;
  world.view.claims.clear();
  EXPECT_TRUE(ends(reconcile(world))) << "without the claim of the other namespace";
}

// The definition takes 32,768 characters.
TEST(Reconcile, SaysOfADeletionNoMoreThanAConditionTakes) {
  World world = settled_world(2);
  world.view.domain->meta.deletion_time = kNow;
  for (api::ResourceClaim& held : world.view.claims) {
    held.reserved_for.clear();
    for (int i = 0; i < 256; ++i) {
      const std::string pod = base::cat(held.meta.name, "-", i);
      held.reserved_for.push_back({.resource = "pods", .name = pod, .uid = pod});
      world.makers[pod] = {.api_version = "batch/v1",
                           .kind = "Job",
                           .name = base::cat("sweep-of-the-learning-rate-2026-11-30-", pod),
                           .uid = pod,
                           .controller = true};
    }
  }
  const std::string message = condition_in(reconcile(world), "Ready").message;
  EXPECT_LE(message.size(), 32768U);
  EXPECT_THAT(message, ::testing::EndsWith("; and so on for 509 more"));
}

}  // namespace
}  // namespace cdom::core
