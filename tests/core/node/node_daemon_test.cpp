#include <arpa/inet.h>

#include <set>

#include "compute_domain/base/text.h"
#include "core/node/daemon/hosts.h"
#include "core/node/node_scene.h"

namespace cdom::core {
namespace {

using testing::HasSubstr;

NodeScene waiting_to_start(const api::NodeList& list) {
  NodeScene scene;
  scene.settle().show(list).prepare("a").settle();
  return scene;
}

TEST(StartPolicy, StartsAtOnceWhenTheListIsComplete) {
  EXPECT_EQ(waiting_to_start(train(2).admits("a")).starts, 1);
}

TEST(StartPolicy, StartsWhenTheListHasBeenUnchangedFor200Milliseconds) {
  NodeScene scene = waiting_to_start(train(2).admits("a").growing());
  EXPECT_EQ(scene.starts, 0);
  EXPECT_EQ(scene.plan().look_again, milliseconds(200));

  scene.advance(milliseconds(199)).settle();
  EXPECT_EQ(scene.starts, 0);
  scene.advance(milliseconds(1)).settle();
  EXPECT_EQ(scene.starts, 1);
}

TEST(StartPolicy, StartsOneSecondAfterTheListWasFirstSeenHoweverItChanges) {
  NodeScene scene = waiting_to_start(train(2).admits("a").growing());
  for (std::int64_t count = 3; count < 9; ++count) {
    scene.advance(milliseconds(160)).show(train(count).admits("a").growing()).settle();
  }
  EXPECT_EQ(scene.starts, 0);
  scene.advance(milliseconds(40)).settle();
  EXPECT_EQ(scene.starts, 1);
}

TEST(NodeDaemon, ReadsATableThatDependsOnTheGroupAloneAndHostsThatFollowTheList) {
  NodeScene scene;
  api::NodeList list = train(4).admits("a");
  list.entries[1].member = false;
  list.entries[2].address = "";
  scene.settle().show(list).prepare("a").settle();

  EXPECT_EQ(scene.world.daemon->table_hash, api::table_hash(list));
  const auto line = [&](const std::string& address, std::int64_t slot) {
    return address + "\t" + api::slot_host_name(list.group, slot) + "\n";
  };
  EXPECT_THAT(scene.hosts, testing::StartsWith(line("10.0.0.1", 0) + line("127.0.1.2", 1) +
                                               line("127.0.1.3", 2) + line("10.0.0.4", 3)));
  EXPECT_EQ(std::ranges::count(scene.hosts, '\n'), 18);
}

TEST(NodeDaemon, LeadsTheNamesOfEmptySlotsToAddressesOfTheirOwn) {
  std::set<std::string> addresses;
  for (std::int64_t slot = 0; slot < 10'000; ++slot) {
    const std::string address = nobodys_address(slot);
    EXPECT_TRUE(addresses.insert(address).second) << address;
    in_addr parsed{};
    ASSERT_EQ(inet_pton(AF_INET, address.c_str(), &parsed), 1) << address;
    EXPECT_EQ(ntohl(parsed.s_addr) >> 16, 0x7f00U) << "of this node alone";
    EXPECT_GT(ntohl(parsed.s_addr), 0x7f0000ffU) << "no address that something else may have";
  }
}

TEST(NodeDaemon, WritesTheHostsFileAgainWhenItIsGone) {
  NodeScene scene = serving(2);
  scene.hosts.clear();
  scene.world.daemon->hosts_revision = "";  // the container was started anew
  scene.settle();
  EXPECT_THAT(scene.hosts, HasSubstr("10.0.0.2"));
  EXPECT_EQ(scene.signals, 0);
}

TEST(NodeDaemon, IsStartedAgainWhenItEndsByItselfWithGrowingDelays) {
  NodeScene scene = serving();
  scene.daemon_dies().settle();
  EXPECT_EQ(scene.starts, 2) << "at once, as it was READY";

  scene.daemon_dies().settle().advance(milliseconds(499)).settle();
  EXPECT_EQ(scene.starts, 2);
  scene.advance(milliseconds(1)).settle();
  EXPECT_EQ(scene.starts, 3);

  scene.daemon_dies().settle().advance(milliseconds(999)).settle();
  EXPECT_EQ(scene.starts, 3);
  scene.advance(milliseconds(1)).settle();
  EXPECT_EQ(scene.starts, 4);
}

TEST(NodeDaemon, IsLeftToASupervisorThatStartsItAgain) {
  NodeScene scene = serving(2);
  scene.daemon_dies();
  scene.world.daemon->starts_again = true;
  scene.settle().advance(minutes(1)).settle();
  EXPECT_EQ(scene.starts, 1);
  api::NodeList moved = train(2).admits("a");
  moved.entries[1].address = "10.0.9.9";
  scene.show(moved).settle();
  EXPECT_THAT(scene.hosts, HasSubstr("10.0.9.9")) << "it reads them when it starts";
  EXPECT_EQ(scene.starts, 1);

  // It has lost the wish: its pod has another address.
  scene.world.daemon->starts_again = false;
  scene.settle();
  EXPECT_EQ(scene.starts, 2);
}

TEST(NodeDaemon, IsNotLeftToASupervisorThatWouldStartItInAnotherSlot) {
  NodeScene scene = serving(2);
  scene.daemon_dies();
  scene.world.daemon->starts_again = true;
  scene.world.daemon->slot = 7;
  scene.settle();
  EXPECT_EQ(scene.starts, 2);
  EXPECT_EQ(scene.world.daemon->slot, 0);
}

TEST(NodeDaemon, IsStartedAgainWithTheSameTableWhenItsListHasVanished) {
  NodeScene scene = serving(2);
  const std::string table = scene.world.daemon->table_hash;
  scene.show_no_lists().daemon_dies().advance(seconds(1)).settle();
  EXPECT_EQ(scene.starts, 2);
  EXPECT_EQ(scene.world.daemon->table_hash, table);
}

TEST(NodeDaemon, GoesOnWhenItsListVanishesOrNoLongerAdmitsItsClaim) {
  NodeScene scene = serving(2);
  scene.show(train(2)).advance(minutes(1)).settle();
  scene.show_no_lists().advance(minutes(1)).settle();
  EXPECT_EQ(scene.stops, 0);
}

TEST(Signal, IsSentWhenAPeerThatIsNotConnectedHasANewInstance) {
  NodeScene scene = serving(1);
  scene.show(train(2).admits("a")).settle();
  EXPECT_EQ(scene.signals, 0) << "the newcomer's daemon is not known to run";

  scene.show(train(1).member(1, "j1").admits("a")).settle();
  EXPECT_EQ(scene.signals, 1);
  scene.settle();
  EXPECT_EQ(scene.signals, 1);
}

TEST(Signal, IsNotSentForThePeerThatIsConnectedOrForOneThatLeaves) {
  NodeScene scene = serving(3);
  scene.show(train(1).member(1, "j1").member(2, "k1").admits("a")).settle();
  api::NodeList left = train(1).member(1, "j1").member(2, "k1").admits("a");
  left.entries[2].member = false;
  scene.daemon_ready({1}).show(left).settle();
  EXPECT_EQ(scene.signals, 0);
}

TEST(Signal, IsSentAtMostOncePerFiveSeconds) {
  NodeScene scene = serving(2);
  scene.daemon_ready({}).show(train(1).member(1, "j1").admits("a")).settle();
  scene.advance(seconds(2)).show(train(1).member(1, "j2").admits("a")).settle();
  EXPECT_EQ(scene.signals, 1);
  EXPECT_LE(*scene.plan().look_again, seconds(3));
  scene.advance(seconds(3)).settle();
  EXPECT_EQ(scene.signals, 2);
}

// A peer whose report says every moment that its daemon is another one, and what is made of it
// here.
class RestlessPeer {
 public:
  explicit RestlessPeer(NodeScene& scene) : scene_(scene) { scene_.daemon_ready({}).settle(); }

  // Shows another instance of the peer's daemon each time until `span` has passed.
  void changes_for(base::Duration span, base::Duration pause = seconds(5)) {
    for (const base::Duration end = scene_.world.elapsed + span; scene_.world.elapsed < end;) {
      changes();
      scene_.advance(pause);
    }
  }
  void changes() { scene_.show(list(base::cat("j", ++count_), quiet)).settle(); }
  [[nodiscard]] static ListBuilder list(const std::string& restless, const std::string& quiet) {
    ListBuilder list = train(1).member(1, restless);
    if (!quiet.empty()) list.member(2, quiet);
    return list.admits("a");
  }

  std::string quiet;  // the instance of another peer's daemon, if there is one

 private:
  NodeScene& scene_;
  int count_ = 0;
};

TEST(Signal, IsSentAtOnceForTheFirstChangesOfAPeer) {
  NodeScene scene = serving(2);
  RestlessPeer peer(scene);
  for (int restarts = 1; restarts <= 5; ++restarts) {
    peer.changes();
    EXPECT_EQ(scene.signals, restarts);
    scene.advance(seconds(5));
  }
}

TEST(Signal, IsSentEverLessOftenForAPeerThatChangesAgainAndAgain) {
  for (const milliseconds pause : {milliseconds(990), milliseconds(4900), milliseconds(5000),
                                   milliseconds(16'000), milliseconds(60'000)}) {
    NodeScene scene = serving(2);
    RestlessPeer peer(scene);
    peer.changes_for(minutes(30), pause);
    EXPECT_LE(scene.signals, 30) << "it could be 360";
    EXPECT_GE(scene.signals, 10) << "it is not given up either";
    const int before = scene.signals;
    peer.changes_for(minutes(30), pause);
    EXPECT_LE(scene.signals, before + 14) << "two for each gap at most";
  }
}

TEST(Signal, IsSentInTheEndForAPeerThatHasChangedTooOften) {
  NodeScene scene = serving(2);
  RestlessPeer peer(scene);
  peer.changes_for(minutes(30));
  const int before = scene.signals;
  const auto wait = scene.plan().look_again;
  ASSERT_TRUE(wait) << "nothing else may ever wake it";
  EXPECT_LE(*wait, minutes(5));
  scene.advance(*wait).settle();
  EXPECT_EQ(scene.signals, before + 1);
  scene.advance(std::chrono::hours(1)).settle();
  EXPECT_EQ(scene.signals, before + 1) << "once for all that has changed";
}

TEST(Signal, IsSentAtOnceForOnePeerBesideAnotherThatChangesTooOften) {
  NodeScene scene = serving(3);
  RestlessPeer peer(scene);
  peer.quiet = "k1";
  peer.changes_for(minutes(30));
  const int before = scene.signals;
  peer.quiet = "k2";
  peer.changes();
  EXPECT_EQ(scene.signals, before + 1);
  scene.advance(minutes(5)).settle();
  EXPECT_EQ(scene.signals, before + 1) << "the other one was dialled along with it";
}

TEST(Signal, IsSentAtOnceAgainForAPeerThatHasBeenQuiet) {
  NodeScene scene = serving(2);
  RestlessPeer peer(scene);
  peer.changes_for(minutes(30));
  scene.advance(minutes(5)).settle();
  const int before = scene.signals;
  scene.advance(minutes(25)).settle();
  for (int restarts = 1; restarts <= 5; ++restarts) {
    peer.changes();
    EXPECT_EQ(scene.signals, before + restarts);
    scene.advance(seconds(5));
  }
}

TEST(Signal, IsSentNoMoreOftenForAPeerThatIsQuietOnPurpose) {
  NodeScene scene = serving(2);
  RestlessPeer peer(scene);
  for (int i = 0; i < 4; ++i) {
    peer.changes_for(minutes(1));
    scene.advance(minutes(30)).settle();
  }
  EXPECT_LE(scene.signals, 4 * 9);
}

// What it reports may also make it come and go.
TEST(Signal, IsNotSentMoreOftenForAPeerThatIsAwayInBetween) {
  NodeScene scene = serving(2);
  RestlessPeer peer(scene);
  for (int i = 0; i < 360; ++i) {
    peer.changes_for(seconds(5));
    scene.show(train(1).admits("a")).advance(seconds(5)).settle();
  }
  EXPECT_LE(scene.signals, 24);
}

// The agent's own restart forgets how often a peer has changed, and nothing of what was dialled.
TEST(Signal, IsNotSentByAnAgentThatHasJustStartedForWhatWasDialled) {
  NodeScene scene = serving(2);
  RestlessPeer peer(scene);
  peer.changes();
  ASSERT_EQ(scene.signals, 1);
  scene.advance(seconds(5)).show_no_lists().restart_agent();
  scene.show(RestlessPeer::list("j1", "")).settle();
  EXPECT_EQ(scene.signals, 1);
  scene.show_no_lists().restart_agent().show(RestlessPeer::list("j2", "")).settle();
  EXPECT_EQ(scene.signals, 2) << "it became another one meanwhile";
}

// It is of this peer where it was, and of no other that comes in its place.
TEST(Signal, KeepsWhatALaterVersionHasWrittenOfAPeerThatIsTheSame) {
  NodeScene scene = serving(1);
  scene.show(train(1).member(1, "j1").member(2, "k1").admits("a")).settle();
  ASSERT_EQ(scene.signals, 1);
  ServedImexGroup& served = *scene.world.checkpoint.served;
  served.later = served.peers.at(1).later = served.peers.at(2).later = R"({"laterField":1})";
  scene.advance(seconds(5)).show(train(1).member(1, "j1").member(2, "k2").admits("a")).settle();
  ASSERT_EQ(scene.signals, 2);
  EXPECT_EQ(served.peers.at(1).later, R"({"laterField":1})");
  EXPECT_EQ(served.peers.at(2).later, "");
  EXPECT_EQ(served.later, R"({"laterField":1})");
}

TEST(Signal, NeverComesBeforeTheDaemonHasAnswered) {
  NodeScene scene;
  scene.settle().show(train(1).admits("a")).prepare("a").settle();
  scene.show(train(1).member(1, "j1").admits("a")).settle();
  EXPECT_EQ(scene.signals, 0);
  scene.daemon_ready().settle();
  EXPECT_EQ(scene.signals, 1);
}

}  // namespace
}  // namespace cdom::core
