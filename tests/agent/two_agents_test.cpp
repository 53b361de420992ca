// Two agents of one node, as during a rolling update.
#include <utility>

#include "agent/rig.h"
#include "compute_domain/agent/checkpoint_codec.h"

namespace cdom::agent {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using testing::IsEmpty;
using testing::SizeIs;

class TwoAgents : public testing::Test {
 protected:
  TwoAgents() {
    rig_.agent_name = "older";
    rig_.start_agent();
    rig_.settle();
    older_ = std::move(rig_.agent);
    rig_.agent_name = "newer";
    rig_.start_agent();
    rig_.settle();
  }
  // The agent of the rig is the one whose turn it is.
  void older() {
    if (is_newers_turn_) std::swap(older_, rig_.agent);
    is_newers_turn_ = false;
  }
  void newer() {
    if (!is_newers_turn_) std::swap(older_, rig_.agent);
    is_newers_turn_ = true;
  }
  // Until the older has its answer, with a turn for each.
  template <class Ask>
  ClaimStep ask_older(const Ask& ask) {
    ClaimStep step;
    for (int turn = 0; turn < 20; ++turn) {
      older();
      step = ask(*rig_.agent);
      if (step.state != ClaimStep::State::Waiting) return step;
      rig_.settle();
      newer();
      rig_.pass(seconds(1));
      if (rig_.imex.daemon.running && !rig_.imex.daemon.answers) rig_.imex.become_ready();
      older();
      rig_.settle();
    }
    return step;
  }
  void delete_report() {
    const auto node = rig_.admin.get<api::ComputeDomainNode>({"", kNode});
    ASSERT_TRUE(node);
    ASSERT_TRUE(rig_.admin.remove<api::ComputeDomainNode>({"", kNode}, {node->meta.uid, ""}));
  }
  bool has_report() { return rig_.admin.get<api::ComputeDomainNode>({"", kNode}).has_value(); }

  Rig rig_;
  std::unique_ptr<SteppedAgent> older_;
  bool is_newers_turn_ = true;
};

TEST_F(TwoAgents, OnlyTheNewerSpeaksForTheNode) {
  delete_report();
  older();
  rig_.pass(seconds(10));
  EXPECT_FALSE(has_report());
  newer();
  rig_.pass(seconds(1));
  EXPECT_TRUE(has_report());
}

TEST_F(TwoAgents, ServeAClaimTogetherThatTheOlderWasAskedFor) {
  const core::ClaimRef claim = rig_.make_claim("a");
  rig_.write_list({claim.uid});
  const ClaimStep prepared = ask_older([&](SteppedAgent& agent) { return agent.prepare(claim); });
  EXPECT_EQ(prepared.state, ClaimStep::State::Done) << prepared.reason;
  EXPECT_EQ(rig_.imex.starts, 1);
  EXPECT_TRUE(rig_.channels.channels.contains(claim.uid));

  const ClaimStep ended = ask_older([&](SteppedAgent& agent) { return agent.unprepare(claim); });
  EXPECT_EQ(ended.state, ClaimStep::State::Done) << ended.reason;
  EXPECT_THAT(rig_.channels.channels, IsEmpty());
  EXPECT_FALSE(rig_.imex.daemon.running);
}

TEST_F(TwoAgents, LoseNothingOfWhatTheOtherHasWritten) {
  const core::ClaimRef first = rig_.make_claim("a"), second = rig_.make_claim("b");
  rig_.write_list({first.uid, second.uid});
  newer();
  ASSERT_EQ(rig_.prepare(first).state, ClaimStep::State::Done);
  const ClaimStep prepared = ask_older([&](SteppedAgent& agent) { return agent.prepare(second); });
  EXPECT_EQ(prepared.state, ClaimStep::State::Done) << prepared.reason;

  const auto checkpoint = decode_checkpoint(*rig_.checkpoints.text);
  ASSERT_TRUE(checkpoint);
  EXPECT_THAT(checkpoint->claims, SizeIs(2));
  EXPECT_EQ(checkpoint->agent, "newer");
}

// The newer is of a later version, which has written more than this one knows.
TEST_F(TwoAgents, TheOlderWritesBackWhatOnlyTheNewerKnows) {
  const core::ClaimRef first = rig_.make_claim("a"), second = rig_.make_claim("b");
  rig_.write_list({first.uid, second.uid});
  newer();
  ASSERT_EQ(rig_.prepare(first).state, ClaimStep::State::Done);
  core::Checkpoint more = decode_checkpoint(*rig_.checkpoints.text).value();
  more.later = more.served->later = more.claims.at(first.uid).later = R"({"laterField":1})";
  more.claims.at(first.uid).later_phase = "PrepareLater";
  rig_.checkpoints.text = encode_checkpoint(more);

  const ClaimStep prepared = ask_older([&](SteppedAgent& agent) { return agent.prepare(second); });
  EXPECT_EQ(prepared.state, ClaimStep::State::Done) << prepared.reason;
  core::Checkpoint now = decode_checkpoint(*rig_.checkpoints.text).value();
  EXPECT_EQ(now.claims.erase(second.uid), 1U);
  EXPECT_EQ(now, more);
}

TEST_F(TwoAgents, TheOlderLeadsAgainWhenTheNewerHasEnded) {
  newer();
  rig_.agent.reset();
  rig_.checkpoints.ended.insert("newer");
  older();
  delete_report();
  rig_.pass(seconds(2));
  EXPECT_TRUE(has_report());
  EXPECT_EQ(decode_checkpoint(*rig_.checkpoints.text)->agent, "older");
}

// Between the newer's look at the supervisor and its hold a daemon becomes READY, and the older
// prepares a claim with it.
TEST_F(TwoAgents, TheNewerTakesWhatTheOlderHasPreparedMeanwhileForNoLoss) {
  const core::ClaimRef first = rig_.make_claim("a"), second = rig_.make_claim("b");
  rig_.write_list({first.uid, second.uid});
  newer();
  ASSERT_EQ(rig_.prepare(first).state, ClaimStep::State::Done);
  rig_.pass(std::chrono::minutes(3));
  const base::DaemonStatus ready = rig_.imex.daemon;
  // Its supervisor is another one, which starts it again.
  rig_.imex.daemon.running = rig_.imex.daemon.answers = false;
  rig_.imex.daemon.phase = base::DaemonPhase::Failed;
  rig_.imex.daemon.instance = "";
  rig_.imex.daemon.starts_again = true;
  rig_.pass(seconds(5));
  ASSERT_THAT(rig_.report().groups.at(0).lost_claims, testing::ElementsAre(first.uid));
  older();
  ASSERT_EQ(rig_.agent->prepare(second).state, ClaimStep::State::Waiting);
  rig_.settle();
  newer();
  rig_.clock.advance(seconds(3));

  ClaimStep prepared;
  rig_.checkpoints.before_hold = [&] {
    rig_.imex.daemon = ready;
    rig_.imex.daemon.instance = "instance-2";
    older();
    for (int i = 0; i < 10 && prepared.state != ClaimStep::State::Done; ++i) {
      prepared = rig_.agent->prepare(second);
      for (int step = 0; step < 100 && rig_.agent->step(); ++step) continue;
    }
    newer();
  };
  SteppedAgent* newer_agent = rig_.agent.get();
  for (int step = 0; step < 50; ++step) newer_agent->step();
  ASSERT_EQ(prepared.state, ClaimStep::State::Done) << prepared.reason;
  rig_.pass(seconds(5));
  EXPECT_THAT(rig_.report().groups.at(0).lost_claims, testing::ElementsAre(first.uid));
}

TEST_F(TwoAgents, WaitForEachOthersTurn) {
  const core::ClaimRef claim = rig_.make_claim("a");
  rig_.write_list({claim.uid});
  newer();
  rig_.settle();
  rig_.checkpoints.is_held = true;
  const int saves = rig_.checkpoints.saves;
  rig_.agent->prepare(claim);
  rig_.settle();
  EXPECT_EQ(rig_.checkpoints.saves, saves);
  ASSERT_TRUE(rig_.agent->next_due());
  EXPECT_LE(*rig_.agent->next_due() - rig_.clock.elapsed(), milliseconds(5));

  rig_.checkpoints.is_held = false;
  rig_.pass(milliseconds(5));
  EXPECT_GT(rig_.checkpoints.saves, saves);
}

TEST_F(TwoAgents, AnOlderDoesNotThrowAwayWhatItCannotRead) {
  older();
  rig_.checkpoints.text = R"({"format":99})";
  rig_.pass(seconds(5));
  EXPECT_EQ(rig_.checkpoints.text, R"({"format":99})");
  EXPECT_THAT(rig_.checkpoints.aside, IsEmpty());
}

TEST_F(TwoAgents, ACheckpointThatSomebodyRemovesIsWrittenAgain) {
  newer();
  const auto before = rig_.checkpoints.text;
  rig_.checkpoints.text.reset();
  rig_.pass(seconds(2));
  EXPECT_EQ(rig_.checkpoints.text, before);
}

}  // namespace
}  // namespace cdom::agent
