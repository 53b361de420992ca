// What the stand-in daemons do, as far as the real ones are known to do it (facts of the IMEX
// guide), seen through their supervisors.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <csignal>

#include "compute_domain/base/descriptor.h"
#include "imex/rig.h"

namespace cdom::imex {
namespace {

using ::testing::HasSubstr;

// Nodes whose stand-ins have these options.
struct Options {
  std::string key, value;
};
void open_nodes(Rig& rig, int count, const std::vector<Options>& all) {
  for (int i = 0; i < count; ++i) {
    rig.nodes.push_back(std::make_unique<Node>(i));
    for (const Options& one : all) rig.node(i).options.imex_options[one.key] = one.value;
    ASSERT_TRUE(rig.node(i).open());
  }
}

TEST(StandInImex, ComparesTheWholeTable) {
  Rig rig(2);
  rig.start(0);
  Want other = rig.want(1);
  other.table_text += "slot-2\n";
  EXPECT_FALSE(rig.ask(rig.node(1), rig.hosts()));
  EXPECT_FALSE(rig.ask(rig.node(1), other));
  EXPECT_TRUE(rig.until_letter(0, 1, 'M'));
  EXPECT_TRUE(rig.until_letter(1, 0, 'M'));
}

TEST(StandInImex, TellsAnotherVersion) {
  Rig rig(0, 2);
  open_nodes(rig, 2, {});
  rig.node(1).close();
  rig.node(1).options.imex_options["STAND_IN_VERSION"] = "570.1";
  ASSERT_TRUE(rig.node(1).open());
  rig.start(0);
  rig.start(1);
  EXPECT_TRUE(rig.until_letter(0, 1, 'V'));
}

TEST(StandInImex, ReadsItsTableOnlyAtTheStart) {
  Rig rig(2);
  rig.start(0);
  ASSERT_TRUE(rig.until_phase(0, DaemonPhase::Ready));
  rig.node(0).dir.write("run/nodes.cfg", "somebody-else\n");
  rig.start(1);
  EXPECT_TRUE(rig.until_letter(0, 1, 'C'));
}

TEST(StandInImex, WaitsInItsBackOffUntilSigusr1) {
  Rig rig(0, 2);
  open_nodes(rig, 2, {{"STAND_IN_BACK_OFF_MS", "600000"}, {"STAND_IN_INCOMING_CONNECTS", "0"}});
  rig.start(0);
  ASSERT_TRUE(rig.until_letter(0, 1, 'N'));
  rig.start(1);
  ASSERT_TRUE(rig.until_letter(1, 0, 'C'));
  EXPECT_TRUE(rig.until_letter(0, 1, 'N')) << "only who dials is connected, and it waits";
  EXPECT_FALSE(rig.ask(rig.node(0), Signal{}));
  EXPECT_TRUE(rig.until_letter(0, 1, 'C'));
}

TEST(StandInImex, FindsAPeerAtItsNewAddressWhenItDialsAgain) {
  Rig rig(2);
  Hosts wrong = rig.hosts();
  wrong.text = loopback_address(0) + " slot-0\n127.0.0.2 slot-1\n";
  wrong.revision = "wrong";
  EXPECT_FALSE(rig.ask(rig.node(0), wrong));
  EXPECT_FALSE(rig.ask(rig.node(0), rig.want(0)));
  ASSERT_TRUE(rig.until_letter(0, 1, 'N'));
  rig.start(1);
  EXPECT_FALSE(rig.ask(rig.node(0), rig.hosts()));
  EXPECT_TRUE(rig.until_letter(0, 1, 'C'));
}

TEST(StandInImex, CountsAnUnresolvableNameAsInvalid) {
  Rig rig(1, 2);
  EXPECT_FALSE(rig.ask(rig.node(0), Hosts{loopback_address(0) + " slot-0\n", "r"}));
  EXPECT_FALSE(rig.ask(rig.node(0), rig.want(0)));
  EXPECT_TRUE(rig.until_letter(0, 1, 'I'));
}

TEST(StandInImex, EndsWhenNoEntryIsItsOwn) {
  Rig rig(1);
  EXPECT_FALSE(rig.ask(rig.node(0), Hosts{"127.0.0.2 slot-0\n", "r"}));
  EXPECT_FALSE(rig.ask(rig.node(0), rig.want(0)));
  ASSERT_TRUE(rig.until_phase(0, DaemonPhase::Failed));
  EXPECT_EQ(rig.node(0).agent->state->message,
            "nvidia-imex exited with code 1; its last words: nvidia-imex (stand-in): no entry of "
            "the node table resolves to an address of this node");
}

// Whether what `act` does with a socket, bind or connect, is done at [::1].
bool can(int (*act)(int, const sockaddr*, socklen_t), int port) {
  const base::Descriptor socket(::socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in6 loopback{};
  loopback.sin6_family = AF_INET6;
  loopback.sin6_addr = in6addr_loopback;
  loopback.sin6_port = htons(static_cast<std::uint16_t>(port));
  return act(socket.get(), reinterpret_cast<const sockaddr*>(&loopback), sizeof loopback) == 0;
}

TEST(StandInImex, HasAnIpv6AddressWhereItsNodeHasOne) {
  if (!can(bind, 0)) GTEST_SKIP() << "no IPv6 here";
  Rig rig(0, 2);
  rig.nodes.push_back(std::make_unique<Node>(0));
  // All processes share the one loopback address.
  const int port = 20000 + getpid() % 6000 * 2;
  rig.node(0).options.server_port = port;
  rig.node(0).options.command_port = port + 1;
  ASSERT_TRUE(rig.node(0).open());
  Want want = rig.want(0);
  want.address = "::1";
  EXPECT_FALSE(rig.ask(rig.node(0), Hosts{"::1 slot-0\n127.0.0.2 slot-1\n", "r"}));
  EXPECT_FALSE(rig.ask(rig.node(0), want));
  EXPECT_TRUE(rig.until_phase(0, DaemonPhase::Ready));
  EXPECT_TRUE(rig.until_letter(0, 1, 'N'));
  EXPECT_TRUE(can(connect, port) && can(connect, port + 1));
}

TEST(StandInImex, IsOnePerOperatingSystem) {
  Rig rig(0, 2);
  open_nodes(rig, 1, {});
  rig.nodes.push_back(std::make_unique<Node>(1));
  rig.node(1).options.imex_options["STAND_IN_OS_DIRECTORY"] = rig.node(0).dir.at("os");
  ASSERT_TRUE(rig.node(1).open());
  rig.start(0);
  ASSERT_TRUE(rig.until_phase(0, DaemonPhase::Ready));
  rig.start(1);
  EXPECT_TRUE(rig.until_phase(1, DaemonPhase::Failed));
}

TEST(StandInImex, WaitsForItsImportersAfterAnUncleanEnd) {
  Rig rig(2);
  for (int i = 0; i < 2; ++i) rig.node(i).dir.write("os/importing", "");
  rig.start(0);
  rig.start(1);
  ASSERT_TRUE(rig.until_letter(0, 1, 'C') && rig.until_letter(1, 0, 'C'));
  EXPECT_FALSE(rig.ask(rig.node(1), Stop{}));
  ASSERT_TRUE(rig.until_phase(1, DaemonPhase::Stopped));
  kill(daemon_pids().front(), SIGKILL);
  ASSERT_TRUE(rig.until_phase(0, DaemonPhase::Recovering));
  rig.start(1);
  EXPECT_TRUE(rig.until_phase(0, DaemonPhase::Ready));
}

TEST(StandInImex, WaitsForNobodyOnceTheirRecordIsForgotten) {
  Rig rig(2);
  rig.node(0).dir.write("os/importing", "");
  rig.start(0);
  rig.start(1);
  ASSERT_TRUE(rig.until_letter(0, 1, 'C'));
  EXPECT_EQ(rig.ask(rig.node(0), Forget{"group"})->kind, base::ErrorKind::Conflict);
  EXPECT_FALSE(rig.ask(rig.node(1), Stop{}));
  ASSERT_TRUE(rig.until_phase(1, DaemonPhase::Stopped));
  rig.node(0).close();
  ASSERT_TRUE(std::filesystem::exists(rig.node(0).dir.at("os/persist.dat")));
  rig.node(0).options.boot_id = "another, so that nothing starts by itself";
  ASSERT_TRUE(rig.node(0).open());
  EXPECT_FALSE(rig.ask(rig.node(0), Forget{"group"}));
  EXPECT_FALSE(rig.ask(rig.node(0), Forget{"group"})) << "there is none";
  rig.start(0);
  ASSERT_TRUE(rig.until_phase(0, DaemonPhase::Ready));
  for (const DaemonStatus& state : rig.node(0).agent->states)
    EXPECT_NE(state.phase, DaemonPhase::Recovering);
}

TEST(StandInImex, WithoutQuorumItWaitsForNobody) {
  Rig rig(0, 2);
  open_nodes(rig, 2, {{"IMEX_WAIT_FOR_QUORUM", "NONE"}});
  for (int i = 0; i < 2; ++i) rig.node(i).dir.write("os/importing", "");
  rig.start(0);
  rig.start(1);
  ASSERT_TRUE(rig.until_letter(0, 1, 'C'));
  EXPECT_FALSE(rig.ask(rig.node(1), Stop{}));
  ASSERT_TRUE(rig.until_phase(1, DaemonPhase::Stopped));
  const std::string before = rig.node(0).agent->state->instance;
  kill(daemon_pids().front(), SIGKILL);
  ASSERT_TRUE(rig.until([&] { return rig.node(0).agent->state->instance != before; }));
  EXPECT_TRUE(rig.until_phase(0, DaemonPhase::Ready));
}

TEST(StandInImex, APeerThatDiesIsRecoveringAndAfterTheGraceTimeDisconnected) {
  Rig rig(0, 2);
  open_nodes(rig, 2, {{"IMEX_NODE_DISCONNECTED_GRACE_TIME", "5"}});
  rig.start(0);
  rig.start(1);
  ASSERT_TRUE(rig.until_letter(0, 1, 'C'));
  rig.node(1).close();  // its daemon gets SIGKILL
  EXPECT_TRUE(rig.until_letter(0, 1, 'R'));
  EXPECT_TRUE(rig.until_letter(0, 1, 'D'));
}

TEST(StandInImex, APeerThatFallsSilentIsLostAndComesBack) {
  Rig rig(2);
  rig.start(0);
  rig.start(1);
  ASSERT_TRUE(rig.until_letter(0, 1, 'C') && rig.until_letter(1, 0, 'C'));
  const int silent = daemon_pids().back();
  kill(silent, SIGSTOP);
  EXPECT_TRUE(rig.until_letter(0, 1, 'R'));
  kill(silent, SIGCONT);
  EXPECT_TRUE(rig.until_letter(0, 1, 'C'));
}

TEST(StandInImex, GoesThroughItsStatesInTime) {
  Rig rig(0, 1);
  open_nodes(rig, 1, {{"STAND_IN_READY_DELAY_MS", "3000"}});
  rig.start(0);
  ASSERT_TRUE(rig.until_phase(0, DaemonPhase::Ready));
  bool answered_before = false;
  for (const DaemonStatus& state : rig.node(0).agent->states) {
    answered_before = answered_before || (state.answers && state.phase == DaemonPhase::Starting);
  }
  EXPECT_TRUE(answered_before) << "INITIALIZING and INIT_GPU are answers";
}

TEST(StandInImex, ForAFullRackNobodyIsBusy) {
  Rig rig(18);
  for (int i = 0; i < 18; ++i) rig.start(i);
  EXPECT_TRUE(rig.until([&] {
    for (const auto& node : rig.nodes) {
      const auto& state = node->agent->state;
      if (!state || state->phase != DaemonPhase::Ready) return false;
    }
    return true;
  }));
}

}  // namespace
}  // namespace cdom::imex
