// The host's own daemon: it is asked for its state, and never started, told anything or stopped.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>

#include "compute_domain/base/text.h"
#include "imex/child.h"
#include "imex/rig.h"

namespace cdom::imex {
namespace {

using ::testing::HasSubstr;

constexpr char kSocket[] = "/etc/imex_ctrl.sock";

// A node whose host runs a daemon itself, or does not.
struct Host {
  Host() {
    rig.nodes.push_back(std::make_unique<Node>(0));
    Node& node = rig.node(0);
    node.options.host_socket = kSocket;
    node.dir.write("host/nodes.cfg", node.address + "\n");
    node.dir.write("host/imexd.cfg",
                   base::cat("IMEX_NODE_CONFIG_FILE=", node.dir.at("host/nodes.cfg"),
                             "\nBIND_INTERFACE_IP=", node.address,
                             "\nIMEX_CMD_UNIX_DOMAIN_PATH=", node.options.driver_root, kSocket,
                             "\nSTAND_IN_OS_DIRECTORY=", node.dir.at("os"), "\n"));
    if (const auto opened = node.open(); !opened) throw std::logic_error(opened.error().message);
  }
  void starts_daemon() {
    Node& node = rig.node(0);
    auto started = Child::start({.arguments = {node.options.driver_root + "/usr/bin/nvidia-imex",
                                               "-c", node.dir.at("host/imexd.cfg")},
                                 .environment = {"LD_LIBRARY_PATH=" CDOM_STAND_IN}});
    if (!started) throw std::logic_error(started.error().message);
    daemon.emplace(std::move(*started));
  }
  void kills_daemon() {
    daemon->signal(SIGKILL);
    daemon.reset();
  }
  [[nodiscard]] const State& state() const { return *rig.nodes.front()->agent->state; }

  Rig rig{0, 1};
  std::optional<Child> daemon;
};

TEST(HostManaged, AGroupIsReadyWhenTheHostsDaemonIs) {
  Host host;
  host.starts_daemon();
  host.rig.start(0);
  ASSERT_TRUE(host.rig.until_phase(0, Phase::Ready));
  EXPECT_TRUE(host.state().host_managed);
  EXPECT_TRUE(host.state().running);
  EXPECT_EQ(host.state().group, "group");
  EXPECT_EQ(daemon_pids().size(), 1U);  // the host's, and none of ours
}

TEST(HostManaged, WithoutADaemonItIsToldWhoHasToStartIt) {
  Host host;
  host.rig.start(0);
  ASSERT_TRUE(host.rig.until_phase(0, Phase::Failed));
  EXPECT_THAT(host.state().message, HasSubstr("the host's own"));
  EXPECT_TRUE(daemon_pids().empty());
  host.starts_daemon();
  EXPECT_TRUE(host.rig.until_phase(0, Phase::Ready));
}

TEST(HostManaged, ADaemonThatComesBackIsAnotherOne) {
  Host host;
  host.starts_daemon();
  host.rig.start(0);
  ASSERT_TRUE(host.rig.until_phase(0, Phase::Ready));
  const std::string first = host.state().instance;
  host.kills_daemon();
  ASSERT_TRUE(host.rig.until_phase(0, Phase::Failed));
  host.starts_daemon();
  ASSERT_TRUE(host.rig.until_phase(0, Phase::Ready));
  EXPECT_NE(host.state().instance, first);
}

TEST(HostManaged, StopAndSignalLeaveTheHostsDaemonAlone) {
  Host host;
  host.starts_daemon();
  host.rig.start(0);
  ASSERT_TRUE(host.rig.until_phase(0, Phase::Ready));
  EXPECT_FALSE(host.rig.ask(host.rig.node(0), Signal{}));
  EXPECT_FALSE(host.rig.ask(host.rig.node(0), Stop{}));
  ASSERT_TRUE(host.rig.until_phase(0, Phase::Stopped));
  EXPECT_FALSE(host.state().running);
  EXPECT_FALSE(host.daemon->reap());
  host.rig.start(0);
  EXPECT_TRUE(host.rig.until_phase(0, Phase::Ready));
}

TEST(HostManaged, AnOwnerThatStartsAnewGoesOnWithoutAFault) {
  Host host;
  host.starts_daemon();
  host.rig.start(0);
  ASSERT_TRUE(host.rig.until_phase(0, Phase::Ready));
  Node& node = host.rig.node(0);
  node.close();
  ASSERT_TRUE(node.open());
  ASSERT_TRUE(host.rig.until_phase(0, Phase::Ready));
  for (const State& state : node.agent->states) EXPECT_NE(state.phase, Phase::Failed);
}

}  // namespace
}  // namespace cdom::imex
