// What a domain's status says of its members, in words.
#include <gmock/gmock.h>

#include "compute_domain/api/names.h"
#include "compute_domain/core/memory_lost.h"
#include "compute_domain/core/status.h"
#include "core/builders.h"

namespace cdom::core {
namespace {

using namespace testing;  // NOLINT(google-build-using-namespace): the builders
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::UnorderedElementsAre;
using namespace std::chrono_literals;

constexpr char kSecondClique[] = "6f0a5a5e-0000-4000-8000-000000000002.0";

// A Ready domain with a node of each of these cliques.
World ready_world(const std::vector<std::string>& cliques) {
  World world = world_of(domain("train").finalized(), static_cast<int>(cliques.size()));
  make_template(world);
  for (std::size_t i = 0; i < cliques.size(); ++i) {
    const std::string node = base::cat("n", i + 1);
    world.nodes[node] = idle_node(node, cliques[i]);
  }
  for (const std::string& clique : cliques) {
    write_list(world, clique);
    report_ready(world, clique);
  }
  return world;
}

std::string ready_message(const World& world) {
  return condition_in(reconcile(world), "Ready").message;
}

TEST(StatusText, OneCliqueIsConnected) {
  EXPECT_EQ(ready_message(ready_world({kClique, kClique})), "2 nodes are ready and connected");
}

TEST(StatusText, OneNodeIsConnectedWithNobody) {
  EXPECT_EQ(ready_message(ready_world({kClique})), "1 node is ready");
}

TEST(StatusText, SaysHowToFenceANodeThatIsGone) {
  World world = settled_world(2);
  world.nodes["n2"].node.reset();
  EXPECT_THAT(ready_message(world),
              HasSubstr("n2: there is no such Node; if its machine is off for good, delete its "
                        "pods and fence it: kubectl annotate cdn n2 --overwrite "
                        "resource.nvidia.com/fenced=boot-1"));
  world.nodes["n2"].report->status.boot_id = "$(id)";
  EXPECT_THAT(ready_message(world), HasSubstr("fenced=<its status.bootID>"));
}

TEST(StatusText, AsksNobodyToFenceWhatIsFenced) {
  World world = settled_world(2);
  world.nodes["n2"].node.reset();
  std::string& fenced = world.nodes["n2"].report->meta.annotations[api::kFencedAnnotation];
  fenced = "boot-1";
  EXPECT_THAT(ready_message(world),
              HasSubstr("n2: there is no such Node, and it is fenced; delete its pods"));
  EXPECT_THAT(ready_message(world), Not(HasSubstr("fence it")));
  fenced = "boot-0";
  EXPECT_THAT(ready_message(world), HasSubstr("fence it")) << "an earlier boot";
}

TEST(StatusText, NamesAPairThatIsNotConnectedYet) {
  World world = settled_world(2);
  for (const char* node : {"n1", "n2"}) group_report(world, node).connected = "";
  EXPECT_EQ(ready_message(world), "nodes n1 and n2 are not connected yet");
}

TEST(StatusText, CutsAnAnswerOfTheApiServerBetweenCharacters) {
  World world = ready_world({kClique});
  world.view.domain->spec.num_nodes = 2;
  world.refusals = {std::string(999, 'x') + "\u00e4\u00e4\u00e4"};
  EXPECT_THAT(
      ready_message(world),
      ::testing::EndsWith("x\u2026; it is tried again; if it lasts, change what refuses it"));
}

TEST(StatusText, NodesOfSeveralCliquesAreNotConnected) {
  const World world = ready_world({kClique, kClique, kSecondClique});
  EXPECT_EQ(ready_message(world),
            "3 nodes are ready in 2 cliques (2 + 1); no memory is shared between cliques: "
            "spec.placement.clique Single keeps pods in one");
}

TEST(StatusText, NodesWithoutAFabricShareNoMemory) {
  const World world = ready_world({"", ""});
  const Plan plan = reconcile(world);
  EXPECT_EQ(condition_in(plan, "Ready").message,
            "2 nodes are ready; none has an NVLink fabric, so they share no memory: choose "
            "nodes that have one");
  EXPECT_EQ(condition_in(plan, "SingleClique").status, api::ConditionStatus::False);
  const auto warns = [](const Action& action) {
    const auto* event = std::get_if<RecordEvent>(&action);
    return event != nullptr && event->type == "Warning" && event->reason == "NoFabric";
  };
  EXPECT_TRUE(std::ranges::any_of(plan.actions, warns));
}

TEST(StatusText, NodesWithAndWithoutAFabricAreToldApart) {
  EXPECT_EQ(ready_message(ready_world({kClique, kClique, ""})),
            "3 nodes are ready, in 1 clique (2) and 1 without an NVLink fabric; memory is shared "
            "within a clique only");
}

TEST(StatusText, WhatIsWrongInOneNodeIsNotToldOfAnother) {
  World world = settled_world(4);
  for (const char* node : {"n1", "n2", "n3"}) {
    group_report(world, node).state = api::DaemonState::Failed;
    group_report(world, node).message = "nvidia-imex has ended";
  }
  group_report(world, "n2").message = "nvidia-imex hangs";
  world.nodes["n4"].node->ready = api::ConditionStatus::Unknown;
  EXPECT_EQ(
      ready_message(world),
      "0 of 4 nodes ready; n1, n3: nvidia-imex has ended; n2: nvidia-imex hangs; n4: its "
      "kubelet has stopped answering; check the machine; if it is off for good, taint the Node "
      "node.kubernetes.io/out-of-service=nodeshutdown:NoExecute, which ends its pods too; take the "
      "taint away when the machine is back");
}

TEST(StatusText, ASilentNodeThatIsTaintedOutOfServiceIsNotToBeTainted) {
  World world = settled_world(2);
  api::Node& silent = *world.nodes["n2"].node;
  silent.ready = api::ConditionStatus::Unknown;
  silent.taints = {{api::kOutOfServiceTaint, "nodeshutdown", "NoExecute"}};
  EXPECT_EQ(ready_message(world),
            "1 of 2 nodes ready; n2: its kubelet has stopped answering, and it is tainted "
            "node.kubernetes.io/out-of-service: its pods end; take the taint away when the machine "
            "is back");
}

// With what is told first of members that are not connected.
World told_of_pairs(World world) {
  apply_status(world, reconcile(world));
  return world;
}

TEST(StatusText, NamesTheOneWhomSomeDoNotReachAndHowManyTheyAre) {
  World world = settled_world(18);
  for (const char* node : {"n1", "n2", "n3", "n4", "n5"}) {
    group_report(world, node).unreachable = {"n16"};
  }
  EXPECT_THAT(ready_message(world),
              HasSubstr("members are not connected (5 pairs, the first: n1 and n16); check"));
  EXPECT_THAT(ready_message(told_of_pairs(world)),
              HasSubstr("n16 is not reached by 5 of 17 members (n1, n2, n3 and 2 more)"));
}

// The domain is not Ready at once; who is to blame shows when the others have spoken.
TEST(StatusText, OneEarlyWitnessNamesNobodyAsLost) {
  World world = settled_world(3);
  group_report(world, "n1").unreachable = {"n2"};
  const Plan first = reconcile(world);
  ASSERT_NE(status_in(first), nullptr);
  EXPECT_FALSE(status_in(first)->status.ready);
  EXPECT_EQ(condition_in(first, "Ready").reason, "MembersNotConnected");
  EXPECT_EQ(condition_in(first, "Ready").message,
            "members are not connected (1 pair: n1 and n2); check TCP port 50000 between the "
            "compute-domain-imex pods of these nodes");
  for (const auto& node : status_in(first)->status.nodes) EXPECT_TRUE(node.ready) << node.name;
  apply_status(world, first);
  // It is the witness itself that is lost.
  group_report(world, "n1").unreachable = {"n2", "n3"};
  group_report(world, "n3").unreachable = {"n1"};
  EXPECT_EQ(condition_in(reconcile(world), "Ready").reason, "Unreachable");
  EXPECT_THAT(ready_message(world), HasSubstr("n1: "));
  EXPECT_THAT(ready_message(world), Not(HasSubstr("n2")));
}

TEST(StatusText, CountsOnlyThoseWhoCouldReachTheAccused) {
  World world = ready_world({kClique, kClique, kClique, kClique, kSecondClique, kSecondClique});
  group_report(world, "n1").unreachable = {"n3"};
  EXPECT_THAT(ready_message(told_of_pairs(world)),
              HasSubstr("n3 is not reached by 1 of 3 members (n1)"));
}

TEST(StatusText, NamesTheOneWhoReachesNobodyOnce) {
  World world = settled_world(6);
  group_report(world, "n2").unreachable = {"n4", "n5"};
  EXPECT_THAT(ready_message(told_of_pairs(world)), HasSubstr("n2 cannot reach n4, n5;"));
}

// "Warning ImexFailed", in order, of a plan whose status is then written.
std::vector<std::string> events_after(World& world) {
  const Plan plan = reconcile(world);
  std::vector<std::string> events;
  for (const Action& action : plan.actions) {
    const auto* event = std::get_if<RecordEvent>(&action);
    if (event != nullptr) events.push_back(base::cat(event->type, " ", event->reason));
  }
  apply_status(world, plan);
  return events;
}

TEST(StatusEvents, AFactHasOne) {
  World world = settled_world(4);
  group_report(world, "n2").state = api::DaemonState::Failed;
  EXPECT_THAT(events_after(world), ElementsAre("Warning ImexFailed"));
  group_report(world, "n2").state = api::DaemonState::Ready;
  EXPECT_THAT(events_after(world), ElementsAre("Normal AllNodesReady"));
}

TEST(StatusEvents, NodesThatComeBackTogetherAreToldWithTheDomain) {
  World world = settled_world(4);
  for (const char* node : {"n2", "n3"}) {
    group_report(world, node).state = api::DaemonState::Failed;
  }
  EXPECT_THAT(events_after(world), ElementsAre("Warning ImexFailed", "Warning ImexFailed"));
  for (const char* node : {"n2", "n3"}) {
    group_report(world, node).state = api::DaemonState::Ready;
  }
  EXPECT_THAT(
      sentences(reconcile(world)),
      ElementsAre(HasSubstr("set the status"),
                  "record Normal event AllNodesReady on ComputeDomain team-a/train: 4 nodes "
                  "are ready and connected; nodes n2, n3 are ready again"));
}

TEST(StatusEvents, WhatAnotherConditionSaysIsNotToldOfReadyToo) {
  World world = settled_world(1);
  world.view.claims.clear();
  world.templates.front().meta.owners.clear();
  EXPECT_THAT(events_after(world), ElementsAre("Warning TemplateNameTaken"));
  EXPECT_EQ(api::find_condition(world.view.domain->status->conditions, "Ready")->reason,
            "TemplateNameTaken");
}

TEST(StatusEvents, ARefusalThatEndsADeletionIsNotToldTwice) {
  World world = settled_world(1);
  world.view.domain->meta.deletion_time = kNow;
  world.refusals = {"no room"};
  const Plan plan = reconcile(world);
  std::vector<std::string> messages;
  for (const Action& action : plan.actions) {
    const auto* event = std::get_if<RecordEvent>(&action);
    if (event != nullptr) messages.push_back(base::cat(event->reason, ": ", event->message));
  }
  EXPECT_THAT(messages, ElementsAre(::testing::AllOf(::testing::StartsWith("Deleting: waits for"),
                                                     Not(HasSubstr("no room"))),
                                    "WriteRefused: cannot go on: no room; it is tried again; if it "
                                    "lasts, change what refuses it"));
}

TEST(StatusEvents, OneThatIsLostIsNotToldOfAgainAsItsComplaintsChange) {
  World world = settled_world(4);
  for (const char* node : {"n1", "n4"}) group_report(world, node).unreachable = {"n3"};
  EXPECT_THAT(events_after(world), ElementsAre("Warning Unreachable"));
  group_report(world, "n1").unreachable.clear();
  EXPECT_EQ(condition_in(reconcile(world), "Ready").reason, "MembersNotConnected");
  EXPECT_THAT(ready_message(world), HasSubstr("n3 is not reached by 1 of 3 members"));
  EXPECT_THAT(events_after(world), ElementsAre("Normal NodeReady"));
}

TEST(StatusEvents, TheNameOfTheAccusedIsNoNews) {
  World world = settled_world(4);
  group_report(world, "n2").unreachable = {"n3"};
  EXPECT_THAT(events_after(world), ElementsAre("Warning MembersNotConnected"));
  EXPECT_THAT(events_after(world), IsEmpty());
  EXPECT_THAT(api::find_condition(world.view.domain->status->conditions, "Ready")->message,
              HasSubstr("n3 is not reached"));
  EXPECT_THAT(reconcile(world).actions, IsEmpty());
}

TEST(StatusEvents, NoWarningComesAfterTheCure) {
  World world = settled_world(4);
  group_report(world, "n2").state = api::DaemonState::Failed;
  world.nodes.at("n3").agent = AgentPod{.ready = false, .lasts = 2h};
  EXPECT_THAT(events_after(world),
              UnorderedElementsAre("Warning ImexFailed", "Warning AgentUnknown"));
  group_report(world, "n2").state = api::DaemonState::Ready;
  EXPECT_THAT(events_after(world), ElementsAre("Normal NodeReady"));
}

TEST(StatusEvents, OneBadReasonAfterAnotherOfTheSameMemberIsNoNews) {
  World world = settled_world(4);
  world.nodes.at("n3").node->ready = api::ConditionStatus::Unknown;
  EXPECT_THAT(events_after(world), ElementsAre("Warning NodeUnknown"));
  world.nodes.at("n3").node->ready = api::ConditionStatus::True;
  world.nodes.at("n3").node->boot_id = "boot-2";
  EXPECT_THAT(events_after(world), IsEmpty());
}

// First its peers miss it.
TEST(StatusEvents, AMachineWithoutPowerIsToldOfThoughItWasUnreachableBefore) {
  World world = settled_world(4);
  for (const char* node : {"n1", "n4"}) group_report(world, node).unreachable = {"n3"};
  EXPECT_THAT(events_after(world), ElementsAre("Warning Unreachable"));
  world.nodes.at("n3").node->ready = api::ConditionStatus::Unknown;
  EXPECT_THAT(events_after(world), ElementsAre("Warning NodeUnknown"));
  EXPECT_THAT(events_after(world), IsEmpty());
}

TEST(StatusEvents, PodsThatHaveLostTheirMemoryAreNamedAndTold) {
  World world = settled_world(2);
  const std::string lost =
      "pods there have lost the memory that they imported and have to start again";
  group_report(world, "n2").state = api::DaemonState::Failed;
  group_report(world, "n2").message = "nvidia-imex was ended by SIGKILL; " + lost;
  EXPECT_THAT(
      sentences(reconcile(world)),
      ElementsAre(HasSubstr("set the status"),
                  "record Warning event ImexFailed on ComputeDomain team-a/train: node n2: "
                  "nvidia-imex was ended by SIGKILL; " +
                      lost + ": pod-c2",
                  HasSubstr("record Warning event ImexMemoryLost on Pod team-a/pod-c2: the IMEX "
                            "daemon of node n2 has ended")));
  apply_status(world, reconcile(world));
  group_report(world, "n2").state = api::DaemonState::Ready;
  EXPECT_THAT(sentences(reconcile(world)),
              ::testing::Contains(HasSubstr("node n2 is ready again; " + lost + ": pod-c2")));
}

// Its daemon ended, and with it memory was lost.
void lose_memory(api::ImexGroupReport& report, base::Time time = kNow) {
  report.state = api::DaemonState::Failed;
  report.message = base::cat("killed; ", kMemoryLost);
  report.last_failure = report.last_loss = api::DaemonFailure{time, report.message};
  report.lost_claims = report.claims;
}

// The next daemon is READY by the first report that tells of it.
void lose_memory_and_recover(api::ImexGroupReport& report, base::Time time = kNow) {
  report.last_loss = api::DaemonFailure{time, base::cat("killed; ", kMemoryLost)};
  report.lost_claims = report.claims;
}

void hang(api::ImexGroupReport& report) {
  report.state = api::DaemonState::Failed;
  report.message = "nvidia-imex may hang";
  report.last_failure = api::DaemonFailure{kNow - 1min, report.message};
}

// It hung before, so the member is lost already; the memory is lost only now.
TEST(StatusEvents, TheEndOfADaemonThatHungIsToldOnceForEachLoss) {
  World world = settled_world(2);
  api::ImexGroupReport& report = group_report(world, "n2");
  hang(report);
  EXPECT_THAT(events_after(world), ElementsAre("Warning ImexFailed"));
  lose_memory(report);
  EXPECT_THAT(events_after(world), ElementsAre("Warning ImexFailed", "Warning ImexMemoryLost"));
  report.message = base::cat("exited with 1; ", kMemoryLost);
  EXPECT_THAT(events_after(world), IsEmpty());

  world.nodes.at("n2").node->ready = api::ConditionStatus::Unknown;
  events_after(world);
  world.nodes.at("n2").node->ready = api::ConditionStatus::True;
  EXPECT_THAT(events_after(world), ElementsAre("Warning ImexFailed")) << "the pods know it";
  lose_memory(report, kNow + 1s);
  EXPECT_THAT(events_after(world), ElementsAre("Warning ImexFailed", "Warning ImexMemoryLost"));
}

// A controller of 0.1 has told it, and kept no loss apart.
TEST(StatusEvents, ALossThatAnEarlierControllerHasToldIsNotToldAgain) {
  World world = settled_world(2);
  lose_memory(group_report(world, "n2"));
  events_after(world);
  World hangs_since = world;
  world.view.domain->status->nodes[1].last_loss.reset();
  EXPECT_THAT(events_after(world), IsEmpty());

  group_report(hangs_since, "n2").last_failure = api::DaemonFailure{kNow + 1min, "it hung"};
  group_report(hangs_since, "n2").message = "it hung";
  events_after(hangs_since);
  hangs_since.view.domain->status->nodes[1].last_loss.reset();
  EXPECT_THAT(events_after(hangs_since), IsEmpty());
  lose_memory(group_report(hangs_since, "n2"), kNow + 2min);
  EXPECT_THAT(events_after(hangs_since), ::testing::Contains("Warning ImexMemoryLost"));
}

// An agent of 0.1 keeps no loss apart, but its last failure.
TEST(StatusEvents, ALossThatAnEarlierAgentReportsIsToldOnce) {
  World world = settled_world(2);
  api::ImexGroupReport& report = group_report(world, "n2");
  lose_memory(report);
  report.last_loss.reset();
  EXPECT_THAT(events_after(world), ElementsAre("Warning ImexFailed", "Warning ImexMemoryLost"));
  world.nodes.at("n2").node->ready = api::ConditionStatus::Unknown;
  events_after(world);
  world.nodes.at("n2").node->ready = api::ConditionStatus::True;
  EXPECT_THAT(events_after(world), ElementsAre("Warning ImexFailed"));
}

TEST(StatusEvents, ALossIsToldOnceAlsoWhileItsNodeIsDoubted) {
  World world = settled_world(2);
  world.nodes.at("n2").node->ready = api::ConditionStatus::Unknown;
  EXPECT_THAT(events_after(world), ElementsAre("Warning NodeUnknown"));
  lose_memory(group_report(world, "n2"));
  EXPECT_THAT(events_after(world), ElementsAre("Warning ImexMemoryLost"));
  world.nodes.at("n2").node->ready = api::ConditionStatus::True;
  EXPECT_THAT(events_after(world), ElementsAre("Warning ImexFailed")) << "the pods know it";
}

// The supervisor was silent when it ended: that was the node's last failure, at the same time.
TEST(StatusEvents, ALossIsToldThatIsFoundLaterThanTheFailure) {
  World world = settled_world(2);
  api::ImexGroupReport& report = group_report(world, "n2");
  hang(report);
  report.last_failure->time = kNow;
  events_after(world);
  lose_memory(report, kNow);
  report.last_failure = api::DaemonFailure{kNow, "it is silent"};
  EXPECT_THAT(events_after(world), ::testing::Contains("Warning ImexMemoryLost"));
  EXPECT_THAT(events_after(world), IsEmpty());
  world.view.domain->status->nodes[1].last_loss.reset();
  EXPECT_THAT(events_after(world), IsEmpty()) << "an older definition keeps none, but the message";
}

// The controller was not there, and finds the next daemon READY.
TEST(StatusEvents, ALossThatHasPassedWhileNobodyLookedIsTold) {
  World world = settled_world(2);
  lose_memory_and_recover(group_report(world, "n2"));
  EXPECT_THAT(events_after(world), ElementsAre("Warning ImexMemoryLost"));
  EXPECT_THAT(events_after(world), IsEmpty());
}

// The status does not keep a fraction of a second.
TEST(StatusEvents, ATimeWithAFractionIsOneLoss) {
  World world = settled_world(3);
  lose_memory(group_report(world, "n2"), kNow + 500ms);
  group_report(world, "n2").message = "it hangs";
  events_after(world);
  for (int i = 0; i < 3; ++i) {
    for (auto& node : world.view.domain->status->nodes) {
      for (auto* failure : {&node.last_loss, &node.last_failure}) {
        if (*failure) (*failure)->time = std::chrono::floor<std::chrono::seconds>((*failure)->time);
      }
    }
    group_report(world, "n3").restarts += 1;  // anything else of the domain
    EXPECT_THAT(events_after(world), IsEmpty());
  }
}

// Who is named or told in a plan.
std::string pods_in(const World& world) {
  std::string text;
  for (const std::string& sentence : sentences(reconcile(world))) {
    if (sentence.find("event") != std::string::npos) text += sentence;
  }
  return text;
}

// A pod that came while the daemon hung waits for its claim to be prepared, and imported nothing.
TEST(StatusEvents, APodWhoseClaimIsNotPreparedHasLostNothing) {
  World world = settled_world(2);
  api::ImexGroupReport& report = group_report(world, "n2");
  hang(report);
  events_after(world);
  world.view.claims.push_back(claim("c9").on("n2"));
  write_list(world);
  events_after(world);
  ASSERT_THAT(report.claims, ElementsAre(uid_of("c2")));
  lose_memory(report);
  EXPECT_THAT(pods_in(world), HasSubstr("ImexMemoryLost on Pod team-a/pod-c2"));
  EXPECT_THAT(pods_in(world), Not(HasSubstr("pod-c9")));

  // Nor when it is prepared with the next daemon before the controller sees either.
  report.lost_claims = report.claims;
  report.claims.push_back(uid_of("c9"));
  EXPECT_THAT(pods_in(world), HasSubstr("ImexMemoryLost on Pod team-a/pod-c2"));
  EXPECT_THAT(pods_in(world), Not(HasSubstr("pod-c9")));
}

TEST(StatusEvents, ACureNamesNoPodThatCameAfterTheLoss) {
  World world = settled_world(2);
  api::ImexGroupReport& report = group_report(world, "n2");
  lose_memory(report);
  report.lost_claims = report.claims;
  events_after(world);
  world.view.claims.push_back(claim("c9").on("n2"));
  write_list(world);
  events_after(world);
  report.state = api::DaemonState::Ready;
  report.message = "";
  report.claims.push_back(uid_of("c9"));
  EXPECT_THAT(pods_in(world), HasSubstr(": pod-c2"));
  EXPECT_THAT(pods_in(world), Not(HasSubstr("pod-c9")));
}

// A claim that several pods share by name, and the controller looks late.
TEST(StatusEvents, APodThatComesToAClaimAfterTheLossHasLostNothing) {
  World world = settled_world(2);
  lose_memory_and_recover(group_report(world, "n2"), kNow - 10min);
  for (api::ResourceClaim& claim : world.view.claims) {
    if (claim.meta.uid != uid_of("c2")) continue;
    claim.reserved_for.push_back(
        {.resource = "pods", .name = "later", .uid = "later", .created = kNow - 9min});
    claim.reserved_for.push_back(
        {.resource = "pods", .name = "before", .uid = "before", .created = kNow - 11min});
  }
  EXPECT_THAT(pods_in(world), HasSubstr("ImexMemoryLost on Pod team-a/before"));
  EXPECT_THAT(pods_in(world), HasSubstr("ImexMemoryLost on Pod team-a/pod-c2"));
  EXPECT_THAT(pods_in(world), Not(HasSubstr("later")));
}

// With a node's token anything can be reported.
TEST(StatusEvents, ANodeTellsNoPodsOfOtherNodes) {
  World world = settled_world(2);
  lose_memory_and_recover(group_report(world, "n2"));
  group_report(world, "n2").lost_claims = {uid_of("c1"), uid_of("c2")};
  EXPECT_THAT(pods_in(world), HasSubstr("pod-c2"));
  EXPECT_THAT(pods_in(world), Not(HasSubstr("pod-c1")));
}

TEST(StatusEvents, ALossOfNobodyIsToldToNobody) {
  World world = settled_world(2);
  lose_memory_and_recover(group_report(world, "n2"));
  group_report(world, "n2").lost_claims.clear();
  EXPECT_THAT(pods_in(world), IsEmpty());
}

// The definition of ComputeDomain is older than that of ComputeDomainNode.
TEST(StatusEvents, ALossIsToldOnceAlsoWhereTheStatusKeepsNoneApart) {
  for (const auto& failure : {std::optional<api::DaemonFailure>(),
                              std::optional(api::DaemonFailure{kNow - 1min, "exited with 1"}),
                              std::optional(api::DaemonFailure{kNow, "it is silent"}),
                              std::optional(api::DaemonFailure{kNow + 1s, "it hangs"})}) {
    World world = settled_world(2);
    lose_memory_and_recover(group_report(world, "n2"));
    group_report(world, "n2").last_failure = failure;
    EXPECT_THAT(events_after(world), ElementsAre("Warning ImexMemoryLost"));
    for (int i = 0; i < 3; ++i) {
      for (auto& node : world.view.domain->status->nodes) node.last_loss.reset();
      group_report(world, "n1").restarts += 1;  // anything else of the domain
      EXPECT_THAT(events_after(world), IsEmpty());
    }
  }
}

// The clock of its node was ahead at the first.
TEST(StatusEvents, ALossAfterOneThatIsStillToComeIsToldOnce) {
  World world = settled_world(2);
  lose_memory_and_recover(group_report(world, "n2"), kNow + 24h);
  events_after(world);
  lose_memory_and_recover(group_report(world, "n2"), kNow + 1s);
  EXPECT_THAT(events_after(world), ElementsAre("Warning ImexMemoryLost"));
  group_report(world, "n1").restarts += 1;
  EXPECT_THAT(events_after(world), IsEmpty());
}

// An older agent in between has told a later one in its way; this one goes by its checkpoint.
TEST(StatusEvents, AnEarlierLossIsNotToldAfterALaterOne) {
  World world = settled_world(2);
  api::ImexGroupReport& report = group_report(world, "n2");
  lose_memory_and_recover(report, kNow - 2min);
  report.last_failure = report.last_loss;
  events_after(world);
  const auto first = std::exchange(report.last_loss, std::nullopt);
  report.last_failure = api::DaemonFailure{kNow - 1min, base::cat("killed; ", kMemoryLost)};
  EXPECT_THAT(events_after(world), ElementsAre("Warning ImexMemoryLost"));
  report.last_loss = first;
  EXPECT_THAT(events_after(world), IsEmpty());
}

// An agent of 0.1 carries the words of a loss on, with a later time.
TEST(StatusEvents, ALossIsToldOnceWhileAnEarlierAgentsNextDaemonsFail) {
  World world = settled_world(2);
  api::ImexGroupReport& report = group_report(world, "n2");
  lose_memory(report);
  report.last_loss.reset();
  report.lost_claims.clear();
  EXPECT_THAT(events_after(world), ElementsAre("Warning ImexFailed", "Warning ImexMemoryLost"));
  for (int i = 1; i < 4; ++i) {
    report.since = kNow + i * 10s;
    report.last_failure = api::DaemonFailure{kNow + i * 10s, report.message};
    report.restarts = i;
    EXPECT_THAT(events_after(world), IsEmpty()) << i;
  }
  report.state = api::DaemonState::Ready;
  const std::string words = std::exchange(report.message, "");
  events_after(world);
  report.state = api::DaemonState::Failed;
  report.message = words;
  report.last_failure = api::DaemonFailure{kNow + 1min, words};
  EXPECT_THAT(events_after(world), ElementsAre("Warning ImexFailed", "Warning ImexMemoryLost"));
}

TEST(StatusEvents, ALossIsToldOnceWhereTheStatusKeepsNoneApartAndTheNodesClockIsAhead) {
  World world = settled_world(2);
  lose_memory_and_recover(group_report(world, "n2"), kNow + 5min);
  group_report(world, "n2").last_failure = api::DaemonFailure{kNow + 6min, "it hangs"};
  EXPECT_THAT(events_after(world), ElementsAre("Warning ImexMemoryLost"));
  for (int i = 0; i < 4; ++i) {
    for (auto& node : world.view.domain->status->nodes) node.last_loss.reset();
    group_report(world, "n1").restarts += 1;
    if (i == 2) group_report(world, "n2").last_failure->time += 5min;
    EXPECT_THAT(events_after(world), IsEmpty());
  }
}

// The clock of its node was ahead when its daemon hung, and was set back.
TEST(StatusEvents, ALossAfterAFailureThatIsStillToComeIsTold) {
  World world = settled_world(2);
  api::ImexGroupReport& report = group_report(world, "n2");
  hang(report);
  report.last_failure->time = kNow + 24h;
  events_after(world);
  lose_memory(report);
  EXPECT_THAT(events_after(world), ElementsAre("Warning ImexFailed", "Warning ImexMemoryLost"));
  EXPECT_THAT(events_after(world), IsEmpty());
}

// A daemon for the whole clique has users of many domains, one after another.
TEST(StatusOfMembers, HaveALossOnlyWithAClaimThatLostMemory) {
  for (const bool is_last_failure : {false, true}) {
    World world = settled_world(2);
    api::ImexGroupReport& report = group_report(world, "n2");
    lose_memory_and_recover(report, kNow - 500h);
    if (is_last_failure) report.last_failure = report.last_loss;
    report.lost_claims = {"gone"};
    events_after(world);
    EXPECT_EQ(world.view.domain->status->nodes[1].last_loss, std::nullopt);
    EXPECT_EQ(world.view.domain->status->nodes[1].last_failure, std::nullopt);

    report.last_failure = api::DaemonFailure{kNow, "it hung"};
    events_after(world);
    EXPECT_EQ(world.view.domain->status->nodes[1].last_loss, std::nullopt);
    EXPECT_EQ(world.view.domain->status->nodes[1].last_failure, report.last_failure);
  }
}

TEST(StatusOfMembers, KeepALossWhenTheClaimsThatLostMemoryAreGone) {
  World world = settled_world(2);
  api::ImexGroupReport& report = group_report(world, "n2");
  lose_memory_and_recover(report, kNow - 1h + 500ms);
  events_after(world);
  auto& stored = world.view.domain->status->nodes[1];
  stored.last_loss->time = stored.last_failure->time = kNow - 1h;  // in whole seconds
  report.lost_claims = {"gone"};
  events_after(world);
  EXPECT_EQ(world.view.domain->status->nodes[1].last_loss, report.last_loss);
}

TEST(StatusEvents, AMemberThatComesWithAFaultIsToldOf) {
  World world = settled_world(3);
  world.view.claims.push_back(claim("c4").on("n4"));
  world.nodes["n4"] = idle_node("n4");
  write_list(world);
  report_ready(world);
  group_report(world, "n4").state = api::DaemonState::Failed;
  EXPECT_THAT(events_after(world), ElementsAre("Warning ImexFailed"));
}

TEST(StatusText, ASilentKubeletHidesNotThatImexIsOutOfReach) {
  World world = settled_world(4);
  for (const char* node : {"n1", "n2", "n4"}) group_report(world, node).unreachable = {"n3"};
  world.nodes["n3"].node->ready = api::ConditionStatus::Unknown;
  EXPECT_THAT(ready_message(world), HasSubstr("its kubelet has stopped answering"));
  EXPECT_THAT(ready_message(world), HasSubstr("3 of 3 members cannot reach its IMEX daemon"));
}

}  // namespace
}  // namespace cdom::core
