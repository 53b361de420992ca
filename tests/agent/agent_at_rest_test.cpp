// A healthy agent with a claim and nothing to do: what it still sees, and how often it decides.
#include <utility>

#include "agent/rig.h"

namespace cdom::agent {
namespace {

using std::chrono::minutes;
using std::chrono::seconds;
using testing::IsEmpty;

// Just after a decision. Decisions are counted by their holds of the checkpoint.
class AgentAtRest : public testing::Test {
 protected:
  void SetUp() override {
    rig_.channels.number = 2048;
    rig_.settle();
    const core::ClaimRef claim = rig_.make_claim("a");
    rig_.write_list({claim.uid});
    ASSERT_EQ(rig_.prepare(claim).state, ClaimStep::State::Done);
    rig_.pass(minutes(5));
    for (int looks = 0; decisions_until_next_look() == 0; ++looks) {
      ASSERT_LT(looks, 10) << "it decides no more";
    }
  }

  int decisions_until_next_look() {
    const int before = rig_.checkpoints.holds;
    rig_.clock.advance(rig_.agent->next_look() - rig_.clock.elapsed());
    rig_.settle();
    return rig_.checkpoints.holds - before;
  }
  int look_for(base::Duration time) {
    int decisions = 0;
    const base::Duration end = rig_.clock.elapsed() + time;
    while (rig_.agent->next_look() <= end) decisions += decisions_until_next_look();
    return decisions;
  }

  Rig rig_;
};

TEST_F(AgentAtRest, LooksEachTwoSecondsAndDecidesEachTen) {
  EXPECT_EQ(rig_.agent->next_look() - rig_.clock.elapsed(), seconds(2));
  EXPECT_EQ(look_for(minutes(1)), 6);
}

TEST_F(AgentAtRest, DecidesWhenItSeesAnotherCheckpoint) {
  *rig_.checkpoints.text += ' ';
  EXPECT_GE(decisions_until_next_look(), 1);
}

TEST_F(AgentAtRest, WritesACheckpointAgainThatSomebodyRemoves) {
  const auto text = std::exchange(rig_.checkpoints.text, std::nullopt);
  EXPECT_GE(decisions_until_next_look(), 1);
  EXPECT_EQ(rig_.checkpoints.text, text);
}

TEST_F(AgentAtRest, WritesTheFileOfAClaimAgainThatSomebodyRemoves) {
  const auto channels = rig_.channels.channels;
  ASSERT_FALSE(channels.empty());
  const int writes = rig_.channels.writes;
  look_for(minutes(60));
  EXPECT_EQ(rig_.channels.writes, writes) << "only then";

  while (decisions_until_next_look() == 0) continue;
  rig_.channels.channels.clear();
  EXPECT_GE(decisions_until_next_look(), 1);
  EXPECT_EQ(rig_.channels.channels, channels);
  EXPECT_EQ(rig_.channels.writes, writes + 1);
}

TEST_F(AgentAtRest, WritesTheFileOfAClaimAgainThatSomebodyChanges) {
  const auto channels = rig_.channels.channels;
  ASSERT_FALSE(channels.empty());
  rig_.channels.channels.begin()->second = {7, 1};
  EXPECT_GE(decisions_until_next_look(), 1);
  EXPECT_EQ(rig_.channels.channels, channels);
}

TEST_F(AgentAtRest, TellsOfAFileThatCannotBeWrittenAgainAndTriesOn) {
  const auto channels = std::exchange(rig_.channels.channels, {});
  rig_.channels.error = base::Error{base::ErrorKind::Unavailable, "read-only"};
  rig_.pass(minutes(1));
  EXPECT_LE(look_for(minutes(1)), 70) << "some two for each try";
  rig_.channels.error.reset();
  rig_.pass(seconds(10));
  EXPECT_EQ(rig_.channels.channels, channels);
  rig_.pass(minutes(1));
  while (decisions_until_next_look() == 0) continue;
  EXPECT_EQ(look_for(minutes(1)), 6);
}

TEST_F(AgentAtRest, SeesThatTheNodeHasNoChannelsAndDecidesAtEachLookThen) {
  rig_.channels.lack = base::Error{base::ErrorKind::Unavailable, "no channels"};
  EXPECT_GE(decisions_until_next_look(), 1);
  EXPECT_THAT(rig_.slices().at(0).devices, IsEmpty());
  rig_.pass(minutes(1));
  EXPECT_EQ(look_for(minutes(1)), 30);
}

TEST_F(AgentAtRest, SeesAnotherNumberOfChannels) {
  rig_.channels.number = 1;
  EXPECT_GE(decisions_until_next_look(), 1);
}

// Such a claim is looked up every ten minutes.
TEST_F(AgentAtRest, IsAlsoWithAClaimThatHasAdminAccess) {
  const core::ClaimRef claim = rig_.make_claim("watcher", "train-uid", /*admin_access=*/true);
  ASSERT_EQ(rig_.prepare(claim).state, ClaimStep::State::Done);
  rig_.pass(minutes(5));
  for (int looks = 0; decisions_until_next_look() == 0; ++looks) ASSERT_LT(looks, 10);
  EXPECT_EQ(look_for(minutes(1)), 6);
  EXPECT_GT(look_for(minutes(10)), 0);
}

TEST_F(AgentAtRest, DecidesAtOnceAtANewsOfTheSupervisor) {
  rig_.imex.die("killed");
  rig_.settle();
  EXPECT_EQ(rig_.report().groups.at(0).state, api::DaemonState::Failed);
}

TEST_F(AgentAtRest, IsNotWithACallOfKubelet) {
  const core::ClaimRef claim = rig_.make_claim("b");
  EXPECT_EQ(rig_.agent->prepare(claim).state, ClaimStep::State::Waiting);
  rig_.settle();
  EXPECT_GE(decisions_until_next_look(), 1);
}

}  // namespace
}  // namespace cdom::agent
