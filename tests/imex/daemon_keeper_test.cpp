#include "imex/daemon/daemon_keeper.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>
#include <set>

namespace cdom::imex {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using ::testing::HasSubstr;
using Question = AskTool::Question;

Want some_want(const std::string& group = "g") { return {group, 0, "a\nb\n", "hash", "10.0.0.1"}; }
ToolAnswer says(const std::string& text) { return {ToolAnswer::Outcome::Answer, text}; }
ToolAnswer refusal() { return {ToolAnswer::Outcome::Refusal, "connection refused"}; }
ToolAnswer unasked() { return {ToolAnswer::Outcome::Unasked, "cannot start a process"}; }
ToolAnswer silence() { return {ToolAnswer::Outcome::Silence, ""}; }
const char kView[] =
    R"({"nodes": {"0": {"status": "READY", "connections": {"1": {"status": "CONNECTED"}}}}})";
const char kNoView[] = R"({"nodes": {"0": {"status": "READY", "connections": {}}}})";
const char kPartView[] = R"({"nodes": {"0": {"status": "READY", "connections": {
  "1": {"status": "CONNECTED"}, "2": {"status": "NEVER_CONNECTED"}}}}})";
const char kWholeView[] = R"({"nodes": {"0": {"status": "READY", "connections": {
  "1": {"status": "CONNECTED"}, "2": {"status": "CONNECTED"}}}}})";
const char kBothLostView[] = R"({"nodes": {"0": {"status": "READY", "connections": {
  "1": {"status": "RECOVERING"}, "2": {"status": "RECOVERING"}}}}})";
const char kLostView[] = R"({"nodes": {"0": {"status": "READY", "connections": {
  "1": {"status": "RECOVERING"}, "2": {"status": "CONNECTED"}}}}})";

class DaemonKeeperTest : public ::testing::Test {
 protected:
  base::ManualClock clock;
  DaemonKeeper keeper{clock, base::Random(1)};

  // The next action at the moment at which it is due.
  std::optional<Action> next() {
    if (auto action = keeper.next()) return action;
    const auto due = keeper.next_due();
    if (!due) return std::nullopt;
    clock.advance(std::max(*due - clock.elapsed(), base::Duration::zero()));
    return keeper.next();
  }
  void start() {
    Want want = some_want();
    want.table_text = table_;
    ASSERT_TRUE(keeper.want(want));
    ASSERT_TRUE(std::holds_alternative<StartChild>(*next()));
    keeper.started();
  }
  void become_ready() {
    start();
    EXPECT_EQ(*next(), Action(AskTool{Question::State}));
    keeper.answered(says("READY\n"));
    see_views();
  }
  ToolAnswer good_answer(const AskTool& question) const {
    return says(question.question == Question::View ? view_ : "READY\n");
  }
  // Answers until nothing is asked for a second.
  void see_views() {
    for (int i = 0; i < 20; ++i) {
      const auto action = next();
      ASSERT_TRUE(action && std::holds_alternative<AskTool>(*action));
      keeper.answered(good_answer(std::get<AskTool>(*action)));
      if (*keeper.next_due() - clock.elapsed() >= seconds(1)) return;
    }
    FAIL() << "it never comes to rest";
  }
  // The moments at which it is asked within that time, with good answers.
  std::vector<base::Duration> questions(base::Duration time) {
    std::vector<base::Duration> moments;
    const base::Duration end = clock.elapsed() + time;
    while (*keeper.next_due() <= end) {
      const auto action = next();
      moments.push_back(clock.elapsed());
      keeper.answered(good_answer(std::get<AskTool>(*action)));
    }
    clock.advance(end - clock.elapsed());
    return moments;
  }
  // How often it is asked while it prints a line each millisecond; the count decides on the view.
  template <class View>
  int questions_while_it_prints(base::Duration time, const View& view) {
    int asked = 0;
    for (const base::Duration end = clock.elapsed() + time; clock.elapsed() < end;) {
      clock.advance(milliseconds(1));
      keeper.printed(1);
      const auto action = keeper.next();
      if (!action) continue;
      view_ = view(++asked);
      keeper.answered(good_answer(std::get<AskTool>(*action)));
    }
    return asked;
  }
  // Two peers of three slots; the third is nobody's.
  void have_two_peers() {
    keeper.set_hosts({"10.0.0.1\ta\n10.0.0.2\tb\n10.0.0.3\tc\n127.0.1.4\td\n", "r"});
    table_ = "a\nb\nc\nd\n";
  }

  std::string table_ = "a\nb\n", view_ = kView;
};

TEST_F(DaemonKeeperTest, AsksInGrowingStepsUntilReadyAndThenForItsConnections) {
  start();
  const base::Duration began = clock.elapsed();
  EXPECT_EQ(*next(), Action(AskTool{Question::State}));
  EXPECT_EQ(clock.elapsed() - began, milliseconds(5));
  EXPECT_EQ(keeper.next(), std::nullopt) << "one question at a time";
  base::Duration step{};
  for (int i = 0; i < 12; ++i) {
    keeper.answered(i < 3 ? refusal() : says("INITIALIZING\n"));
    const base::Duration asked = clock.elapsed();
    EXPECT_EQ(*next(), Action(AskTool{Question::State}));
    EXPECT_GE(clock.elapsed() - asked, step);
    step = clock.elapsed() - asked;
    EXPECT_EQ(keeper.status().phase, DaemonPhase::Starting);
    EXPECT_EQ(keeper.status().answers, i >= 3);
  }
  EXPECT_EQ(step, milliseconds(250)) << "of a daemon that prints nothing";
  keeper.answered(says("READY\n"));
  EXPECT_EQ(keeper.status().phase, DaemonPhase::Ready);
  const base::Duration ready = clock.elapsed();
  EXPECT_EQ(*next(), Action(AskTool{Question::View}));
  EXPECT_EQ(clock.elapsed() - ready, milliseconds(10));
  keeper.answered(says(kView));
  EXPECT_EQ(keeper.status().peers, (std::map<std::int64_t, char>{{1, 'C'}}));
  EXPECT_GE(*keeper.next_due() - clock.elapsed(), seconds(4)) << "there is nobody else";
}

TEST_F(DaemonKeeperTest, ALineOfADaemonThatStartsBringsTheQuestion) {
  start();
  clock.advance(milliseconds(5));
  ASSERT_EQ(keeper.next(), Action(AskTool{Question::State}));
  keeper.answered(refusal());
  while (clock.elapsed() < seconds(1)) {
    ASSERT_EQ(*next(), Action(AskTool{Question::State}));
    keeper.answered(says("INITIALIZING\n"));
  }
  clock.advance(milliseconds(60));
  keeper.printed(1);
  EXPECT_EQ(*keeper.next_due() - clock.elapsed(), milliseconds(5));
}

// What a daemon at rest costs: a process every five seconds.
TEST_F(DaemonKeeperTest, ADaemonAtRestIsAskedOneQuestionEveryFiveSeconds) {
  become_ready();
  const auto moments = questions(seconds(100));
  std::set<base::Duration> pauses;
  for (std::size_t i = 1; i < moments.size(); ++i) {
    const base::Duration pause = moments[i] - moments[i - 1];
    EXPECT_GE(pause, seconds(4));
    EXPECT_LE(pause, seconds(6));
    pauses.insert(pause);
  }
  EXPECT_GT(pauses.size(), 10U) << "no two nodes ask at the same moments for long";

  next();
  keeper.answered(says(kView));
  keeper.set_hosts({"", "peers are somewhere else"});
  EXPECT_EQ(*keeper.next_due() - clock.elapsed(), seconds(1));
}

// Of one that prints nothing.
TEST_F(DaemonKeeperTest, IsAskedOnceASecondForHalfAMinuteWhileAPeerIsMissing) {
  have_two_peers();
  view_ = kPartView;
  become_ready();
  const auto young = questions(seconds(25));
  EXPECT_GE(young.size(), 24U);
  EXPECT_LE(young.size(), 26U);
  (void)questions(seconds(10));
  EXPECT_LE(questions(seconds(60)).size(), 15U) << "it may never come";
  view_ = kWholeView;
  EXPECT_LE(questions(seconds(60)).size(), 15U);
}

TEST_F(DaemonKeeperTest, IsAtRestOnceItIsConnectedToAllThatHaveASlot) {
  have_two_peers();
  start();
  next();
  keeper.answered(says("READY\n"));
  next();
  keeper.answered(says(kPartView));
  EXPECT_EQ(*keeper.next_due() - clock.elapsed(), milliseconds(40));
  next();
  keeper.answered(says(kPartView));
  EXPECT_EQ(*keeper.next_due() - clock.elapsed(), milliseconds(160));
  next();
  keeper.answered(says(kWholeView));
  EXPECT_GE(*keeper.next_due() - clock.elapsed(), seconds(4));
}

TEST_F(DaemonKeeperTest, ALineBringsTheViewOnceThereIsOneForEachMissingPeer) {
  have_two_peers();
  view_ = kNoView;
  become_ready();
  clock.advance(milliseconds(100));
  const auto due = keeper.next_due();
  keeper.printed(1);
  EXPECT_EQ(keeper.next_due(), due) << "of two that are missing";
  keeper.printed(1);
  EXPECT_EQ(*keeper.next_due() - clock.elapsed(), milliseconds(5));
  EXPECT_EQ(*next(), Action(AskTool{Question::View}));
  keeper.answered(says(kWholeView));
  EXPECT_GE(*keeper.next_due() - clock.elapsed(), seconds(4));
}

// Each view is a process, and tells nothing of peers that the daemon has printed nothing about.
TEST_F(DaemonKeeperTest, ADaemonThatPrintsIsAskedForItsConnectionsOnceItHasPrintedThem) {
  have_two_peers();
  start();
  keeper.printed(1);
  ASSERT_EQ(*next(), Action(AskTool{Question::State}));
  keeper.answered(says("READY\n"));
  EXPECT_EQ(*keeper.next_due() - clock.elapsed(), milliseconds(200));
  clock.advance(milliseconds(100));
  keeper.printed(1);
  EXPECT_EQ(*keeper.next_due() - clock.elapsed(), milliseconds(5));
  EXPECT_EQ(*next(), Action(AskTool{Question::View}));
  keeper.answered(says(kPartView));
  EXPECT_EQ(*keeper.next_due() - clock.elapsed(), milliseconds(800));
}

TEST_F(DaemonKeeperTest, LinesThatCameBeforeReadyCountAsConnections) {
  have_two_peers();
  start();
  keeper.printed(2);
  ASSERT_EQ(*next(), Action(AskTool{Question::State}));
  keeper.answered(says("READY\n"));
  EXPECT_EQ(*keeper.next_due() - clock.elapsed(), milliseconds(10));
  EXPECT_EQ(*next(), Action(AskTool{Question::View}));
  keeper.answered(says(kWholeView));
  EXPECT_GE(*keeper.next_due() - clock.elapsed(), seconds(4));
}

TEST_F(DaemonKeeperTest, ALineFromBeforeTheLastViewIsOfAPeerThatItShows) {
  have_two_peers();
  start();
  keeper.printed(2);
  next();
  keeper.answered(says("READY\n"));
  next();
  keeper.answered(says(kNoView));
  const auto due = keeper.next_due();
  keeper.printed(1);
  EXPECT_EQ(keeper.next_due(), due) << "of two that are missing";
}

TEST_F(DaemonKeeperTest, LooksSoonerWhenTheDaemonHasPrintedSomething) {
  have_two_peers();
  view_ = kWholeView;
  become_ready();
  clock.advance(milliseconds(500));
  keeper.printed(1);
  EXPECT_EQ(*keeper.next_due() - clock.elapsed(), milliseconds(5));
  EXPECT_EQ(*next(), Action(AskTool{Question::View}));
  keeper.answered(says(kLostView));
  EXPECT_EQ(keeper.status().peers, (std::map<std::int64_t, char>{{1, 'R'}, {2, 'C'}}));
}

// It asks the daemons of all nodes, and may wait for one that is off.
TEST_F(DaemonKeeperTest, AViewThatTakesLongTakesNoConnectionAwayForLong) {
  have_two_peers();
  view_ = kWholeView;
  become_ready();
  const auto ask = [&](base::Duration view_takes) {
    const auto question = std::get<AskTool>(*next());
    const bool is_view = question.question == Question::View;
    const base::Duration takes = is_view ? view_takes : milliseconds(10);
    const base::Duration waits = is_view ? keeper.view_time() : seconds(2);
    clock.advance(std::min(takes, waits));
    keeper.answered(takes > waits ? silence() : good_answer(question));
    EXPECT_EQ(keeper.status().phase, DaemonPhase::Ready);
  };
  for (const auto& [takes, is_lost] : {std::pair(seconds(5), false), {seconds(9), true}}) {
    (void)questions(seconds(60));
    EXPECT_EQ(keeper.view_time(), seconds(2)) << "they answer at once";
    bool was_lost = false;
    for (int i = 0; i < 20; ++i) {
      ask(takes);
      was_lost |= keeper.status().peers.empty();
      if (i < 6) continue;
      EXPECT_EQ(keeper.status().message, "") << "it knows by now how long that takes";
      EXPECT_EQ(keeper.status().peers, (std::map<std::int64_t, char>{{1, 'C'}, {2, 'C'}}));
    }
    EXPECT_EQ(was_lost, is_lost);
  }
}

TEST_F(DaemonKeeperTest, AViewHasItsUsualTimeAfterAnotherStart) {
  become_ready();
  next();
  keeper.answered(silence());
  EXPECT_EQ(keeper.view_time(), seconds(5));
  keeper.ended("");
  while (!std::holds_alternative<StartChild>(*next())) {
  }
  keeper.started();
  EXPECT_EQ(keeper.view_time(), seconds(2));
}

// What it prints may be of a connection that it shows as lost a moment later.
TEST_F(DaemonKeeperTest, LooksASecondTimeWhereALineSeemsToChangeNothing) {
  become_ready();
  clock.advance(milliseconds(500));
  keeper.printed(1);
  next();
  keeper.answered(says(kView));
  EXPECT_EQ(*keeper.next_due() - clock.elapsed(), milliseconds(150));
  next();
  keeper.answered(says(kView));
  EXPECT_GE(*keeper.next_due() - clock.elapsed(), seconds(4));
}

TEST_F(DaemonKeeperTest, ALineDuringAQuestionBringsTheNext) {
  become_ready();
  ASSERT_EQ(*next(), Action(AskTool{Question::View}));
  clock.advance(milliseconds(2));
  keeper.printed(1);
  keeper.answered(says(kView));
  EXPECT_LE(*keeper.next_due() - clock.elapsed(), milliseconds(50));
}

// A switch that blinks: the agent gives a connection 300 ms to come back.
TEST_F(DaemonKeeperTest, SeesOneOfTwoLostPeersComeBackSoon) {
  have_two_peers();
  view_ = kWholeView;
  become_ready();
  (void)questions(seconds(60));
  keeper.printed(2);
  next();
  keeper.answered(says(kBothLostView));
  clock.advance(milliseconds(30));
  keeper.printed(1);
  EXPECT_LE(*keeper.next_due() - clock.elapsed(), milliseconds(200));
}

TEST_F(DaemonKeeperTest, IsAskedWithinASecondAfterAChangeAtRest) {
  have_two_peers();
  view_ = kWholeView;
  become_ready();
  (void)questions(seconds(60));
  keeper.printed(1);
  next();
  keeper.answered(says(kLostView));
  EXPECT_LE(*keeper.next_due() - clock.elapsed(), seconds(1));
  view_ = kLostView;
  EXPECT_GE(questions(seconds(10)).size(), 10U);
}

TEST_F(DaemonKeeperTest, IsAskedWithinASecondAfterAFaultAtRest) {
  become_ready();
  (void)questions(seconds(60));
  for (int i = 0; i < 3; ++i) {
    next();
    keeper.answered(refusal());
  }
  ASSERT_EQ(keeper.status().phase, DaemonPhase::Failed);
  EXPECT_LE(*keeper.next_due() - clock.elapsed(), seconds(1));
}

TEST_F(DaemonKeeperTest, UselessLinesOfLongAgoDoNotSpoilANewOne) {
  become_ready();
  for (int day = 0; day < 8; ++day) {
    (void)questions(std::chrono::hours(1));
    keeper.printed(1);
    (void)questions(seconds(10));
  }
  next();
  keeper.answered(says(kView));
  clock.advance(milliseconds(500));
  keeper.printed(1);
  EXPECT_EQ(*keeper.next_due() - clock.elapsed(), milliseconds(5));
  next();
  keeper.answered(says(kView));
  EXPECT_EQ(*keeper.next_due() - clock.elapsed(), milliseconds(150));
}

TEST_F(DaemonKeeperTest, IsNotKeptBusyByLinesWhileTwoPeersStayAway) {
  have_two_peers();
  view_ = kNoView;
  become_ready();
  (void)questions(seconds(60));
  EXPECT_LE(questions_while_it_prints(seconds(60), [](int) { return kNoView; }), 20);
}

TEST_F(DaemonKeeperTest, IsAskedTwiceASecondAtMostWhileAConnectionComesAndGoes) {
  have_two_peers();
  view_ = kWholeView;
  become_ready();
  const int asked = questions_while_it_prints(
      seconds(60), [](int count) { return count % 2 == 0 ? kWholeView : kLostView; });
  EXPECT_LE(asked, 125);
}

// -N asks the daemons' command services itself, and tells of one that hangs.
TEST_F(DaemonKeeperTest, IsAskedAtOnceWhenItsOwnRowIsNotReadyAnyMore) {
  become_ready();
  (void)questions(seconds(60));
  next();
  keeper.answered(says(R"({"nodes": {"0": {"status": "UNAVAILABLE", "connections": {}}}})"));
  EXPECT_EQ(keeper.next(), Action(AskTool{Question::State}));
  EXPECT_FALSE(keeper.status().peers.empty()) << "not before it is known what it is";
  keeper.answered(says("READY\n"));
  EXPECT_EQ(keeper.next(), Action(AskTool{Question::View}));
  keeper.answered(says(R"({"nodes": {"0": {"status": "UNAVAILABLE", "connections": {}}}})"));
  EXPECT_GE(*keeper.next_due() - clock.elapsed(), seconds(1)) << "no hot loop";
}

TEST_F(DaemonKeeperTest, IsAskedOnceASecondForAWhileAfterOtherHostsAndASignal) {
  have_two_peers();
  view_ = kWholeView;
  become_ready();
  (void)questions(seconds(60));
  ASSERT_EQ(*next(), Action(AskTool{Question::View}));
  keeper.set_hosts({"10.0.0.1\ta\n10.0.0.9\tb\n10.0.0.3\tc\n", "r2"});
  keeper.answered(says(kWholeView));
  EXPECT_LE(*keeper.next_due() - clock.elapsed(), seconds(1)) << "b may have moved";
  EXPECT_GE(questions(seconds(5)).size(), 4U);
  (void)questions(seconds(60));
  keeper.request_signal();
  ASSERT_EQ(keeper.next(), Action(SignalChild{SIGUSR1}));
  EXPECT_GE(questions(seconds(5)).size(), 5U);
}

TEST_F(DaemonKeeperTest, ALineDoesNotHurryTheQuestionThatMakesAFault) {
  become_ready();
  next();
  keeper.answered(refusal());
  next();
  keeper.answered(refusal());
  clock.advance(milliseconds(1));
  keeper.printed(1);
  EXPECT_EQ(*keeper.next_due() - clock.elapsed(), milliseconds(99));
}

TEST_F(DaemonKeeperTest, IsNotKeptBusyByADaemonThatPrintsWithoutEnd) {
  become_ready();
  const int asked = questions_while_it_prints(seconds(60), [](int) { return kView; });
  EXPECT_GE(asked, 11) << "whether it lives";
  EXPECT_LE(asked, 20);
}

TEST_F(DaemonKeeperTest, WhatTheDaemonIsTheShortQuestionSays) {
  become_ready();
  next();
  keeper.answered(says(R"({"nodes": {"0": {"status": "UNAVAILABLE", "connections": {}}}})"));
  EXPECT_EQ(keeper.status().phase, DaemonPhase::Ready) << "a row is a hint";
  EXPECT_EQ(keeper.next(), Action(AskTool{Question::State}));
  keeper.answered(says("WAITING_FOR_RECOVERY\n"));
  EXPECT_EQ(keeper.status().phase, DaemonPhase::Recovering);
}

TEST_F(DaemonKeeperTest, AsksForAFifthOfTheTimeAtMost) {
  start();
  for (int i = 0; i < 10; ++i) {
    ASSERT_TRUE(next());
    clock.advance(milliseconds(50));
    keeper.answered(says("INITIALIZING\n"));
    EXPECT_GE(*keeper.next_due() - clock.elapsed(), milliseconds(200));
  }
  ASSERT_TRUE(next());
  clock.advance(seconds(1));
  keeper.answered(says("INITIALIZING\n"));
  EXPECT_EQ(*keeper.next_due() - clock.elapsed(), seconds(1));
}

TEST_F(DaemonKeeperTest, TellsRecoveryAsSuch) {
  start();
  next();
  keeper.answered(says("WAITING_FOR_RECOVERY\n"));
  EXPECT_EQ(keeper.status().phase, DaemonPhase::Recovering);
  EXPECT_TRUE(keeper.status().answers);
}

TEST_F(DaemonKeeperTest, HoldsASignalUntilTheDaemonHasAnswered) {
  start();
  keeper.request_signal();
  EXPECT_EQ(*next(), Action(AskTool{Question::State}));
  keeper.answered(refusal());
  EXPECT_EQ(*next(), Action(AskTool{Question::State}));
  keeper.answered(says("INITIALIZING\n"));
  EXPECT_EQ(*keeper.next(), Action(SignalChild{SIGUSR1}));
  EXPECT_EQ(keeper.status().signalled, clock.elapsed());
}

TEST_F(DaemonKeeperTest, SendsASignalAtMostOncePerFiveSeconds) {
  become_ready();
  keeper.request_signal();
  EXPECT_EQ(*keeper.next(), Action(SignalChild{SIGUSR1}));
  const base::Duration sent = clock.elapsed();
  clock.advance(seconds(1));
  keeper.request_signal();
  keeper.request_signal();
  int signals = 0;
  while (clock.elapsed() < sent + seconds(30)) {
    const auto action = next();
    if (action == Action(SignalChild{SIGUSR1})) {
      ++signals;
      EXPECT_EQ(clock.elapsed() - sent, seconds(5));
    } else {
      keeper.answered(std::get<AskTool>(*action).question == Question::View ? says(kView)
                                                                            : says("READY\n"));
    }
  }
  EXPECT_EQ(signals, 1) << "two wishes of one interval are one signal";
}

TEST_F(DaemonKeeperTest, StopsWithSigtermAndAfterFiveSecondsWithSigkill) {
  become_ready();
  keeper.stop();
  EXPECT_TRUE(keeper.status().stopping);
  EXPECT_EQ(*keeper.next(), Action(SignalChild{SIGTERM}));
  const base::Duration told = clock.elapsed();
  EXPECT_EQ(*next(), Action(SignalChild{SIGKILL}));
  EXPECT_EQ(clock.elapsed() - told, seconds(5));
  EXPECT_EQ(keeper.status().phase, DaemonPhase::Ready) << "it has a moment to end";
  keeper.ended("was ended by SIGKILL");
  EXPECT_EQ(keeper.status().phase, DaemonPhase::Stopped);
  EXPECT_FALSE(keeper.status().running);
  EXPECT_EQ(keeper.status().group, "g") << "of the last start";
  EXPECT_EQ(next(), std::nullopt);
}

// Only the kernel can keep it, inside the GPU driver.
TEST_F(DaemonKeeperTest, ADaemonThatDoesNotEndAfterSigkillHasFailedUntilItEnds) {
  become_ready();
  keeper.stop();
  ASSERT_EQ(*keeper.next(), Action(SignalChild{SIGTERM}));
  ASSERT_EQ(*next(), Action(SignalChild{SIGKILL}));
  const base::Duration killed = clock.elapsed();
  EXPECT_EQ(next(), std::nullopt) << "there is nothing more to do";
  EXPECT_EQ(clock.elapsed() - killed, seconds(10));
  EXPECT_EQ(keeper.next_due(), std::nullopt) << "what remains is to wait";
  EXPECT_EQ(keeper.status().phase, DaemonPhase::Failed);
  EXPECT_EQ(keeper.status().message,
            "nvidia-imex does not end after SIGKILL: a GPU or its driver hangs; reboot the node");
  EXPECT_TRUE(keeper.status().running && keeper.status().stopping);
  EXPECT_THAT(keeper.status().peers, ::testing::IsEmpty());
  EXPECT_FALSE(keeper.want(some_want())) << "not before it has ended";

  keeper.ended("was ended by SIGKILL");
  EXPECT_EQ(keeper.status().phase, DaemonPhase::Stopped);
  EXPECT_EQ(keeper.status().message, "");
  EXPECT_FALSE(keeper.status().running || keeper.status().stopping);
  EXPECT_EQ(next(), std::nullopt);
}

TEST_F(DaemonKeeperTest, ADaemonThatIsKilledHasTenSecondsToEndWhateverTheOneBeforeHas) {
  for (int i = 0; i < 2; ++i) {
    become_ready();
    keeper.stop();
    ASSERT_EQ(*keeper.next(), Action(SignalChild{SIGTERM}));
    ASSERT_EQ(next(), Action(SignalChild{SIGKILL}));
    clock.advance(seconds(9));
    EXPECT_EQ(keeper.next(), std::nullopt);
    EXPECT_EQ(keeper.status().phase, DaemonPhase::Ready);
    keeper.ended("was ended by SIGKILL");
  }
}

TEST_F(DaemonKeeperTest, ADaemonThatWasReadyIsStartedAgainAtOnceAsANewInstance) {
  become_ready();
  const std::string before = keeper.status().instance;
  clock.advance(seconds(1));
  keeper.ended("was ended by SIGKILL");
  EXPECT_EQ(keeper.status().phase, DaemonPhase::Failed);
  EXPECT_EQ(keeper.status().message, "nvidia-imex was ended by SIGKILL");
  EXPECT_TRUE(keeper.status().peers.empty());
  const auto action = keeper.next();
  ASSERT_TRUE(action && std::holds_alternative<StartChild>(*action));
  keeper.started();
  EXPECT_NE(keeper.status().instance, before);
  EXPECT_EQ(keeper.status().phase, DaemonPhase::Starting);
}

TEST_F(DaemonKeeperTest, AnAnswerAboutTheDaemonBeforeSaysNothingAboutItsSuccessor) {
  become_ready();
  keeper.printed(1);
  const auto asked = next();
  ASSERT_TRUE(asked && std::holds_alternative<AskTool>(*asked));
  keeper.ended("was ended by SIGKILL");
  ASSERT_TRUE(std::holds_alternative<StartChild>(*keeper.next()));
  keeper.started();
  keeper.answered(good_answer(std::get<AskTool>(*asked)));
  EXPECT_EQ(keeper.status().phase, DaemonPhase::Starting);
  EXPECT_TRUE(keeper.status().peers.empty());
  EXPECT_FALSE(keeper.status().answers);
}

TEST_F(DaemonKeeperTest, ADaemonThatEndsEachTimeItIsReadyIsNotStartedAtOnceEachTime) {
  become_ready();
  keeper.ended("was ended by SIGKILL");
  ASSERT_TRUE(keeper.next()) << "at once";
  keeper.started();
  ASSERT_EQ(*next(), Action(AskTool{Question::State}));
  keeper.answered(says("READY\n"));
  keeper.ended("was ended by SIGKILL");
  EXPECT_EQ(keeper.next(), std::nullopt);
  EXPECT_EQ(keeper.status().starts_again, true);
  EXPECT_TRUE(std::holds_alternative<StartChild>(*next()));
}

TEST_F(DaemonKeeperTest, ADaemonThatWasReadyForTenSecondsIsStartedAtOnceAgain) {
  for (int i = 0; i < 3; ++i) {
    become_ready();
    clock.advance(seconds(10));
    keeper.ended("was ended by SIGKILL");
    EXPECT_EQ(keeper.next_due(), clock.elapsed()) << i;
  }
}

TEST_F(DaemonKeeperTest, SaysWhetherItStartsADaemonAgain) {
  EXPECT_EQ(keeper.status().starts_again, false) << "none was wanted";
  start();
  EXPECT_EQ(keeper.status().starts_again, false) << "it runs";
  keeper.ended("exited with code 1");
  EXPECT_EQ(keeper.status().starts_again, true);
  next();
  keeper.failed_to_start({base::ErrorKind::Invalid, "no nvidia-imex"});
  EXPECT_EQ(keeper.status().starts_again, true);
  keeper.stop();
  EXPECT_EQ(keeper.status().starts_again, false);
  EXPECT_EQ(keeper.status().phase, DaemonPhase::Stopped);
}

TEST_F(DaemonKeeperTest, SaysHowOftenItsDaemonHasEnded) {
  become_ready();
  for (const std::string count : {"", " (2 times since compute-domain-imex started)",
                                  " (3 times since compute-domain-imex started)"}) {
    keeper.ended("was ended by SIGKILL");
    EXPECT_EQ(keeper.status().message, "nvidia-imex was ended by SIGKILL" + count);
    ASSERT_TRUE(std::holds_alternative<StartChild>(*next()));
    keeper.started();
  }
}

TEST_F(DaemonKeeperTest, ADaemonThatKeepsEndingIsStartedInGrowingPauses) {
  start();
  std::vector<base::Duration> pauses;
  for (int i = 0; i < 8; ++i) {
    keeper.ended("exited with code 1");
    const base::Duration ended = clock.elapsed();
    ASSERT_TRUE(std::holds_alternative<StartChild>(*next()));
    pauses.push_back(clock.elapsed() - ended);
    keeper.started();
  }
  EXPECT_THAT(pauses,
              ::testing::ElementsAre(milliseconds(250), milliseconds(500), seconds(1), seconds(2),
                                     seconds(4), seconds(8), seconds(16), seconds(16)));
}

// The next group's daemon is another one: what it may be does not grow from what went before.
TEST_F(DaemonKeeperTest, AStopInAPauseEndsTheRow) {
  start();
  for (int i = 0; i < 8; ++i) {
    keeper.ended("exited with code 1");
    ASSERT_TRUE(std::holds_alternative<StartChild>(*next()));
    keeper.started();
  }
  keeper.ended("exited with code 1");
  keeper.stop();
  start();
  keeper.ended("exited with code 1");
  const base::Duration ended = clock.elapsed();
  ASSERT_TRUE(std::holds_alternative<StartChild>(*next()));
  EXPECT_EQ(clock.elapsed() - ended, milliseconds(250));
}

TEST_F(DaemonKeeperTest, TheAgentsWishCutsAPauseShort) {
  start();
  keeper.ended("exited with code 1");
  EXPECT_EQ(keeper.next(), std::nullopt);
  ASSERT_TRUE(keeper.want(some_want()));
  EXPECT_TRUE(std::holds_alternative<StartChild>(*keeper.next()));
}

TEST_F(DaemonKeeperTest, AWishThatCannotBeMetIsForgottenAndTheNextIsTriedAnew) {
  ASSERT_TRUE(keeper.want(some_want()));
  keeper.next();
  keeper.failed_to_start({base::ErrorKind::Invalid, "no nvidia-imex"});
  EXPECT_EQ(next(), std::nullopt);
  EXPECT_EQ(keeper.status().phase, DaemonPhase::Stopped);
  start();
}

TEST_F(DaemonKeeperTest, TheSameWishTwiceIsOneAndAnotherIsAConflict) {
  start();
  EXPECT_TRUE(keeper.want(some_want()));
  const auto other = keeper.want(some_want("other"));
  ASSERT_FALSE(other);
  EXPECT_EQ(other.error().kind, base::ErrorKind::Conflict);
  keeper.stop();
  EXPECT_FALSE(keeper.want(some_want())) << "not before it has ended";
}

TEST_F(DaemonKeeperTest, AHungControlToolIsAFaultAndHeals) {
  become_ready();
  const base::Duration hangs = clock.elapsed();
  ASSERT_EQ(*next(), Action(AskTool{Question::View}));
  clock.advance(seconds(2));  // the patience with the tool
  keeper.answered(silence());
  EXPECT_EQ(keeper.status().phase, DaemonPhase::Ready) << "a busy node may be late once";
  EXPECT_EQ(*next(), Action(AskTool{Question::State}));
  clock.advance(seconds(2));
  keeper.answered(silence());
  EXPECT_EQ(keeper.status().phase, DaemonPhase::Failed);
  EXPECT_LE(clock.elapsed() - hangs, seconds(10));
  EXPECT_TRUE(keeper.status().running) << "a restart would end workloads: it only is told";
  EXPECT_THAT(keeper.status().message, HasSubstr("may hang"));
  EXPECT_EQ(*next(), Action(AskTool{Question::State}));
  keeper.answered(says("READY\n"));
  EXPECT_EQ(keeper.status().phase, DaemonPhase::Ready);
  EXPECT_EQ(keeper.status().message, "");
}

TEST_F(DaemonKeeperTest, OneRefusalOfAReadyDaemonIsAskedAgainAndTwoAreAFault) {
  become_ready();
  ASSERT_EQ(*next(), Action(AskTool{Question::View}));
  keeper.answered(refusal());
  for (const DaemonPhase phase : {DaemonPhase::Ready, DaemonPhase::Failed}) {
    ASSERT_EQ(*next(), Action(AskTool{Question::State}));
    keeper.answered(refusal());
    EXPECT_EQ(keeper.status().phase, phase);
  }
}

TEST_F(DaemonKeeperTest, ADaemonThatNobodyCouldAskStaysAsItWas) {
  become_ready();
  const base::Duration seen = clock.elapsed();
  while (clock.elapsed() - seen < seconds(30)) {
    ASSERT_EQ(*next(), Action(AskTool{Question::View}));
    keeper.answered(unasked());
    EXPECT_EQ(keeper.status().phase, DaemonPhase::Ready);
    EXPECT_THAT(keeper.status().message, HasSubstr("cannot start a process"));
    EXPECT_EQ(keeper.status().peers.empty(), clock.elapsed() - seen >= seconds(10));
    EXPECT_LE(*keeper.next_due() - clock.elapsed(), seconds(1)) << "it is asked again soon";
  }
  while (clock.elapsed() - seen < seconds(40)) {
    ASSERT_EQ(*next(), Action(AskTool{Question::View}));
    keeper.answered(unasked());
  }
  EXPECT_GE(*keeper.next_due() - clock.elapsed(), seconds(4)) << "that seems to last";
  ASSERT_EQ(*next(), Action(AskTool{Question::View}));
  keeper.answered(says(kView));
  EXPECT_EQ(keeper.status().message, "");
  EXPECT_FALSE(keeper.status().peers.empty());
}

// Only its answers show that it lives.
TEST_F(DaemonKeeperTest, ADaemonOfTheHostThatNobodyCanAskForLongHasFailed) {
  DaemonKeeper hosts(clock, base::Random(1), /*is_hosts=*/true);
  ASSERT_TRUE(hosts.want(some_want()));
  ASSERT_TRUE(std::holds_alternative<StartChild>(*hosts.next()));
  hosts.started();
  const auto answer_all = [&](const ToolAnswer& answer, base::Duration time) {
    for (const base::Duration end = clock.elapsed() + time; clock.elapsed() < end;) {
      clock.advance(milliseconds(100));
      if (hosts.next()) hosts.answered(answer);
    }
  };
  answer_all(says("READY\n"), seconds(2));
  ASSERT_EQ(hosts.status().phase, DaemonPhase::Ready);
  answer_all(unasked(), seconds(8));
  EXPECT_EQ(hosts.status().phase, DaemonPhase::Ready);
  answer_all(unasked(), seconds(10));
  EXPECT_EQ(hosts.status().phase, DaemonPhase::Failed);
  EXPECT_THAT(hosts.status().message, HasSubstr("cannot start a process"));
}

TEST_F(DaemonKeeperTest, AQuestionThatWasNotAskedIsNoSecondRefusal) {
  become_ready();
  ASSERT_EQ(*next(), Action(AskTool{Question::View}));
  keeper.answered(refusal());
  ASSERT_EQ(*next(), Action(AskTool{Question::State}));
  keeper.answered(refusal());
  for (int i = 0; i < 3; ++i) {
    ASSERT_EQ(*next(), Action(AskTool{Question::State}));
    keeper.answered(unasked());
    EXPECT_EQ(keeper.status().phase, DaemonPhase::Ready);
  }
  ASSERT_EQ(*next(), Action(AskTool{Question::State}));
  keeper.answered(says("READY\n"));
  EXPECT_EQ(keeper.status().message, "");
}

TEST_F(DaemonKeeperTest, ConnectionsWithoutNewsCountAsNoneAfterAWhile) {
  become_ready();
  const base::Duration seen = clock.elapsed();
  std::optional<base::Duration> first_empty;
  while (clock.elapsed() - seen < seconds(30)) {
    if (!first_empty && keeper.status().peers.empty()) first_empty = clock.elapsed();
    ASSERT_EQ(*next(), Action(AskTool{Question::View}));
    clock.advance(keeper.view_time());
    keeper.answered(silence());
    EXPECT_EQ(keeper.status().phase, DaemonPhase::Ready);
    EXPECT_THAT(keeper.status().message, HasSubstr("-N gives no answer"));
    EXPECT_EQ(keeper.status().peers.empty(), clock.elapsed() - seen >= seconds(10));
    ASSERT_EQ(*next(), Action(AskTool{Question::State})) << "does the daemon hang?";
    keeper.answered(says("READY\n"));
  }
  ASSERT_TRUE(first_empty);
  EXPECT_LE(*first_empty - seen, seconds(14));
}

TEST_F(DaemonKeeperTest, AnAnswerAboutTheInstanceBeforeIsIgnored) {
  become_ready();
  next();
  keeper.ended("was ended by SIGSEGV");
  ASSERT_TRUE(std::holds_alternative<StartChild>(*keeper.next()));
  keeper.started();
  keeper.answered(says("READY\n"));
  EXPECT_EQ(keeper.status().phase, DaemonPhase::Starting);
  EXPECT_EQ(*next(), Action(AskTool{Question::State}));
}

TEST_F(DaemonKeeperTest, ASuccessorStartsWhatItsPredecessorOfThisBootHadRunning) {
  DaemonStatus last;
  last.group = "g";
  last.instance = "old";
  last.running = true;
  last.phase = DaemonPhase::Ready;
  keeper.resume(last, some_want());
  EXPECT_FALSE(keeper.status().running) << "the daemon ended with its supervisor";
  EXPECT_EQ(keeper.status().phase, DaemonPhase::Failed);
  ASSERT_TRUE(std::holds_alternative<StartChild>(*keeper.next()));
  keeper.started();
  EXPECT_NE(keeper.status().instance, "old");
}

TEST_F(DaemonKeeperTest, KeepsItsRulesUnderAnyOrderOfEvents) {
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    SCOPED_TRACE(seed);
    base::Random random(seed);
    base::ManualClock time;
    DaemonKeeper k(time, base::Random(seed));
    bool runs = false, answered = false, is_view = false;
    std::optional<base::Duration> last_signal, told_to_stop;
    for (int i = 0; i < 300; ++i) {
      switch (random.below(10)) {
        case 0:
          (void)k.want(some_want(random.chance(0.9) ? "g" : "other"));
          break;
        case 1:
          if (random.chance(0.3)) k.stop();
          break;
        case 2:
          k.request_signal();
          break;
        case 3:
          if (runs && random.chance(0.3)) {
            runs = answered = false;
            last_signal.reset();
            told_to_stop.reset();
            k.ended("exited");
          }
          break;
        case 5:
          k.printed(1);
          if (random.chance(0.2)) {
            k.set_hosts({"10.0.0.2\tb\n", std::to_string(random.below(4))});
          }
          break;
        case 4: {
          const ToolAnswer answer = random.chance(0.6)   ? says(is_view ? kView : "READY\n")
                                    : random.chance(0.1) ? unasked()
                                    : random.chance(0.5) ? refusal()
                                                         : silence();
          k.answered(answer);
          answered = k.status().answers;
          break;
        }
        default:
          time.advance(milliseconds(random.below(2000)));
      }
      while (const auto action = k.next()) {
        if (const auto* ask = std::get_if<AskTool>(&*action)) {
          is_view = ask->question == Question::View;
        }
        if (std::holds_alternative<StartChild>(*action)) {
          ASSERT_FALSE(runs) << "one daemon per operating system";
          if (random.chance(0.2)) {
            k.failed_to_start({base::ErrorKind::Invalid, "no"});
          } else {
            runs = true;
            k.started();
          }
        } else if (const auto* signal = std::get_if<SignalChild>(&*action)) {
          ASSERT_TRUE(runs);
          if (signal->number == SIGUSR1) {
            ASSERT_TRUE(answered);
            ASSERT_TRUE(!last_signal || time.elapsed() - *last_signal >= seconds(5));
            last_signal = time.elapsed();
          } else if (signal->number == SIGTERM) {
            ASSERT_FALSE(told_to_stop);
            told_to_stop = time.elapsed();
          } else {
            ASSERT_TRUE(told_to_stop && time.elapsed() - *told_to_stop >= seconds(5));
          }
        }
      }
      ASSERT_EQ(k.status().running, runs);
    }
  }
}

TEST_F(DaemonKeeperTest, AGoodWordDoesNotTakeBackWhatTheViewLacks) {
  become_ready();
  ASSERT_EQ(*next(), Action(AskTool{Question::View}));
  clock.advance(seconds(2));
  keeper.answered(silence());
  const std::string said = keeper.status().message;
  ASSERT_THAT(said, HasSubstr("-N gives no answer"));
  ASSERT_EQ(*next(), Action(AskTool{Question::State}));
  keeper.answered(says("READY\n"));
  EXPECT_EQ(keeper.status().message, said);
}

TEST_F(DaemonKeeperTest, AToolThatNeverWorksIsNamedOnceTheUsualStartIsOver) {
  start();
  const base::Duration began = clock.elapsed();
  while (clock.elapsed() - began < seconds(30)) {
    ASSERT_EQ(*next(), Action(AskTool{Question::State}));
    keeper.answered(
        {ToolAnswer::Outcome::Refusal, "error while loading shared libraries: libz.so.1"});
  }
  EXPECT_EQ(keeper.status().phase, DaemonPhase::Starting);
  EXPECT_THAT(keeper.status().message, HasSubstr("libz.so.1"));
}

}  // namespace
}  // namespace cdom::imex
