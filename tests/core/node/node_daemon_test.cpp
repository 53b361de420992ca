#include <arpa/inet.h>

#include <set>

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
