#include "compute_domain/agent/running_pods.h"

#include <limits>

#include "agent/rig.h"

namespace cdom::agent {
namespace {

using std::chrono::seconds;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::Key;

class RunningPodsTest : public testing::Test {
 protected:
  static core::RunningPod pod(const std::string& uid, std::int64_t grace_seconds = 60) {
    return {.ns = "team-a", .name = uid, .uid = uid, .claims = {}, .grace_seconds = grace_seconds};
  }
  void name_all(const std::vector<std::string>& uids) {
    pods_.begin_watch();
    for (const std::string& uid : uids) pods_.add(pod(uid));
    pods_.complete_watch();
  }

  base::ManualClock clock_;
  int ended_ = 0;
  RunningPods pods_{clock_, [this] { ++ended_; }};
};

TEST_F(RunningPodsTest, AreThoseThatKubeletNamesUntilItSaysThatTheyHaveEnded) {
  name_all({"a", "b"});
  EXPECT_THAT(pods_.all(), ElementsAre(Key("a"), Key("b")));
  const std::uint64_t before = pods_.revision();
  pods_.remove("a");
  EXPECT_THAT(pods_.all(), ElementsAre(Key("b")));
  EXPECT_EQ(pods_.revision(), before + 1);
  EXPECT_EQ(ended_, 1);
  pods_.remove("a");
  EXPECT_EQ(ended_, 1) << "one that is not there";
}

// A kubelet that has started again does not know those that were deleted by force before.
TEST_F(RunningPodsTest, AreKeptForTheirGracePeriodWhenAnotherWatchDoesNotNameThem) {
  name_all({"a", "b"});
  clock_.advance(seconds(1000));
  name_all({"b"});
  clock_.advance(seconds(60) + kPodEndMargin - seconds(1));
  EXPECT_THAT(pods_.all(), ElementsAre(Key("a"), Key("b")));
  const std::uint64_t before = pods_.revision();
  clock_.advance(seconds(1));
  EXPECT_THAT(pods_.all(), ElementsAre(Key("b")));
  EXPECT_EQ(pods_.revision(), before + 1);
}

TEST_F(RunningPodsTest, WatchesThatEndAgainAndAgainDoNotKeepAPodForEver) {
  name_all({"a"});
  for (int i = 0; i < 30; ++i) {
    name_all({});
    clock_.advance(seconds(4));
  }
  EXPECT_THAT(pods_.all(), IsEmpty());
}

TEST_F(RunningPodsTest, OneThatIsNamedAgainIsThere) {
  name_all({"a"});
  name_all({});
  pods_.add(pod("a"));
  clock_.advance(seconds(1000));
  EXPECT_THAT(pods_.all(), ElementsAre(Key("a")));
}

// For one of a node whose labels have changed. Kubelet names it in each watch for as long as
// somebody keeps the pod's object.
TEST_F(RunningPodsTest, OneThatIsRejectedIsKeptForItsGracePeriod) {
  name_all({"a"});
  for (int i = 0; i < 3; ++i) {
    pods_.begin_watch();
    pods_.add_rejected(pod("a"));
    pods_.complete_watch();
    EXPECT_THAT(pods_.all(), ElementsAre(Key("a")));
    clock_.advance(seconds(20));
  }
  clock_.advance(kPodEndMargin - seconds(1));
  EXPECT_THAT(pods_.all(), ElementsAre(Key("a")));
  clock_.advance(seconds(1));
  EXPECT_THAT(pods_.all(), IsEmpty());
}

TEST_F(RunningPodsTest, AWatchThatBreaksOffBeforeItHasNamedAllSaysNothingOfTheOthers) {
  name_all({"a"});
  pods_.begin_watch();
  clock_.advance(seconds(1000));
  EXPECT_THAT(pods_.all(), ElementsAre(Key("a")));
}

// A kubelet that has been replaced by one without this API, for example.
TEST_F(RunningPodsTest, AreKeptForTheirGracePeriodWhenNobodyTellsOfThemAnyMore) {
  name_all({"a", "b"});
  pods_.end_watch();
  clock_.advance(seconds(50));
  pods_.begin_watch();
  pods_.add(pod("b"));
  clock_.advance(seconds(10) + kPodEndMargin);
  EXPECT_THAT(pods_.all(), ElementsAre(Key("b")));
}

TEST_F(RunningPodsTest, AreNotKeptForAsLongAsATenantLikes) {
  for (const std::int64_t grace : {std::numeric_limits<std::int64_t>::max(), std::int64_t{1} << 40,
                                   std::numeric_limits<std::int64_t>::min()}) {
    pods_.add(pod("a", grace));
    pods_.end_watch();
    clock_.advance(seconds(kLongestGraceSeconds) + kPodEndMargin);
    EXPECT_THAT(pods_.all(), IsEmpty()) << grace;
  }
}

TEST_F(RunningPodsTest, OneThatAnotherProcessHasSeenIsExpectedForItsGracePeriod) {
  pods_.expect("a", 10);
  EXPECT_THAT(pods_.all(), ElementsAre(Key("a")));
  clock_.advance(seconds(10) + kPodEndMargin);
  EXPECT_THAT(pods_.all(), IsEmpty());

  name_all({"b"});
  pods_.expect("b", 0);
  clock_.advance(seconds(1000));
  EXPECT_THAT(pods_.all(), ElementsAre(Key("b"))) << "kubelet itself names it";
}

// During an update the older agent may write of a pod whose end the newer one has heard of.
TEST_F(RunningPodsTest, OneThatHasLeftIsNotExpected) {
  name_all({"a"});
  pods_.remove("a");
  pods_.expect("a", 30);
  EXPECT_THAT(pods_.all(), IsEmpty());
}

TEST_F(RunningPodsTest, OneThatHadAClaimBeforeIsExpectedUntilKubeletsPodsAreKnown) {
  pods_.expect_if_watched("a");
  pods_.expect_if_watched("b");
  EXPECT_THAT(pods_.all(), ElementsAre(Key("a"), Key("b")));
  clock_.advance(kUntilWatched - seconds(1));
  name_all({"b"});
  EXPECT_THAT(pods_.all(), ElementsAre(Key("a"), Key("b")));
  clock_.advance(kPodEndMargin - seconds(1));
  EXPECT_THAT(pods_.all(), ElementsAre(Key("a"), Key("b")));
  clock_.advance(seconds(1));
  EXPECT_THAT(pods_.all(), ElementsAre(Key("b")));
}

TEST_F(RunningPodsTest, OneThatHadAClaimBeforeCountsOnceTheyAreKnown) {
  name_all({"b"});
  pods_.expect_if_watched("a");
  EXPECT_THAT(pods_.all(), ElementsAre(Key("a"), Key("b")));
  clock_.advance(kPodEndMargin);
  EXPECT_THAT(pods_.all(), ElementsAre(Key("b")));
}

TEST_F(RunningPodsTest, NobodyIsExpectedOfAKubeletWithoutTheApi) {
  pods_.expect_if_watched("a");
  const std::uint64_t before = pods_.revision();
  pods_.there_is_no_watch();
  pods_.there_is_no_watch();
  EXPECT_THAT(pods_.all(), IsEmpty());
  EXPECT_EQ(pods_.revision(), before + 1);
  EXPECT_EQ(ended_, 1);
  pods_.expect_if_watched("b");
  EXPECT_THAT(pods_.all(), IsEmpty());
  name_all({});
  EXPECT_THAT(pods_.all(), ElementsAre(Key("a"), Key("b"))) << "it has one now";
}

// As of a socket that a kubelet of before has left.
TEST_F(RunningPodsTest, NobodyIsExpectedForLongOfAKubeletThatDoesNotAnswer) {
  pods_.expect_if_watched("a");
  const std::uint64_t before = pods_.revision();
  for (int i = 0; i < 6; ++i) {
    pods_.begin_watch();
    pods_.end_watch();
    EXPECT_THAT(pods_.all(), ElementsAre(Key("a")));
    clock_.advance(seconds(10));
  }
  EXPECT_THAT(pods_.all(), IsEmpty());
  EXPECT_EQ(pods_.revision(), before + 1);
}

// The whole agent, and kubelet's PodsAPI as RunningPods has it.
class ForceDeletion : public testing::Test {
 protected:
  ForceDeletion() {
    rig_.pods = std::make_unique<RunningPods>(rig_.clock, [] {});
    rig_.pods->add(
        {.ns = "team-a", .name = "p", .uid = "p-uid", .claims = {}, .grace_seconds = 30});
    rig_.start_agent();
    rig_.settle();
    claim_ = rig_.make_claim("a");
    rig_.write_list({claim_.uid});
    EXPECT_EQ(rig_.prepare(claim_).state, ClaimStep::State::Done);
  }

  Rig rig_;
  core::ClaimRef claim_;
};

TEST_F(ForceDeletion, StopsTheDaemonWhenThePodHasEndedAndNotBefore) {
  EXPECT_EQ(rig_.unprepare(claim_).state, ClaimStep::State::Done);
  rig_.pass(seconds(100));
  EXPECT_TRUE(rig_.imex.daemon.running);
  rig_.pods->remove("p-uid");
  rig_.settle();
  EXPECT_FALSE(rig_.imex.daemon.running);
}

TEST_F(ForceDeletion, IsLookedForAgainWhileAPodHoldsAClaimAndOnlyThen) {
  int renewals = 0;
  rig_.renew_pods = [&] { ++renewals; };
  const auto pass_minutes = [&](int count) {
    for (int minute = 0; minute < count; ++minute) rig_.pass(seconds(60));
  };
  pass_minutes(60);
  EXPECT_EQ(renewals, 0) << "no pod that has ended holds a claim";
  EXPECT_EQ(rig_.unprepare(claim_).state, ClaimStep::State::Done);
  pass_minutes(8);
  EXPECT_EQ(renewals, 0);
  pass_minutes(24);
  EXPECT_THAT(renewals, testing::AllOf(testing::Ge(2), testing::Le(4)));
  EXPECT_TRUE(rig_.imex.daemon.running) << "kubelet still runs the pod";

  // Kubelet has dropped the event that it had ended.
  rig_.renew_pods = [&] {
    ++renewals;
    rig_.pods->remove("p-uid");
  };
  pass_minutes(12);
  EXPECT_FALSE(rig_.imex.daemon.running);
  const int before = renewals;
  pass_minutes(60);
  EXPECT_EQ(renewals, before);
}

TEST_F(ForceDeletion, IsRememberedByTheNextAgentForTheGracePeriod) {
  EXPECT_EQ(rig_.unprepare(claim_).state, ClaimStep::State::Done);
  rig_.agent.reset();
  rig_.pods = std::make_unique<RunningPods>(rig_.clock, [] {});
  rig_.start_agent();
  rig_.pods->begin_watch();
  rig_.pods->complete_watch();
  rig_.pass(seconds(30) + kPodEndMargin - seconds(1));
  EXPECT_TRUE(rig_.imex.daemon.running);
  rig_.pass(seconds(3));
  EXPECT_FALSE(rig_.imex.daemon.running);
}

// As while kubelet starts again, too: it may unprepare before it has an answer for a watch.
TEST_F(ForceDeletion, IsNotForgottenByAnAgentWhoseFirstWatchFails) {
  rig_.agent.reset();
  rig_.pods = std::make_unique<RunningPods>(rig_.clock, [] {});
  rig_.start_agent();
  rig_.settle();
  rig_.pods->begin_watch();
  rig_.pods->end_watch();
  EXPECT_EQ(rig_.unprepare(claim_).state, ClaimStep::State::Done) << "kubelet has its answer";
  rig_.pass(seconds(10));
  EXPECT_TRUE(rig_.imex.daemon.running);
  rig_.pods->begin_watch();
  rig_.pods->add({.ns = "team-a", .name = "p", .uid = "p-uid", .claims = {}, .grace_seconds = 30});
  rig_.pods->complete_watch();
  rig_.pass(seconds(100));
  EXPECT_TRUE(rig_.imex.daemon.running) << "the pod still runs";
  rig_.pods->remove("p-uid");
  rig_.settle();
  EXPECT_FALSE(rig_.imex.daemon.running);
}

// Kubelet unprepares the claim within a minute: an agent may start again before that.
TEST_F(ForceDeletion, IsSeenByAnAgentThatStartsAgainBeforeTheUnprepare) {
  rig_.agent.reset();
  rig_.pods = std::make_unique<RunningPods>(rig_.clock, [] {});
  rig_.start_agent();
  rig_.settle();
  rig_.pods->begin_watch();
  rig_.pods->complete_watch();
  EXPECT_EQ(rig_.unprepare(claim_).state, ClaimStep::State::Done);
  EXPECT_TRUE(rig_.imex.daemon.running);
  rig_.pass(kPodEndMargin + seconds(2));
  EXPECT_FALSE(rig_.imex.daemon.running);
}

}  // namespace
}  // namespace cdom::agent
