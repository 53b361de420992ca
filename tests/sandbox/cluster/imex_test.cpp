#include "compute_domain/sandbox/imex.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sandbox/cluster/imex/connection_log.h"

namespace cdom::sandbox {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using testing::ElementsAre;

// Nodes n0, n1, … at 10.88.0.<i>, in a table of names slot0, slot1, ….
class ImexTest : public testing::Test {
 protected:
  explicit ImexTest(const ImexParameters& parameters = ImexParameters::documented())
      : network_(clock_, base::Random(7), parameters) {
    for (int i = 0; i < 3; ++i) nodes_.push_back(&network_.add_node(node(i), address(i)));
  }
  static std::string node(int i) { return "n" + std::to_string(i); }
  static std::string address(int i) { return "10.88.0." + std::to_string(i + 1); }
  static ImexConfig config(int i, std::vector<std::string> table = {"slot0", "slot1", "slot2"}) {
    return {"group", std::move(table), address(i)};
  }
  void start(int i, int known_peers = 3) {
    std::map<std::string, std::string> hosts;
    for (int k = 0; k < 3; ++k) {
      hosts["slot" + std::to_string(k)] = k < known_peers || k == i ? address(k) : "127.0.0.2";
    }
    nodes_[i]->set_hosts(hosts);
    ASSERT_TRUE(nodes_[i]->start(config(i)));
  }
  void settle() {
    for (int i = 0; i < 1000 && network_.step(); ++i) {
    }
  }
  void wait(base::Duration time) {
    const base::Duration end = clock_.elapsed() + time;
    settle();
    while (auto due = network_.next_due()) {
      if (*due > end) break;
      if (*due > clock_.elapsed()) clock_.advance(*due - clock_.elapsed());
      settle();
    }
    clock_.advance(end - clock_.elapsed());
    settle();
  }
  std::string letters(int i) {
    std::string text;
    const auto view = nodes_[i]->query();
    if (!view) return "-";
    for (const ImexPeer& peer : view->peers) text += static_cast<char>(peer.link);
    return text;
  }
  ImexState state(int i) { return nodes_[i]->query().value_or(ImexView{}).state; }

  base::ManualClock clock_;
  ImexNetwork network_;
  std::vector<Imex*> nodes_;
};

// What a step costs does not grow with the number of daemons, so this is what a formation costs.
TEST(ImexNetwork, TakesAStepForEachConnectionAndTwoForEachDaemon) {
  constexpr int kDaemons = 40;
  base::ManualClock clock;
  ImexNetwork network(clock, base::Random(1));
  std::vector<Imex*> nodes;
  std::vector<std::string> table;
  for (int i = 0; i < kDaemons; ++i) {
    table.push_back("10.88.0." + std::to_string(i + 1));
    nodes.push_back(&network.add_node("n" + std::to_string(i), table.back()));
  }
  for (int i = 0; i < kDaemons; ++i) ASSERT_TRUE(nodes[i]->start({"group", table, table[i]}));
  int steps = 0;
  for (int round = 0; round < 10; ++round) {
    while (network.step()) ++steps;
    if (const auto due = network.next_due()) clock.advance(*due - clock.elapsed());
  }
  for (const Imex* node : nodes) EXPECT_EQ(node->connected_count(), kDaemons - 1);
  EXPECT_LE(steps, kDaemons * (kDaemons - 1) + 2 * kDaemons);
  const std::uint64_t before = nodes[0]->revision();
  nodes[1]->kill();
  while (const auto due = network.next_due()) {
    if (nodes[0]->revision() != before) break;
    if (*due > clock.elapsed()) clock.advance(*due - clock.elapsed());
    ASSERT_TRUE(network.step());
  }
  EXPECT_EQ(nodes[0]->connected_count(), kDaemons - 2);
}

TEST_F(ImexTest, CountsWhatChangesOfLinksAloneApart) {
  start(0);
  settle();
  const std::uint64_t changes = nodes_[0]->revision(), of_links = nodes_[0]->link_changes();
  start(1);
  settle();
  EXPECT_EQ(letters(0), "CN");
  EXPECT_EQ(nodes_[0]->revision(), changes + 1);
  EXPECT_EQ(nodes_[0]->link_changes(), of_links + 1);
  nodes_[0]->set_hung(true);
  EXPECT_EQ(nodes_[0]->revision(), changes + 2);
  EXPECT_EQ(nodes_[0]->link_changes(), of_links + 1);
}

TEST_F(ImexTest, IsReadyAtOnceAndConnectsToThePeersThatRun) {
  start(0);
  start(1);
  settle();
  EXPECT_EQ(state(0), ImexState::Ready);
  EXPECT_EQ(letters(0), "CN");
  EXPECT_EQ(letters(1), "CN");
}

TEST_F(ImexTest, RefusesASecondDaemonOnTheSameNode) {
  start(0);
  const auto second = nodes_[0]->start(config(0));
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().kind, base::ErrorKind::Conflict);
}

// Only the caller's side connects by a handshake.
ImexParameters one_sided() {
  ImexParameters parameters = ImexParameters::documented();
  parameters.incoming_handshake_connects = false;
  return parameters;
}
class OneSidedImexTest : public ImexTest {
 protected:
  OneSidedImexTest() : ImexTest(one_sided()) {}
};

TEST_F(OneSidedImexTest, SitsInBackOffUntilItsTimeHasCome) {
  start(0);
  settle();
  start(1);
  wait(seconds(14));
  EXPECT_EQ(letters(0), "NN");
  EXPECT_EQ(letters(1), "CN");
  wait(seconds(2));
  EXPECT_EQ(letters(0), "CN");
}

TEST_F(OneSidedImexTest, ConnectsAgainAtOnceOnTheFirstSignalInFiveSeconds) {
  start(0);
  settle();
  nodes_[0]->signal_usr1();
  settle();
  start(1);
  wait(seconds(4));
  nodes_[0]->signal_usr1();
  settle();
  EXPECT_EQ(letters(0), "NN");
  wait(seconds(1));
  nodes_[0]->signal_usr1();
  settle();
  EXPECT_EQ(letters(0), "CN");
}

TEST_F(ImexTest, ReadsTheHostsFileWheneverItConnects) {
  start(0, 1);
  start(1, 1);
  settle();
  EXPECT_EQ(letters(1), "CN");
  EXPECT_EQ(letters(0), "CN");
  nodes_[1]->kill();
  settle();
  EXPECT_EQ(letters(0), "RN");
}

TEST_F(ImexTest, TellsANameThatDoesNotResolve) {
  nodes_[0]->set_hosts({{"slot0", address(0)}});
  ASSERT_TRUE(nodes_[0]->start(config(0)));
  settle();
  EXPECT_EQ(letters(0), "II");
}

TEST_F(ImexTest, RefusesAPeerWithAnotherTable) {
  nodes_[1]->set_hosts({{"slot0", address(0)}, {"slot1", address(1)}});
  ASSERT_TRUE(nodes_[1]->start(config(1, {"slot0", "slot1"})));
  settle();
  start(0);
  settle();
  EXPECT_EQ(letters(0), "MN");
  EXPECT_EQ(letters(1), "N");
  wait(seconds(16));
  EXPECT_EQ(letters(1), "M");
}

TEST_F(ImexTest, ASignalBeforeTheHandlerEndsTheDaemon) {
  start(0);
  nodes_[0]->signal_usr1();
  EXPECT_FALSE(nodes_[0]->is_running());
  EXPECT_EQ(nodes_[0]->ends(), 1u);
}

TEST_F(ImexTest, WaitsForTheImportersOfAnUncleanRun) {
  start(0);
  start(1);
  settle();
  nodes_[0]->set_importing(true);
  nodes_[1]->kill();
  nodes_[0]->kill();
  start(0);
  settle();
  EXPECT_EQ(state(0), ImexState::WaitingForRecovery);
  EXPECT_THAT(nodes_[0]->record("group"), ElementsAre("slot1"));
  start(1);
  settle();
  EXPECT_EQ(state(0), ImexState::Ready);
}

TEST_F(ImexTest, ACleanStopTellsThePeersAndLeavesNoRecord) {
  start(0);
  start(1);
  settle();
  nodes_[0]->set_importing(true);
  nodes_[0]->stop();
  EXPECT_EQ(letters(1), "DN");
  EXPECT_THAT(nodes_[0]->record("group"), ElementsAre());
}

TEST_F(ImexTest, APeerWithoutPowerIsNoticedAfterSilence) {
  start(0);
  start(1);
  settle();
  network_.power_off(node(1));
  wait(seconds(19));
  EXPECT_EQ(letters(0), "CN");
  wait(seconds(2));
  EXPECT_EQ(letters(0), "RN");
}

TEST_F(ImexTest, AShortCutIsNotNoticed) {
  start(0);
  start(1);
  settle();
  network_.set_cut(node(1), true);
  wait(seconds(10));
  network_.set_cut(node(1), false);
  wait(seconds(60));
  EXPECT_EQ(letters(0), "CN");
}

TEST_F(ImexTest, OfASplitNetworkEachPartIsConnectedInItself) {
  for (int i = 0; i < 3; ++i) start(i);
  settle();
  network_.set_split(node(0), true);
  network_.set_split(node(1), true);
  wait(seconds(21));
  EXPECT_EQ(letters(0), "CR");
  EXPECT_EQ(letters(1), "CR");
  EXPECT_EQ(letters(2), "RR");
  network_.set_split(node(0), false);
  wait(seconds(60));
  EXPECT_EQ(letters(0), "RC");
  network_.set_split(node(1), false);
  wait(seconds(60));
  for (int i = 0; i < 3; ++i) EXPECT_EQ(letters(i), "CC");
}

TEST_F(ImexTest, AHungDaemonAnswersNobody) {
  start(0);
  start(1);
  settle();
  nodes_[1]->set_hung(true);
  wait(seconds(21));
  EXPECT_FALSE(nodes_[1]->query());
  EXPECT_EQ(letters(0), "RN");
}

TEST_F(ImexTest, TheLogOfItsConnectionsTellsWhatLastsASecond) {
  ConnectionLog log(*nodes_[0], clock_);
  std::uint64_t told = 0;
  const auto look = [&] {
    settle();
    log.look();
    return log.news(told).value_or("");
  };
  start(0);
  EXPECT_EQ(look(), "");
  start(1);
  EXPECT_EQ(look(), "");
  clock_.advance(seconds(1));
  EXPECT_EQ(look(), "IMEX: READY; connected to 1 peer: n1\n");
  clock_.advance(seconds(60));
  EXPECT_EQ(look(), "");
  nodes_[0]->kill();
  EXPECT_EQ(look(), "");
  EXPECT_EQ(log.next_due(), clock_.elapsed() + seconds(1));
  clock_.advance(seconds(1));
  EXPECT_EQ(look(), "IMEX: the daemon does not answer\n");
}

}  // namespace
}  // namespace cdom::sandbox
