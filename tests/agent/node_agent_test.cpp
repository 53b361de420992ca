#include "agent/rig.h"
#include "compute_domain/core/memory_lost.h"

namespace cdom::agent {
namespace {

using std::chrono::minutes;
using std::chrono::seconds;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;

TEST(NodeAgent, PublishesItsReportThenItsSliceAndIsQuiet) {
  Rig rig;
  rig.settle();

  EXPECT_EQ(rig.report().clique, kClique);
  EXPECT_EQ(rig.report().boot_id, "boot-1");
  ASSERT_THAT(rig.slices(), SizeIs(1));
  const api::ResourceSlice slice = rig.slices()[0];
  EXPECT_EQ(slice.node, kNode);
  ASSERT_THAT(slice.meta.owners, SizeIs(1));
  EXPECT_EQ(slice.meta.owners[0].kind, "Node");

  const int writes = rig.wire.writes;
  rig.pass(minutes(10));
  EXPECT_EQ(rig.wire.writes, writes);
}

TEST(NodeAgent, PreparesAndUnpreparesAClaim) {
  Rig rig;
  rig.settle();
  const core::ClaimRef claim = rig.make_claim("a");
  rig.write_list({claim.uid});

  const ClaimStep prepared = rig.prepare(claim);
  ASSERT_EQ(prepared.state, ClaimStep::State::Done) << prepared.reason;
  EXPECT_THAT(prepared.devices.at(0).cdi_ids, ElementsAre(core::cdi_device_id(claim.uid)));
  EXPECT_EQ(rig.channels.channels.at(claim.uid), (core::ChannelRange{0, 1}));
  const api::ImexGroupReport group = rig.report().groups.at(0);
  EXPECT_EQ(group.state, api::DaemonState::Ready);
  EXPECT_THAT(group.claims, ElementsAre(claim.uid));

  EXPECT_EQ(rig.unprepare(claim).state, ClaimStep::State::Done);
  EXPECT_THAT(rig.channels.channels, IsEmpty());
  EXPECT_FALSE(rig.imex.daemon.running);
  EXPECT_EQ(rig.report().groups.at(0).state, api::DaemonState::Stopped);
}

TEST(NodeAgent, LearnsItsAddressFromTheSupervisorOfTheDaemon) {
  Rig rig;
  rig.address = "";
  rig.start_agent();
  rig.settle();
  EXPECT_EQ(rig.report().address, "");
  rig.imex.daemon.address = "10.7.7.7";
  rig.settle();
  EXPECT_EQ(rig.report().address, "10.7.7.7");

  rig.imex.error = base::Error{base::ErrorKind::Unavailable, "connection refused"};
  rig.pass(seconds(10));
  EXPECT_EQ(rig.report().address, "10.7.7.7");
  rig.imex.error.reset();
  rig.imex.daemon.address = "10.8.8.8";
  rig.pass(seconds(1));
  EXPECT_EQ(rig.report().address, "10.8.8.8");
}

// To read kubelet's record, for one, takes all that the supervisor has sent.
TEST(NodeAgent, SeesWhatTheSupervisorReportsWhileItDecides) {
  Rig rig;
  rig.address = "";
  rig.start_agent();
  rig.settle();
  rig.channels.meanwhile = [&rig] {
    rig.imex.daemon.address = "10.8.8.8";
    ++rig.imex.reports;
  };
  rig.clock.advance(seconds(2));
  while (rig.agent->step_node()) {
  }
  ASSERT_FALSE(rig.channels.meanwhile) << "it has decided";
  while (rig.agent->step_server()) {
  }
  EXPECT_EQ(rig.report().address, "10.8.8.8");
}

// Each attempt may take its patience, and kubelet's calls wait meanwhile.
TEST(NodeAgent, TriesASupervisorThatItRefusesOnceForEachLook) {
  Rig rig;
  rig.settle();
  rig.imex.error = base::Error{base::ErrorKind::Unavailable, "speaks protocol 9"};
  rig.settle();
  rig.imex.questions = 0;
  rig.clock.advance(seconds(1));
  int steps = 1;
  while (rig.agent->step_node()) ++steps;
  EXPECT_EQ(steps, 1);
  EXPECT_EQ(rig.imex.questions, 1);
}

// Files tell nobody that they have changed; and nobody counts on a decision that is not due.
TEST(NodeAgent, LooksAtWhatTellsNobodyThatItHasChanged) {
  Rig rig;
  rig.settle();
  EXPECT_EQ(rig.agent->next_look() - rig.clock.elapsed(), seconds(1))
      << "another agent of the node may be there, which it replaces";
  rig.pass(minutes(5));
  EXPECT_GT(rig.agent->next_look(), rig.clock.elapsed());
  EXPECT_LE(rig.agent->next_look() - rig.clock.elapsed(), seconds(2));
  rig.clock.advance(rig.agent->next_look() - rig.clock.elapsed());
  rig.settle();
  EXPECT_EQ(rig.agent->next_look() - rig.clock.elapsed(), seconds(2));

  rig.imex.error = base::Error{base::ErrorKind::Unavailable, "connection refused"};
  rig.settle();
  EXPECT_EQ(rig.agent->next_look() - rig.clock.elapsed(), seconds(1))
      << "it tells nobody when it is back";
}

TEST(NodeAgent, TellsASupervisorThatWasReplacedWhileItDidNotRun) {
  Rig rig;
  rig.settle();
  const core::ClaimRef claim = rig.make_claim("a");
  rig.write_list({claim.uid});
  ASSERT_EQ(rig.prepare(claim).state, ClaimStep::State::Done);
  rig.pass(minutes(1));
  rig.agent.reset();
  rig.imex.daemon.instance = "another";
  rig.start_agent();
  rig.settle();
  EXPECT_EQ(rig.report().groups.at(0).state, api::DaemonState::Failed);
  EXPECT_EQ(rig.report().groups.at(0).instance, "another");
  EXPECT_THAT(rig.report().groups.at(0).message, HasSubstr("has ended with its supervisor"));

  rig.pass(seconds(2));
  EXPECT_EQ(rig.report().groups.at(0).state, api::DaemonState::Ready);
  EXPECT_EQ(rig.report().groups.at(0).message, "");
}

// The checkpoint remembers for it with which daemon the claim was prepared.
TEST(NodeAgent, NotesTheLossOfADaemonThatHungUnderAnEarlierAgent) {
  Rig rig;
  rig.settle();
  const core::ClaimRef claim = rig.make_claim("a");
  rig.write_list({claim.uid});
  ASSERT_EQ(rig.prepare(claim).state, ClaimStep::State::Done);
  rig.pass(minutes(1));
  rig.imex.daemon.phase = base::DaemonPhase::Failed;
  rig.imex.daemon.message = "nvidia-imex may hang";
  rig.pass(minutes(1));
  ASSERT_EQ(rig.report().groups.at(0).state, api::DaemonState::Failed);
  EXPECT_FALSE(rig.report().groups.at(0).last_loss);

  rig.agent.reset();
  rig.imex.daemon.instance = "another";
  rig.imex.daemon.phase = base::DaemonPhase::Ready;
  rig.imex.daemon.message = "";
  rig.start_agent();
  rig.settle();
  EXPECT_TRUE(rig.report().groups.at(0).last_loss);
  rig.pass(seconds(2));
  EXPECT_EQ(rig.report().groups.at(0).state, api::DaemonState::Ready);
  EXPECT_TRUE(rig.report().groups.at(0).last_loss);
}

TEST(NodeAgent, AnswersKubeletWhileTheApiServerIsSilent) {
  Rig rig;
  rig.settle();
  const core::ClaimRef claim = rig.make_claim("a"), other = rig.make_claim("b");
  rig.write_list({claim.uid, other.uid});
  ASSERT_EQ(rig.prepare(claim).state, ClaimStep::State::Done);
  ASSERT_EQ(rig.prepare(other).state, ClaimStep::State::Done);
  rig.settle();

  int silent = 0;
  rig.wire.meanwhile = [&] {
    if (silent++ > 0) return;
    const auto answer = [&](auto ask) {
      for (int i = 0; i < 20 && ask().state == ClaimStep::State::Waiting; ++i) {
        rig.agent->step_node();
      }
      return ask();
    };
    // Each is asked once more after its answer, which is a new question with the same one.
    EXPECT_NE(answer([&] { return rig.agent->prepare(claim); }).state, ClaimStep::State::Failed);
    rig.agent->unprepare(claim);
    while (rig.agent->step_node()) {
    }
    EXPECT_THAT(rig.channels.channels, testing::Not(testing::Contains(testing::Key(claim.uid))));
  };
  rig.agent->unprepare(other);
  while (rig.agent->step_node()) {
  }
  EXPECT_EQ(rig.agent->unprepare(other).state, ClaimStep::State::Done);
  EXPECT_EQ(silent, 0) << "the node's side does not ask the API server";
  rig.settle();
  EXPECT_GT(silent, 0);
  EXPECT_THAT(rig.channels.channels, IsEmpty());
  rig.pass(seconds(1));
  EXPECT_EQ(rig.report().groups.at(0).state, api::DaemonState::Stopped);
}

int writes_of_a_formation(Rig& rig) {
  rig.settle();
  const core::ClaimRef claim = rig.make_claim("a");
  rig.write_list({claim.uid});
  const int before = rig.wire.writes;
  EXPECT_EQ(rig.prepare(claim).state, ClaimStep::State::Done);
  rig.pass(minutes(1));
  return rig.wire.writes - before;
}

TEST(NodeAgent, NeedsOneWriteForAFormation) {
  Rig rig;
  EXPECT_EQ(writes_of_a_formation(rig), 1);
}

TEST(NodeAgent, AsksAnewAfterAQuestionWasWithdrawn) {
  Rig rig;
  rig.settle();
  const core::ClaimRef claim = rig.make_claim("a");
  rig.agent->prepare(claim);
  rig.settle();
  rig.pass(seconds(4));
  rig.agent->withdraw(claim.uid);
  rig.settle();
  EXPECT_EQ(rig.agent->prepare(claim).state, ClaimStep::State::Waiting);
  rig.pass(seconds(4));
  EXPECT_EQ(rig.agent->prepare(claim).state, ClaimStep::State::Waiting);
  rig.pass(seconds(1));
  EXPECT_EQ(rig.agent->prepare(claim).state, ClaimStep::State::Failed);
}

TEST(NodeAgent, AnswersWithTheReasonWhileItWaits) {
  Rig rig;
  rig.settle();
  const core::ClaimRef claim = rig.make_claim("a");
  rig.agent->prepare(claim);
  rig.settle();
  EXPECT_THAT(rig.agent->prepare(claim).reason, HasSubstr("no node list admits"));

  rig.pass(seconds(5));
  const ClaimStep failed = rig.agent->prepare(claim);
  EXPECT_EQ(failed.state, ClaimStep::State::Failed);
  EXPECT_THAT(failed.reason, HasSubstr("there is no ComputeDomain with UID train-uid"));
  EXPECT_FALSE(failed.permanent);
}

TEST(NodeAgent, UnpreparesWhileTheApiServerIsAwayAndTellsLater) {
  Rig rig;
  rig.settle();
  const core::ClaimRef claim = rig.make_claim("a");
  rig.write_list({claim.uid});
  ASSERT_EQ(rig.prepare(claim).state, ClaimStep::State::Done);

  rig.wire.is_cut = true;
  EXPECT_EQ(rig.unprepare(claim).state, ClaimStep::State::Done);
  rig.start_agent();
  rig.pass(seconds(30));
  rig.wire.is_cut = false;
  rig.pass(minutes(1));
  EXPECT_EQ(rig.report().groups.at(0).state, api::DaemonState::Stopped);
}

TEST(NodeAgent, WritesAgainWhatSomebodyDeletes) {
  Rig rig;
  rig.settle();
  const auto node = rig.admin.get<api::ComputeDomainNode>({"", kNode});
  ASSERT_TRUE(node);
  ASSERT_TRUE(rig.admin.remove<api::ComputeDomainNode>({"", kNode}, {node->meta.uid, ""}));
  const api::ResourceSlice slice = rig.slices().at(0);
  ASSERT_TRUE(rig.admin.remove<api::ResourceSlice>({"", slice.meta.name}, {slice.meta.uid, ""}));
  rig.pass(seconds(10));

  EXPECT_EQ(rig.report().boot_id, "boot-1");
  EXPECT_THAT(rig.slices(), SizeIs(1));
}

TEST(NodeAgent, FollowsTheListsOfTheCliqueThatItServes) {
  Rig rig;
  rig.settle();
  rig.fabric.reading.clique = "rack-2.1";
  rig.settle();
  EXPECT_EQ(rig.report().clique, "rack-2.1");
  rig.fabric.reading.clique = kClique;
  rig.settle();
  EXPECT_EQ(rig.report().next_clique, std::nullopt);

  const core::ClaimRef claim = rig.make_claim("a");
  rig.write_list({claim.uid});
  EXPECT_EQ(rig.prepare(claim).state, ClaimStep::State::Done);
}

TEST(NodeAgent, TellsTheNextCliqueAndTakesItBack) {
  Rig rig;
  rig.settle();
  const core::ClaimRef claim = rig.make_claim("a");
  rig.write_list({claim.uid});
  ASSERT_EQ(rig.prepare(claim).state, ClaimStep::State::Done);
  rig.fabric.reading.clique = "rack-2.1";
  rig.settle();
  EXPECT_EQ(rig.report().next_clique, "rack-2.1");
  EXPECT_THAT(rig.slices().at(0).devices, IsEmpty());
  rig.fabric.reading.clique = kClique;
  rig.settle();
  EXPECT_EQ(rig.report().next_clique, std::nullopt);
  EXPECT_THAT(rig.slices().at(0).devices, SizeIs(1));
}

TEST(NodeAgent, SetsACheckpointAsideThatItCannotRead) {
  Rig rig;
  rig.checkpoints.text = R"({"checksum":1,"v2":{"preparedClaims":{}}})";
  rig.start_agent();
  rig.settle();
  EXPECT_THAT(rig.checkpoints.aside, SizeIs(1));
  EXPECT_EQ(rig.report().clique, kClique);
}

TEST(NodeAgent, SaysThatTheDiskIsFullAndGoesOnWhenItIsNot) {
  Rig rig;
  rig.settle();
  const core::ClaimRef claim = rig.make_claim("a");
  rig.write_list({claim.uid});
  rig.checkpoints.error = base::Error{base::ErrorKind::Unavailable, "no space left on device"};
  rig.agent->prepare(claim);
  rig.settle();
  EXPECT_THAT(rig.agent->prepare(claim).reason,
              HasSubstr("cannot write the checkpoint (0 claims): no space left on device"));
  EXPECT_EQ(rig.imex.starts, 0);

  rig.checkpoints.error.reset();
  rig.pass(seconds(3));
  EXPECT_EQ(rig.prepare(claim).state, ClaimStep::State::Done);
}

TEST(NodeAgent, SaysThatTheDaemonHasEndedThoughTheDiskIsFull) {
  Rig rig;
  rig.settle();
  const core::ClaimRef claim = rig.make_claim("a");
  rig.write_list({claim.uid});
  ASSERT_EQ(rig.prepare(claim).state, ClaimStep::State::Done);
  rig.pass(seconds(5));
  ASSERT_EQ(rig.report().groups.at(0).state, api::DaemonState::Ready);
  rig.checkpoints.error = base::Error{base::ErrorKind::Unavailable, "no space left on device"};
  rig.imex.die("nvidia-imex was ended by SIGKILL");
  rig.pass(seconds(30));
  const api::ImexGroupReport told = rig.report().groups.at(0);
  EXPECT_EQ(told.state, api::DaemonState::Failed);
  EXPECT_THAT(told.message, HasSubstr("was ended by SIGKILL"));
  EXPECT_THAT(told.claims, ElementsAre(claim.uid));
  EXPECT_FALSE(told.last_loss) << "that is told when it can be remembered";
  const int writes = rig.wire.writes;
  rig.pass(minutes(5));
  EXPECT_EQ(rig.wire.writes, writes) << "once";

  rig.checkpoints.error.reset();
  rig.pass(seconds(30));
  ASSERT_TRUE(rig.report().groups.at(0).last_loss);
  EXPECT_THAT(rig.report().groups.at(0).lost_claims, ElementsAre(claim.uid));
}

TEST(NodeAgent, DoesNotSayThatADaemonHasStoppedWhileTheDiskIsFull) {
  Rig rig;
  rig.settle();
  const core::ClaimRef claim = rig.make_claim("a");
  rig.write_list({claim.uid});
  ASSERT_EQ(rig.prepare(claim).state, ClaimStep::State::Done);
  rig.pass(seconds(5));
  rig.checkpoints.error = base::Error{base::ErrorKind::Unavailable, "no space left on device"};
  rig.agent->unprepare(claim);
  rig.pass(seconds(30));
  EXPECT_EQ(rig.report().groups.at(0).state, api::DaemonState::Ready);
}

// The end of another tenant's daemon says nothing of the next one's.
TEST(NodeAgent, TellsNothingOfADaemonThatCouldNotBeStartedForAnotherDomain) {
  Rig rig;
  rig.settle();
  const core::ClaimRef before = rig.make_claim("a");
  rig.write_list({before.uid});
  rig.imex.start_error = base::Error{base::ErrorKind::Unavailable, "nvidia-imex of a: no file"};
  rig.agent->prepare(before);
  rig.pass(seconds(2));
  ASSERT_EQ(rig.report().groups.at(0).state, api::DaemonState::Failed);
  ASSERT_EQ(rig.unprepare(before).state, ClaimStep::State::Done);
  rig.write_list({}, false, 1);
  rig.imex.start_error.reset();
  rig.pass(minutes(10));

  const core::ClaimRef claim = rig.make_claim("b", "other-uid");
  rig.write_list({claim.uid}, true, 1, "other-uid");
  EXPECT_THAT(rig.agent->prepare(claim).reason, Not(HasSubstr("of a")));
  const auto group_of_it = [&] {
    for (const api::ImexGroupReport& group : rig.report().groups) {
      if (group.group == core::group_id({"other-uid", kClique})) return group;
    }
    return api::ImexGroupReport{};
  };
  for (int steps = 0; steps < 200 && rig.agent->step(); ++steps) {
    EXPECT_NE(group_of_it().state, api::DaemonState::Failed);
    EXPECT_THAT(rig.agent->prepare(claim).reason, Not(HasSubstr("of a")));
  }
  ASSERT_EQ(rig.prepare(claim).state, ClaimStep::State::Done);
  rig.pass(seconds(5));
  EXPECT_EQ(group_of_it().state, api::DaemonState::Ready);
  EXPECT_EQ(group_of_it().restarts, 0);
  EXPECT_FALSE(group_of_it().last_failure);
}

TEST(NodeAgent, WaitsForTheDaemonThatASuccessorOfItsSupervisorHasStartedMeanwhile) {
  Rig rig;
  rig.settle();
  const core::ClaimRef claim = rig.make_claim("a");
  rig.write_list({claim.uid});
  ASSERT_EQ(rig.prepare(claim).state, ClaimStep::State::Done);
  rig.pass(seconds(5));
  rig.imex.error = base::Error{base::ErrorKind::NotFound, "compute-domain-imex has ended"};
  rig.imex.before_withdrawal = [&] { rig.imex.error.reset(); };
  rig.agent->unprepare(claim);
  rig.settle();
  EXPECT_NE(rig.agent->unprepare(claim).state, ClaimStep::State::Done);
  EXPECT_EQ(rig.report().groups.at(0).state, api::DaemonState::Ready) << "it runs";
  rig.pass(seconds(10));
  EXPECT_EQ(rig.agent->unprepare(claim).state, ClaimStep::State::Done);
  EXPECT_FALSE(rig.imex.daemon.running);
  EXPECT_EQ(rig.report().groups.at(0).state, api::DaemonState::Stopped);
}

TEST(NodeAgent, GivesAdminAccessToWhatRunsNowWhereWhatItLookedAtHasEnded) {
  Rig rig;
  rig.settle();
  const core::ClaimRef before = rig.make_claim("a");
  rig.write_list({before.uid});
  ASSERT_EQ(rig.prepare(before).state, ClaimStep::State::Done);
  const core::ClaimRef look = rig.make_claim("look", "train-uid", true);
  ASSERT_EQ(rig.prepare(look).state, ClaimStep::State::Done);
  ASSERT_EQ(rig.unprepare(before).state, ClaimStep::State::Done);
  rig.write_list({}, false, 1);
  rig.pass(minutes(1));
  const core::ClaimRef claim = rig.make_claim("b", "other-uid");
  rig.write_list({claim.uid}, true, 1, "other-uid");
  rig.pass(seconds(1));
  ASSERT_EQ(rig.prepare(claim).state, ClaimStep::State::Done);
  EXPECT_EQ(rig.prepare(look).state, ClaimStep::State::Done);
}

TEST(NodeAgent, TriesAgainWhenTheDaemonCannotBeStarted) {
  Rig rig;
  rig.settle();
  const core::ClaimRef claim = rig.make_claim("a");
  rig.write_list({claim.uid});
  rig.imex.daemon.running = true;  // somebody else's, of which the supervisor tells nothing
  rig.imex.daemon.group = "";
  rig.agent->prepare(claim);
  rig.settle();
  EXPECT_EQ(rig.imex.starts, 0);
  rig.imex.daemon.running = false;
  rig.pass(seconds(3));
  EXPECT_EQ(rig.prepare(claim).state, ClaimStep::State::Done);
}

TEST(NodeAgent, ReportsADaemonThatCannotBeStartedAsFailed) {
  Rig rig;
  rig.settle();
  const core::ClaimRef claim = rig.make_claim("a");
  rig.write_list({claim.uid});
  rig.imex.start_error = base::Error{base::ErrorKind::Unavailable, "nvidia-imex: no such file"};
  rig.agent->prepare(claim);
  rig.pass(seconds(1));
  ASSERT_EQ(rig.report().groups.size(), 1U);
  EXPECT_EQ(rig.report().groups.front().state, api::DaemonState::Failed);
  EXPECT_THAT(rig.report().groups.front().message, HasSubstr("nvidia-imex: no such file"));
  rig.imex.start_error.reset();
  rig.pass(seconds(5));
  EXPECT_EQ(rig.prepare(claim).state, ClaimStep::State::Done);
}

TEST(NodeAgent, ReportsNoFaultThatIsOverAndSendsNoReportForNothing) {
  Rig rig;
  rig.settle();
  const core::ClaimRef claim = rig.make_claim("a");
  rig.write_list({claim.uid});
  ASSERT_EQ(rig.prepare(claim).state, ClaimStep::State::Done);
  rig.imex.die("killed");
  rig.settle();
  EXPECT_THAT(rig.report().summary.message, HasSubstr("killed"));
  rig.pass(seconds(1));
  const int before = rig.wire.writes;
  rig.imex.become_ready();
  rig.pass(seconds(30));
  EXPECT_EQ(rig.wire.writes, before + 1);
  EXPECT_EQ(rig.report().groups.at(0).state, api::DaemonState::Ready);
  EXPECT_EQ(rig.report().summary.message, "");
}

TEST(NodeAgent, CountsNoRestartOfADaemonThatItHadStopped) {
  base::Registry metrics;
  Rig rig;
  rig.metrics = &metrics;
  rig.start_agent();
  rig.settle();
  for (const char* name : {"first", "second"}) {
    const core::ClaimRef claim = rig.make_claim(name);
    rig.write_list({claim.uid});
    ASSERT_EQ(rig.prepare(claim).state, ClaimStep::State::Done);
    ASSERT_EQ(rig.unprepare(claim).state, ClaimStep::State::Done);
    ASSERT_FALSE(rig.imex.daemon.running);
  }
  EXPECT_THAT(metrics.render(), HasSubstr("compute_domain_agent_imex_restarts_total 0"));
}

TEST(NodeAgent, CountsWhatItDoes) {
  base::Registry metrics;
  Rig rig;
  rig.metrics = &metrics;
  rig.start_agent();
  rig.settle();
  const core::ClaimRef claim = rig.make_claim("a");
  rig.write_list({claim.uid});
  ASSERT_EQ(rig.prepare(claim).state, ClaimStep::State::Done);
  rig.imex.die("killed");
  rig.pass(seconds(1));
  rig.imex.become_ready();
  rig.settle();
  const core::ClaimRef stranger = rig.make_claim("b", "other-uid");
  rig.agent->prepare(stranger);
  rig.pass(seconds(5));
  ASSERT_EQ(rig.agent->prepare(stranger).state, ClaimStep::State::Failed);

  const std::string text = metrics.render();
  for (
      const char* line :
      {R"(compute_domain_agent_prepares_total{outcome="Prepared"} 1)",
       R"(compute_domain_agent_prepares_total{outcome="Failed"} 1)",
       R"(compute_domain_agent_prepare_seconds_bucket{outcome="Failed",le="2.5"} 0)",
       R"(compute_domain_agent_prepare_seconds_bucket{outcome="Failed",le="10"} 1)",
       R"(compute_domain_agent_imex_state{state="Ready"} 1)",
       R"(compute_domain_agent_imex_state{state="Failed"} 0)",
       "compute_domain_agent_imex_restarts_total 1",
       // As a dashboard of NVIDIA's DRA driver asks for them.
       R"(nvidia_dra_requests_total{driver="compute-domain.nvidia.com",operation="prepare"} 2)",
       R"(nvidia_dra_request_duration_seconds_count{driver="compute-domain.nvidia.com",operation="prepare"} 2)",
       R"(nvidia_dra_node_prepare_errors_total{driver="compute-domain.nvidia.com",error_type="prepare_devices"} 1)",
       R"(nvidia_dra_requests_inflight{driver="compute-domain.nvidia.com",operation="prepare"} 0)",
       R"(nvidia_dra_prepared_devices{device_type="channel",driver="compute-domain.nvidia.com",node="n00"} 1)"}) {
    EXPECT_THAT(text, HasSubstr(line));
  }
}

// What no plan answers: the calls that the mailbox ends.
TEST(NodeAgent, CountsCallsThatEndWithoutAnAnswer) {
  base::Registry metrics;
  Rig rig;
  rig.metrics = &metrics;
  rig.start_agent();
  rig.settle();
  const core::ClaimRef claim = rig.make_claim("a");
  rig.write_list({claim.uid});
  ASSERT_EQ(rig.prepare(claim).state, ClaimStep::State::Done);
  rig.checkpoints.error = base::Error{base::ErrorKind::Unavailable, "no space left on device"};
  rig.agent->unprepare(claim);
  rig.agent->prepare(rig.make_claim("b"));
  rig.pass(seconds(50));
  const std::string text = metrics.render();
  for (
      const char* line :
      {R"(compute_domain_agent_prepares_total{outcome="Prepared"} 1)",
       R"(compute_domain_agent_prepares_total{outcome="Failed"} 1)",
       "compute_domain_agent_unprepares_total 1",
       R"(nvidia_dra_requests_total{driver="compute-domain.nvidia.com",operation="prepare"} 2)",
       R"(nvidia_dra_requests_total{driver="compute-domain.nvidia.com",operation="unprepare"} 1)",
       R"(nvidia_dra_node_prepare_errors_total{driver="compute-domain.nvidia.com",error_type="prepare_devices"} 1)",
       R"(nvidia_dra_node_unprepare_errors_total{driver="compute-domain.nvidia.com",error_type="unprepare_devices"} 1)"}) {
    EXPECT_THAT(text, HasSubstr(line));
  }
}

// Else a rate would not see the first one.
TEST(NodeAgent, CountsFromZero) {
  base::Registry metrics;
  Rig rig;
  rig.metrics = &metrics;
  rig.start_agent();
  const std::string text = metrics.render();
  for (
      const char* line :
      {"compute_domain_agent_imex_restarts_total 0\n",
       "compute_domain_agent_prepares_total{outcome=\"Prepared\"} 0\n",
       "compute_domain_agent_prepares_total{outcome=\"Failed\"} 0\n",
       "compute_domain_agent_prepares_total{outcome=\"Refused\"} 0\n",
       "compute_domain_agent_prepare_seconds_count{outcome=\"Prepared\"} 0\n",
       "compute_domain_agent_unprepares_total 0\n",
       R"(nvidia_dra_requests_total{driver="compute-domain.nvidia.com",operation="prepare"} 0)",
       R"(nvidia_dra_requests_total{driver="compute-domain.nvidia.com",operation="unprepare"} 0)",
       R"(nvidia_dra_request_duration_seconds_count{driver="compute-domain.nvidia.com",operation="prepare"} 0)",
       R"(nvidia_dra_request_duration_seconds_count{driver="compute-domain.nvidia.com",operation="unprepare"} 0)",
       R"(nvidia_dra_node_unprepare_errors_total{driver="compute-domain.nvidia.com",error_type="unprepare_devices"} 0)"}) {
    EXPECT_THAT(text, HasSubstr(line));
  }
}

TEST(NodeAgent, AClaimThatCannotBeInjectedStopsNoOther) {
  Rig rig;
  rig.settle();
  const core::ClaimRef broken = rig.make_claim("broken"), well = rig.make_claim("well");
  rig.channels.errors.emplace(broken.uid,
                              base::Error{base::ErrorKind::Unavailable, "no space left"});
  rig.write_list({broken.uid, well.uid});
  rig.agent->prepare(broken);
  EXPECT_EQ(rig.prepare(well).state, ClaimStep::State::Done);
  rig.pass(seconds(6));
  const ClaimStep waiting = rig.agent->prepare(broken);
  EXPECT_EQ(waiting.state, ClaimStep::State::Waiting);
  EXPECT_EQ(waiting.reason,
            "cannot inject 1 channel from 0 for claim team-a/broken: no space left");
  const api::ComputeDomainNodeReport report = rig.report();
  EXPECT_THAT(report.groups.at(0).claims, ElementsAre(well.uid));
  EXPECT_THAT(report.pending_claims, ElementsAre(api::PendingClaim{broken.uid, waiting.reason}));

  EXPECT_EQ(rig.unprepare(well).state, ClaimStep::State::Done);
  rig.channels.errors.clear();
  rig.pass(seconds(3));
  EXPECT_EQ(rig.prepare(broken).state, ClaimStep::State::Done);
  rig.pass(seconds(3));
  EXPECT_THAT(rig.report().pending_claims, IsEmpty());
}

TEST(NodeAgent, ARefusalIsReportedUntilKubeletHasTheClaimOrLetsItGo) {
  Rig rig;
  rig.settle();
  const core::ClaimRef stranger = rig.make_claim("a", "other-uid");
  rig.agent->prepare(stranger);
  rig.pass(seconds(6));
  ASSERT_EQ(rig.agent->prepare(stranger).state, ClaimStep::State::Failed);
  rig.pass(minutes(1));
  ASSERT_THAT(rig.report().pending_claims, SizeIs(1));
  EXPECT_THAT(rig.report().pending_claims[0].message, HasSubstr("there is no ComputeDomain"));

  EXPECT_EQ(rig.unprepare(stranger).state, ClaimStep::State::Done);
  rig.pass(seconds(2));
  EXPECT_THAT(rig.report().pending_claims, IsEmpty());
}

TEST(NodeAgent, ANodeThatCannotInjectOffersNothing) {
  Rig rig;
  rig.channels.lack = base::Error{base::ErrorKind::Unavailable, "the kernel has no IMEX channels"};
  rig.start_agent();
  rig.settle();
  ASSERT_THAT(rig.slices(), SizeIs(1));
  EXPECT_THAT(rig.slices()[0].devices, IsEmpty());
  const api::ComputeDomainNodeReport report = rig.report();
  const auto* can_serve = api::find_condition(report.conditions, api::kConditionCanServe);
  ASSERT_NE(can_serve, nullptr);
  EXPECT_EQ(can_serve->message, "the kernel has no IMEX channels");

  rig.channels.lack.reset();
  rig.pass(seconds(2));
  EXPECT_THAT(rig.slices()[0].devices, SizeIs(1));
}

// A claim that gets a channel which the driver lacks could not be injected.
TEST(NodeAgent, ANodeWithFewerChannelsThanADomainMayGetOffersNothing) {
  Rig rig;
  rig.node_settings = {.isolation = api::Isolation::Channel, .seats = 4, .channels = 1024};
  rig.channels.number = 256;
  rig.start_agent();
  rig.settle();
  ASSERT_THAT(rig.slices(), SizeIs(1));
  EXPECT_THAT(rig.slices()[0].devices, IsEmpty());
  const api::ComputeDomainNodeReport report = rig.report();
  const auto* can_serve = api::find_condition(report.conditions, api::kConditionCanServe);
  ASSERT_NE(can_serve, nullptr);
  EXPECT_EQ(can_serve->reason, "TooFewImexChannels");

  rig.channels.number = 1024;
  rig.pass(seconds(2));
  EXPECT_THAT(rig.slices()[0].devices, SizeIs(4));
}

// Nothing could be prepared there; what is prepared stays.
TEST(NodeAgent, ANodeWhoseImexSupervisorIsSilentOffersNothingAfterAWhile) {
  Rig rig;
  rig.settle();
  rig.imex.error = base::Error{base::ErrorKind::Unavailable, "does its pod run on this node?"};
  rig.pass(seconds(8));
  EXPECT_THAT(rig.slices()[0].devices, SizeIs(1)) << "a pod may be replaced";
  rig.pass(seconds(4));
  EXPECT_THAT(rig.slices()[0].devices, IsEmpty());
  const api::ComputeDomainNodeReport report = rig.report();
  const auto* can_serve = api::find_condition(report.conditions, api::kConditionCanServe);
  ASSERT_NE(can_serve, nullptr);
  EXPECT_EQ(can_serve->reason, "ImexSupervisorSilent");
  EXPECT_EQ(can_serve->message, "does its pod run on this node?");

  rig.imex.error.reset();
  rig.pass(seconds(2));
  EXPECT_THAT(rig.slices()[0].devices, SizeIs(1));
}

TEST(NodeAgent, ANodeWhoseImexSupervisorCannotStartADaemonOffersNothing) {
  Rig rig;
  rig.imex.daemon.cannot_start = "no nvidia-imex below the driver root /";
  rig.settle();
  EXPECT_THAT(rig.slices().at(0).devices, IsEmpty());
  const api::ComputeDomainNodeReport report = rig.report();
  for (const char* type : {api::kConditionCanServe, core::kFaultImex}) {
    const auto* condition = api::find_condition(report.conditions, type);
    ASSERT_NE(condition, nullptr) << type;
    EXPECT_EQ(condition->status, api::ConditionStatus::False) << type;
    EXPECT_EQ(condition->reason, "ImexCannotStart") << type;
    EXPECT_EQ(condition->message, "no nvidia-imex below the driver root /") << type;
  }

  rig.imex.daemon.cannot_start = "";
  rig.pass(seconds(2));
  EXPECT_THAT(rig.slices().at(0).devices, SizeIs(1));
}

using Lacks = std::vector<base::NodeLack>;

std::string reason_of(Rig& rig, const char* type) {
  const api::ComputeDomainNodeReport report = rig.report();
  const auto* condition = api::find_condition(report.conditions, type);
  return condition == nullptr ? "" : condition->reason;
}

TEST(NodeAgent, ANodeThatLacksSomethingSaysSoAndOffersNothingWherePodsWouldFail) {
  Rig rig;
  rig.imex.daemon.lacks = Lacks{{"NoPersistence", "start nvidia-persistenced"}};
  rig.settle();
  EXPECT_THAT(rig.slices().at(0).devices, SizeIs(1));
  EXPECT_EQ(reason_of(rig, "Persistence"), "NoPersistence");
  EXPECT_EQ(reason_of(rig, api::kConditionCanServe), "RequirementsMet");

  rig.imex.daemon.lacks = Lacks{{"OtherPlugin", "2 plugins listen"}};
  rig.pass(seconds(2));
  EXPECT_THAT(rig.slices().at(0).devices, IsEmpty());
  EXPECT_EQ(reason_of(rig, "KubeletPlugin"), "OtherPlugin");
  EXPECT_EQ(reason_of(rig, api::kConditionCanServe), "OtherPlugin");
  EXPECT_EQ(reason_of(rig, "Persistence"), "");

  rig.imex.daemon.lacks = Lacks{{"NoCoffee", "of a later version", "Coffee", true}};
  rig.pass(seconds(2));
  EXPECT_THAT(rig.slices().at(0).devices, IsEmpty());
  EXPECT_EQ(reason_of(rig, "Imex"), "ImexCannotStart");
  EXPECT_EQ(reason_of(rig, api::kConditionCanServe), "ImexCannotStart");

  rig.imex.daemon.lacks = Lacks{};
  rig.pass(seconds(2));
  EXPECT_THAT(rig.slices().at(0).devices, SizeIs(1));
}

// Its pod is replaced: a seat that is offered meanwhile would be of a node where pods fail.
TEST(NodeAgent, WhatTheSupervisorHasToldHoldsUntilItsSuccessorHasLooked) {
  for (const bool cannot_start : {true, false}) {
    Rig rig;
    if (cannot_start) rig.imex.daemon.cannot_start = "another IMEX daemon runs on this node";
    if (!cannot_start) rig.imex.daemon.lacks = Lacks{{"OtherPlugin", "2 plugins listen"}};
    rig.settle();
    EXPECT_THAT(rig.slices().at(0).devices, IsEmpty());
    rig.imex.error = base::Error{base::ErrorKind::Unavailable, "does its pod run on this node?"};
    rig.pass(seconds(2));
    EXPECT_THAT(rig.slices().at(0).devices, IsEmpty());
    rig.imex.error.reset();
    rig.imex.daemon.lacks.reset();
    rig.pass(seconds(2));
    EXPECT_THAT(rig.slices().at(0).devices, IsEmpty());
    rig.imex.daemon.cannot_start.clear();
    rig.imex.daemon.lacks = Lacks{};
    rig.pass(seconds(2));
    EXPECT_THAT(rig.slices().at(0).devices, SizeIs(1));
  }
}

// However long it was away, as with an image that is pulled for minutes.
TEST(NodeAgent, WhatTheSupervisorHasToldHoldsAlsoUntilALateSuccessorHasLooked) {
  for (const bool looks : {false, true}) {
    Rig rig;
    rig.imex.daemon.lacks = Lacks{{"OtherPlugin", "2 plugins listen"}};
    rig.settle();
    for (int times = 0; times < 3; ++times) {
      rig.imex.error = base::Error{base::ErrorKind::Unavailable, "does its pod run on this node?"};
      rig.pass(seconds(70));
      rig.imex.error.reset();
      rig.imex.daemon.lacks.reset();
      rig.imex.daemon.looks = looks;
      rig.pass(seconds(30));
      EXPECT_THAT(rig.slices().at(0).devices, IsEmpty()) << times;
    }
    rig.pass(seconds(100));
    EXPECT_THAT(rig.slices().at(0).devices, SizeIs(looks ? 0 : 1)) << "its look may hang";
    rig.imex.daemon.lacks = Lacks{};
    rig.pass(seconds(2));
    EXPECT_THAT(rig.slices().at(0).devices, SizeIs(1));
  }
}

TEST(NodeAgent, OfASupervisorThatNeverLooksNothingHoldsForLong) {
  Rig rig;
  rig.imex.daemon.lacks = Lacks{{"OtherPlugin", "2 plugins listen"}};
  rig.settle();
  rig.imex.daemon.lacks.reset();
  rig.pass(seconds(30));
  EXPECT_THAT(rig.slices().at(0).devices, IsEmpty());
  rig.pass(seconds(40));
  EXPECT_THAT(rig.slices().at(0).devices, SizeIs(1));
}

// The controller removes what is reported of a Node that is gone.
// As the controller writes it, whom the agent need not ask.
TEST(NodeAgent, LetsGoOfTheDriverWhenItsComputeDomainNodeSaysSo) {
  Rig rig;
  rig.settle();
  const auto say = [&](std::optional<std::string> pause) {
    const auto done = rig.admin.patch<api::ComputeDomainNode>(
        {"", kNode}, "", api::metadata_patch({}, {}, {{api::kPauseAnnotation, std::move(pause)}}));
    ASSERT_TRUE(done) << done.error().message;
    rig.settle();
  };
  const auto reason = [&] {
    return api::find_condition(rig.report().conditions, "CanServe")->reason;
  };
  say("driver nvidia.com/gpu.deploy.dcgm=paused-for-driver-upgrade");
  EXPECT_EQ(rig.imex.daemon.driver_paused, true);
  EXPECT_EQ(reason(), "DriverPaused");
  EXPECT_THAT(rig.slices().front().devices, IsEmpty());
  rig.start_agent();
  rig.settle();
  EXPECT_EQ(rig.imex.daemon.driver_paused, true);
  say(std::nullopt);
  EXPECT_EQ(rig.imex.daemon.driver_paused, false);
  EXPECT_EQ(reason(), "RequirementsMet");
  EXPECT_THAT(rig.slices().front().devices, SizeIs(1));
}

TEST(NodeAgent, MakesNoReportOfANodeThatIsGone) {
  Rig rig;
  rig.settle();
  const auto node = rig.admin.get<api::Node>({"", kNode});
  ASSERT_TRUE(node);
  ASSERT_TRUE(rig.admin.remove<api::Node>({"", kNode}, {node->meta.uid, ""}));
  const auto report = rig.admin.get<api::ComputeDomainNode>({"", kNode});
  ASSERT_TRUE(report);
  ASSERT_TRUE(rig.admin.remove<api::ComputeDomainNode>({"", kNode}, {report->meta.uid, ""}));
  rig.pass(seconds(60));
  EXPECT_FALSE(rig.admin.get<api::ComputeDomainNode>({"", kNode}));

  ASSERT_TRUE(rig.server.load("apiVersion: v1\nkind: Node\nmetadata: {name: n00}\n"));
  rig.pass(seconds(60));
  EXPECT_TRUE(rig.admin.get<api::ComputeDomainNode>({"", kNode}));
}

TEST(NodeAgent, UnpreparesThoughTheImexSupervisorHasEndedForGood) {
  Rig rig;
  rig.settle();
  const core::ClaimRef claim = rig.make_claim("a");
  rig.write_list({claim.uid});
  ASSERT_EQ(rig.prepare(claim).state, ClaimStep::State::Done);
  rig.imex.error = base::Error{base::ErrorKind::NotFound, "compute-domain-imex has ended"};
  EXPECT_EQ(rig.unprepare(claim).state, ClaimStep::State::Done);
  EXPECT_EQ(rig.imex.stops, 1) << "its successor is not to start the daemon again";
}

TEST(NodeAgent, FindsTheClaimsOfALostCheckpointInTheirFiles) {
  Rig rig;
  rig.settle();
  const core::ClaimRef claim = rig.make_claim("a");
  rig.write_list({claim.uid});
  ASSERT_EQ(rig.prepare(claim).state, ClaimStep::State::Done);
  rig.kubelet.held = {claim};
  const auto node = rig.admin.get<api::ComputeDomainNode>({"", kNode});
  ASSERT_TRUE(node);
  ASSERT_TRUE(rig.admin.remove<api::ComputeDomainNode>({"", kNode}, {node->meta.uid, ""}));
  rig.checkpoints.text.reset();
  rig.start_agent();
  rig.pass(seconds(10));
  EXPECT_THAT(rig.report().groups.at(0).claims, ElementsAre(claim.uid));

  EXPECT_EQ(rig.unprepare(claim).state, ClaimStep::State::Done);
  EXPECT_FALSE(rig.imex.daemon.running);
}

// The pod has ended, and its file is gone; kubelet asks no more.
TEST(NodeAgent, EndsAClaimOfALostCheckpointThatOnlyItsReportNames) {
  for (const bool has_file : {false, true}) {
    for (const bool is_known : {false, true}) {
      Rig rig;
      rig.settle();
      const core::ClaimRef claim = rig.make_claim("a");
      rig.write_list({claim.uid});
      ASSERT_EQ(rig.prepare(claim).state, ClaimStep::State::Done);
      rig.pass(minutes(1));
      rig.checkpoints.text.reset();
      rig.channels.channels.clear();
      rig.kubelet.held = {claim};
      rig.write_list({}, /*member=*/false);
      rig.start_agent();
      rig.settle();
      if (has_file) rig.channels.channels[claim.uid] = {0, 1};
      if (!is_known) rig.kubelet.held.clear();
      for (int minute = 0; minute < 9; ++minute) rig.pass(minutes(1));
      EXPECT_TRUE(rig.imex.daemon.running);
      for (int minute = 0; minute < 3; ++minute) rig.pass(minutes(1));
      EXPECT_EQ(rig.imex.daemon.running, has_file || is_known);
    }
  }
}

TEST(NodeAgent, RemovesTheFileOfAClaimThatItDoesNotKnow) {
  Rig rig;
  rig.settle();
  const core::ClaimRef claim{"team-a", "lost", "lost-uid"};
  rig.channels.channels[claim.uid] = {0, 1};
  rig.channels.errors.emplace(claim.uid, base::Error{base::ErrorKind::Unavailable, "read-only"});
  rig.agent->unprepare(claim);
  rig.settle();
  const ClaimStep waiting = rig.agent->unprepare(claim);
  EXPECT_EQ(waiting.state, ClaimStep::State::Waiting);
  EXPECT_THAT(waiting.reason, HasSubstr("read-only"));
  rig.channels.errors.clear();
  rig.pass(seconds(3));
  EXPECT_EQ(rig.unprepare(claim).state, ClaimStep::State::Done);
  EXPECT_THAT(rig.channels.channels, IsEmpty());
}

TEST(NodeAgent, TellsAFabricThatCannotBeReadInLogAndReport) {
  Rig rig;
  rig.fabric.reading = {std::nullopt, "NVML: driver not loaded"};
  rig.start_agent();
  testing::internal::CaptureStderr();
  rig.settle();
  rig.pass(minutes(1));
  const std::string log = testing::internal::GetCapturedStderr();
  EXPECT_EQ(rig.report().fabric_error, "NVML: driver not loaded");
  const std::size_t first = log.find("NVML: driver not loaded");
  ASSERT_NE(first, std::string::npos) << log;
  EXPECT_EQ(log.find("NVML: driver not loaded", first + 1), std::string::npos) << "told once";

  rig.fabric.reading = {kClique, ""};
  rig.settle();
  EXPECT_EQ(rig.report().clique, kClique);
  EXPECT_EQ(rig.report().fabric_error, "");
}

// Destroys the agent after each number of steps of a whole life of a claim.
TEST(NodeAgent, LeavesNoCheckpointThatNobodyNeeds) {
  Rig rig;
  rig.settle();
  const core::ClaimRef claim = rig.make_claim("a");
  rig.write_list({claim.uid});
  ASSERT_EQ(rig.prepare(claim).state, ClaimStep::State::Done);
  rig.agent->leave();
  EXPECT_TRUE(rig.checkpoints.text) << "the next agent has a claim to look after";

  rig.start_agent();
  ASSERT_EQ(rig.unprepare(claim).state, ClaimStep::State::Done);
  rig.pass(seconds(10));
  rig.agent->leave();
  EXPECT_TRUE(rig.checkpoints.text) << "a list still keeps its slot until it says stopped";

  rig.start_agent();
  const api::ObjectName list{kNamespace, core::node_list_name(Rig::group())};
  const auto there = rig.admin.get<api::ConfigMap>(list);
  ASSERT_TRUE(there && rig.admin.remove<api::ConfigMap>(list, {there->meta.uid, ""}));
  rig.pass(seconds(10));
  rig.checkpoints.is_shared = true;
  rig.agent->leave();
  EXPECT_TRUE(rig.checkpoints.text) << "another agent is there";
  rig.checkpoints.is_shared = false;
  rig.agent->leave();
  EXPECT_FALSE(rig.checkpoints.text);

  rig.start_agent();
  rig.pass(seconds(10));
  EXPECT_EQ(rig.report().clique, kClique);
}

TEST(NodeAgent, MayCrashAfterAnyStep) {
  for (int crash = 1; crash <= 60; ++crash) {
    SCOPED_TRACE(crash);
    Rig rig;
    rig.settle();
    const core::ClaimRef claim = rig.make_claim("a");
    rig.write_list({claim.uid});
    int steps = 0;
    const auto live = [&](auto ask) {
      for (int i = 0; i < 400; ++i) {
        if (ask().state == ClaimStep::State::Done) return true;
        if (++steps == crash) rig.start_agent();
        if (!rig.agent->step()) {
          if (rig.imex.daemon.running && !rig.imex.daemon.answers) rig.imex.become_ready();
          rig.clock.advance(std::chrono::milliseconds(50));
        }
      }
      return false;
    };
    ASSERT_TRUE(live([&] { return rig.agent->prepare(claim); }));
    EXPECT_TRUE(rig.imex.daemon.running);
    EXPECT_TRUE(rig.channels.channels.contains(claim.uid));
    ASSERT_TRUE(live([&] { return rig.agent->unprepare(claim); }));
    EXPECT_FALSE(rig.imex.daemon.running);
    rig.pass(seconds(10));
    EXPECT_EQ(rig.imex.starts, 1);
    EXPECT_EQ(rig.report().groups.at(0).state, api::DaemonState::Stopped);
  }
}

TEST(NodeAgent, ComesToRestWhereAnOlderDefinitionCutsItsReport) {
  Rig rig;
  const std::string definition = source_text("crds/computedomainnodes.yaml");
  const auto loaded =
      rig.server.load(definition.substr(0, definition.find("              conditions:\n")));
  ASSERT_TRUE(loaded) << loaded.error().message;
  rig.settle();
  const int writes = rig.wire.writes;
  rig.pass(minutes(10));
  EXPECT_EQ(rig.wire.writes, writes);

  // What is stored meanwhile ends that: the same report is news again.
  const std::string address = rig.report().address;
  rig.imex.daemon.address = "10.7.7.7";
  rig.settle();
  rig.imex.daemon.address = address;
  rig.settle();
  EXPECT_EQ(rig.report().address, address);
}

// With an agent of 0.1 in between, which told of the loss; the API server answers after the
// supervisor.
TEST(NodeAgent, TellsOfNoLossAgainThatAnotherAgentHasTold) {
  Rig rig;
  rig.settle();
  const core::ClaimRef claim = rig.make_claim("a");
  rig.write_list({claim.uid});
  ASSERT_EQ(rig.prepare(claim).state, ClaimStep::State::Done);
  rig.pass(minutes(1));
  rig.agent.reset();
  rig.imex.daemon.instance = "another";
  const api::DaemonFailure told{std::chrono::floor<seconds>(rig.clock.now()),
                                base::cat("killed; ", core::kMemoryLost)};
  auto stored = *rig.admin.get<api::ComputeDomainNode>({"", kNode});
  api::ImexGroupReport& said = stored.status.groups.at(0);
  said.instance = "another";
  said.restarts = 1;
  said.last_failure = told;
  ASSERT_TRUE(rig.admin.patch<api::ComputeDomainNode>(
      {"", kNode}, "status",
      api::status_patch({stored.meta.uid, stored.meta.resource_version}, stored.status)));
  rig.clock.advance(minutes(10));
  rig.wire.is_cut = true;
  rig.start_agent();
  rig.settle();
  rig.wire.is_cut = false;
  rig.pass(seconds(2));
  EXPECT_EQ(rig.report().groups.at(0).last_loss, told);
}

}  // namespace
}  // namespace cdom::agent
