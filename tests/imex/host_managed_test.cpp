// The host's own daemon: it is asked for its state, and never started, told anything or stopped.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>

#include "compute_domain/base/text.h"
#include "imex/process/child.h"
#include "imex/rig.h"

namespace cdom::imex {
namespace {

using ::testing::HasSubstr;

constexpr char kSocket[] = "/etc/imex_ctrl.sock";

// A node whose host runs a daemon itself, or does not.
struct Host {
  // The daemon's socket, as its host calls it, and where that is below the driver root.
  explicit Host(const std::string& socket = kSocket, const std::string& real_socket = kSocket) {
    rig.nodes.push_back(std::make_unique<Node>(0));
    Node& node = rig.node(0);
    node.options.host_socket = socket;
    node.dir.write("host/nodes.cfg", node.address + "\n");
    node.dir.write("host/imexd.cfg",
                   base::cat("IMEX_NODE_CONFIG_FILE=", node.dir.at("host/nodes.cfg"),
                             "\nBIND_INTERFACE_IP=", node.address,
                             "\nIMEX_CMD_UNIX_DOMAIN_PATH=", node.options.driver_root, real_socket,
                             "\nSTAND_IN_OS_DIRECTORY=", node.dir.at("os"), "\n"));
    if (const auto opened = node.open(); !opened) throw std::logic_error(opened.error().message);
  }
  void starts_daemon() {
    Node& node = rig.node(0);
    auto started = Child::start({.arguments = {node.options.driver_root + "/usr/bin/nvidia-imex",
                                               "-c", node.dir.at("host/imexd.cfg")},
                                 .environment = {}});
    if (!started) throw std::logic_error(started.error().message);
    daemon.emplace(std::move(*started));
  }
  void kills_daemon() {
    daemon->signal(SIGKILL);
    daemon.reset();
  }
  [[nodiscard]] const DaemonStatus& state() const { return *rig.nodes.front()->agent->state; }

  Rig rig{0, 1};
  std::optional<Child> daemon;
};

TEST(HostManaged, AGroupIsReadyWhenTheHostsDaemonIs) {
  Host host;
  host.starts_daemon();
  host.rig.start(0);
  ASSERT_TRUE(host.rig.until_phase(0, DaemonPhase::Ready));
  EXPECT_TRUE(host.state().host_managed);
  EXPECT_TRUE(host.state().running);
  EXPECT_EQ(host.state().group, "group");
  EXPECT_EQ(daemon_pids().size(), 1U);  // the host's, and none of ours
}

// kubernetes-sigs/dra-driver-nvidia-gpu advises to have the socket in /var/run where /etc is not
// writable, and on most hosts that is a link.
TEST(HostManaged, FindsASocketBehindALinkOfTheHost) {
  Host host("/var/run/imex_ctrl.sock", "/run/imex_ctrl.sock");
  const Node& node = host.rig.node(0);
  std::filesystem::create_directories(node.dir.at("root/run"));
  std::filesystem::create_directories(node.dir.at("root/var"));
  std::filesystem::create_directory_symlink("/run", node.dir.at("root/var/run"));
  host.starts_daemon();
  host.rig.start(0);
  EXPECT_TRUE(host.rig.until_phase(0, DaemonPhase::Ready)) << host.state().message;
}

// The guide has "-u PATH", the reference driver "--u=PATH".
TEST(HostManaged, AsksAToolThatKnowsTheOtherFormOfTheSocketOnly) {
  Host host;
  const Node& node = host.rig.node(0);
  const std::string tool = node.dir.at("root/usr/bin/nvidia-imex-ctl");
  std::filesystem::rename(tool, tool + ".real");
  node.dir.write("root/usr/bin/nvidia-imex-ctl",
                 "#!/bin/sh\ncase \"$*\" in *--u=*) exec " + tool +
                     ".real \"$@\";; esac\necho no such option\nexit 2\n");
  std::filesystem::permissions(tool, std::filesystem::perms::owner_all);
  host.starts_daemon();
  host.rig.start(0);
  EXPECT_TRUE(host.rig.until_phase(0, DaemonPhase::Ready)) << host.state().message;
}

TEST(HostManaged, NeedsNoDaemonBelowTheDriverRoot) {
  Host host;
  host.starts_daemon();
  const Node& node = host.rig.node(0);
  std::filesystem::remove(node.dir.at("root/usr/bin/nvidia-imex"));
  EXPECT_TRUE(node.supervisor->check());
  host.rig.start(0);
  EXPECT_TRUE(host.rig.until_phase(0, DaemonPhase::Ready)) << host.state().message;
}

TEST(HostManaged, WithoutADaemonItIsToldWhoHasToStartIt) {
  Host host;
  host.rig.start(0);
  ASSERT_TRUE(host.rig.until_phase(0, DaemonPhase::Failed));
  EXPECT_THAT(host.state().message, HasSubstr("the host's own"));
  EXPECT_TRUE(daemon_pids().empty());
  host.starts_daemon();
  EXPECT_TRUE(host.rig.until_phase(0, DaemonPhase::Ready));
}

// They are of one package, and only answers show that the daemon lives.
TEST(HostManaged, ADaemonWhoseToolIsGoneHasFailed) {
  Host host;
  const Node& node = host.rig.node(0);
  host.starts_daemon();
  host.rig.start(0);
  ASSERT_TRUE(host.rig.until_phase(0, DaemonPhase::Ready));
  std::filesystem::remove(node.dir.at("root/usr/bin/nvidia-imex-ctl"));
  EXPECT_TRUE(host.rig.until_phase(0, DaemonPhase::Failed));
  EXPECT_THAT(host.state().message, testing::StartsWith("nvidia-imex does not answer"));
}

TEST(HostManaged, ADaemonWhoseToolCannotBeLoadedHasFailed) {
  Host host;
  const Node& node = host.rig.node(0);
  host.starts_daemon();
  host.rig.start(0);
  ASSERT_TRUE(host.rig.until_phase(0, DaemonPhase::Ready));
  make_unloadable(node.dir.at("root/usr/bin/nvidia-imex-ctl"),
                  "error while loading shared libraries: libz.so.1: file too short");
  EXPECT_TRUE(host.rig.until_phase(0, DaemonPhase::Failed));
  EXPECT_THAT(host.state().message, testing::StartsWith("nvidia-imex does not answer"));
}

TEST(HostManaged, ADaemonThatComesBackIsAnotherOne) {
  Host host;
  host.starts_daemon();
  host.rig.start(0);
  ASSERT_TRUE(host.rig.until_phase(0, DaemonPhase::Ready));
  const std::string first = host.state().instance;
  host.kills_daemon();
  ASSERT_TRUE(host.rig.until_phase(0, DaemonPhase::Failed));
  host.starts_daemon();
  ASSERT_TRUE(host.rig.until_phase(0, DaemonPhase::Ready));
  EXPECT_NE(host.state().instance, first);
}

TEST(HostManaged, StopAndSignalLeaveTheHostsDaemonAlone) {
  Host host;
  host.starts_daemon();
  host.rig.start(0);
  ASSERT_TRUE(host.rig.until_phase(0, DaemonPhase::Ready));
  EXPECT_FALSE(host.rig.ask(host.rig.node(0), Signal{}));
  EXPECT_FALSE(host.rig.ask(host.rig.node(0), Stop{}));
  ASSERT_TRUE(host.rig.until_phase(0, DaemonPhase::Stopped));
  EXPECT_FALSE(host.state().running);
  EXPECT_FALSE(host.daemon->reap());
  host.rig.start(0);
  EXPECT_TRUE(host.rig.until_phase(0, DaemonPhase::Ready));
}

TEST(HostManaged, ASupervisorThatStartsAnewGoesOnWithoutAFault) {
  Host host;
  host.starts_daemon();
  host.rig.start(0);
  ASSERT_TRUE(host.rig.until_phase(0, DaemonPhase::Ready));
  Node& node = host.rig.node(0);
  node.close();
  ASSERT_TRUE(node.open());
  ASSERT_TRUE(host.rig.until_phase(0, DaemonPhase::Ready));
  for (const DaemonStatus& state : node.agent->states) EXPECT_NE(state.phase, DaemonPhase::Failed);
}

}  // namespace
}  // namespace cdom::imex
