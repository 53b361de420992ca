#include "compute_domain/imex/supervisor.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <thread>

#include "compute_domain/base/files.h"
#include "compute_domain/base/text.h"
#include "imex/daemon/state_file.h"
#include "imex/few_descriptors.h"
#include "imex/rig.h"

namespace cdom::imex {
namespace {

using std::chrono::milliseconds;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::SizeIs;

TEST(ImexSupervisor, FormsADomainThroughItsOwnHostsFile) {
  Rig rig(2, 3);  // the third slot is nobody's; the hosts file of the driver root is wrong
  rig.start(0);
  rig.start(1);
  EXPECT_TRUE(rig.until_phase(0, DaemonPhase::Ready));
  EXPECT_TRUE(rig.until_letter(0, 1, 'C'));
  EXPECT_TRUE(rig.until_letter(1, 0, 'C'));
  EXPECT_TRUE(rig.until_letter(1, 2, 'N'));
  const DaemonStatus& state = *rig.node(0).agent->state;
  EXPECT_TRUE(state.running && state.answers);
  EXPECT_EQ(state.group, "group");
  EXPECT_EQ(state.table_hash, "hash");
  EXPECT_EQ(state.hosts_revision, rig.hosts().revision);
  EXPECT_FALSE(state.instance.empty());
  EXPECT_THAT(rig.node(0).agent->hello->program, HasSubstr("compute-domain-imex"));
}

TEST(ImexSupervisor, RefusesAnAgentOfALaterProtocol) {
  Rig rig(1);
  TestAgent later(rig.node(0).options.socket_path);
  later.send(encode(1, Hello{kProtocolVersion + 1, "compute-domain-agent/9"}) + encode(2, Watch{}));
  ASSERT_TRUE(rig.until([&] {
    later.read();
    return later.is_over;
  }));
  ASSERT_TRUE(later.reply && later.reply->error);
  EXPECT_EQ(later.reply->id, 0U);
  EXPECT_THAT(later.reply->error->message, HasSubstr("compute-domain-agent/9 speaks protocol 2"));
  EXPECT_THAT(later.reply->error->message, HasSubstr("delete the compute-domain-imex pod"));
  EXPECT_FALSE(later.state);
  EXPECT_FALSE(rig.ask(rig.node(0), Stop{})) << "the other agent is served";
}

TEST(ImexSupervisor, GivesTheDaemonTheDevicesOfTheNode) {
  Rig rig(0, 1);
  rig.nodes.push_back(std::make_unique<Node>(0));
  Node& node = rig.node(0);
  // Numbers that every kernel has: /dev/null as the GPU, /dev/zero as the capability.
  node.dir.write("proc/devices", "Character devices:\n  1 nvidia\n  1 nvidia-caps\n");
  node.dir.write("proc/nvidia/gpus/0/information", "Device Minor: 3\n");
  node.dir.write("proc/nvidia/capabilities/fabric-imex-mgmt", "DeviceFileMinor: 5\n");
  node.options.makes_device_files = true;
  node.options.devices_path = node.dir.at("proc/devices");
  node.options.kernel_driver_path = node.dir.at("proc/nvidia");
  node.options.dev_path = node.dir.at("dev");
  node.options.imex_options["STAND_IN_DEVICES"] =
      node.dir.at("dev/nvidia3") + "," + node.dir.at("dev/nvidia-caps/nvidia-cap5");
  ASSERT_TRUE(node.open());
  EXPECT_TRUE(node.supervisor->check());
  rig.start(0);
  EXPECT_TRUE(rig.until_phase(0, DaemonPhase::Ready));
}

TEST(ImexSupervisor, AMissingDriverIsOneClearError) {
  Rig rig(1);
  std::filesystem::remove(rig.node(0).dir.at("root/usr/bin/nvidia-imex"));
  const auto error = rig.ask(rig.node(0), rig.want(0));
  ASSERT_TRUE(error);
  EXPECT_EQ(error->kind, base::ErrorKind::Invalid);
  EXPECT_THAT(error->message, HasSubstr("no nvidia-imex below the driver root"));
  EXPECT_FALSE(rig.node(0).supervisor->check());
  EXPECT_THAT(daemon_pids(), SizeIs(0));
}

TEST(ImexSupervisor, TellsWhyNoDaemonCouldBeStarted) {
  Rig rig(1);
  const std::string program = rig.node(0).dir.at("root/usr/bin/nvidia-imex");
  ASSERT_TRUE(rig.until([&] { return rig.node(0).agent->state.has_value(); }));
  EXPECT_EQ(rig.node(0).agent->state->cannot_start, "");
  rig.node(0).close();
  std::filesystem::rename(program, program + ".away");
  ASSERT_TRUE(rig.node(0).open());
  ASSERT_TRUE(rig.until([&] { return rig.node(0).agent->state.has_value(); }));
  EXPECT_THAT(rig.node(0).agent->state->cannot_start, HasSubstr("no nvidia-imex below"));
  std::filesystem::rename(program + ".away", program);
  EXPECT_TRUE(rig.until([&] { return rig.node(0).agent->state->cannot_start.empty(); }))
      << "when the driver is installed";
}

// As its driver root shows the node's processes, where that is the node's own root.
TEST(ImexSupervisor, TellsOfADaemonThatSomebodyElseRunsOnTheNode) {
  Rig rig(1);
  Node& node = rig.node(0);
  const auto run = [&node](const std::string& pid, const std::string& name,
                           const std::string& configuration, const char* where = "pid:[1]") {
    const std::string folder = "root/proc/" + pid;
    node.dir.write(folder + "/comm", name + "\n");
    node.dir.write(folder + "/cmdline",
                   "/usr/bin/" + name + '\0' + "-c" + '\0' + configuration + '\0');
    std::filesystem::create_directories(node.dir.at(folder + "/ns"));
    std::filesystem::create_symlink(where, node.dir.at(folder + "/ns/pid"));
  };
  run("1", "systemd", "");
  run("2", "kthreadd", "");
  run("900", "nvidia-imex", node.options.directory + "/imexd.cfg");
  run("901", "nvidia-imex", "/imexd/imexd.cfg");  // of the reference driver's domain
  run("902", "nvidia-imex", "/etc/nvidia-imex/config.cfg",
      "pid:[2]");  // as any pod may call its own
  node.close();
  ASSERT_TRUE(node.open());
  ASSERT_TRUE(rig.until([&] { return node.agent->state.has_value(); }));
  EXPECT_EQ(node.agent->state->cannot_start, "");

  run("812", "nvidia-imex", "/etc/nvidia-imex/config.cfg");
  node.close();
  ASSERT_TRUE(node.open());
  ASSERT_TRUE(rig.until([&] { return node.agent->state.has_value(); }));
  EXPECT_THAT(node.agent->state->cannot_start,
              testing::AllOf(HasSubstr("another IMEX daemon runs on this node, nvidia-imex -c "
                                       "/etc/nvidia-imex/config.cfg (pid 812)"),
                             HasSubstr("systemctl mask nvidia-imex.service")));
  std::filesystem::remove_all(node.dir.at("root/proc/812"));
  EXPECT_TRUE(rig.until([&] { return node.agent->state->cannot_start.empty(); })) << "when it ends";
}

TEST(ImexSupervisor, StartsNothingThatWasWithdrawnWhileNobodyLived) {
  Rig rig(1);
  rig.start(0);
  ASSERT_TRUE(rig.until_phase(0, DaemonPhase::Ready));
  Node& node = rig.node(0);
  node.close();
  node.dir.write("imex.sock.withdrawn", "");
  for (int i = 0; i < 2; ++i) {  // nor does the next one
    ASSERT_TRUE(node.open());
    ASSERT_TRUE(rig.until([&] { return node.agent->state.has_value(); }));
    EXPECT_FALSE(node.agent->state->running);
    EXPECT_THAT(daemon_pids(), SizeIs(0));
    node.close();
  }
  ASSERT_TRUE(node.open());
  rig.start(0);
  EXPECT_TRUE(rig.until_phase(0, DaemonPhase::Ready)) << "until it is wanted again";
}

// As the first process of a container it inherits whose parents have ended.
TEST(ImexSupervisor, ReapsOrphansAndLeavesItsOwnChildrenToThoseWhoWait) {
  Rig rig(0, 1);
  rig.nodes.push_back(std::make_unique<Node>(0));
  Node& node = rig.node(0);
  node.options.reaps_orphans = true;
  ASSERT_EQ(prctl(PR_SET_CHILD_SUBREAPER, 1), 0);
  ASSERT_TRUE(node.open());
  const pid_t parent = fork();
  if (parent == 0) {
    if (fork() == 0) _exit(7);
    _exit(0);
  }
  waitpid(parent, nullptr, 0);
  rig.start(0);
  EXPECT_TRUE(rig.until_phase(0, DaemonPhase::Ready));
  EXPECT_TRUE(rig.until([&] {
    siginfo_t ended{};
    return waitid(P_ALL, 0, &ended, WEXITED | WNOHANG | WNOWAIT) != 0 || ended.si_pid == 0;
  }));
  kill(daemon_pids().front(), SIGKILL);
  EXPECT_TRUE(rig.until([&] {
    return std::ranges::any_of(node.agent->states, [](const DaemonStatus& state) {
      return state.message.find("was ended by SIGKILL") != std::string::npos;
    });
  })) << "how it ended is known";
  prctl(PR_SET_CHILD_SUBREAPER, 0);
}

TEST(ImexSupervisor, SeesTheEndOfTheDaemonAtOnceAndStartsAnother) {
  Rig rig(2);
  rig.start(0);
  rig.start(1);
  ASSERT_TRUE(rig.until_letter(0, 1, 'C') && rig.until_letter(1, 0, 'C'));
  const std::string before = rig.node(0).agent->state->instance;
  const base::SystemClock clock;
  const base::Duration killed = clock.elapsed();
  kill(daemon_pids().front(), SIGKILL);
  ASSERT_TRUE(rig.until([&] { return rig.node(0).agent->state->instance != before; }));
  const base::Duration seen = clock.elapsed() - killed;
  ASSERT_TRUE(rig.until_phase(0, DaemonPhase::Ready));
  const base::Duration ready = clock.elapsed() - killed;
  RecordProperty("started_again_us", static_cast<int>(seen / std::chrono::microseconds(1)));
  RecordProperty("ready_again_us", static_cast<int>(ready / std::chrono::microseconds(1)));
  EXPECT_LT(ready, std::chrono::seconds(5));
  EXPECT_TRUE(rig.until_letter(0, 1, 'C'));
  bool was_told = false;
  for (const DaemonStatus& state : rig.node(0).agent->states) {
    was_told = was_told || state.message == "nvidia-imex was ended by SIGKILL";
  }
  EXPECT_TRUE(was_told);
}

// LOG_FILE_NAME is a user's to set: then no line brings a question.
TEST(ImexSupervisor, FindsConnectionsAndLossesOfADaemonThatPrintsElsewhere) {
  Rig rig(0, 2);
  for (int i = 0; i < 2; ++i) {
    rig.nodes.push_back(std::make_unique<Node>(i));
    Node& node = rig.node(i);
    node.options.imex_options["LOG_FILE_NAME"] = base::cat(node.options.directory, "/imex.log");
    ASSERT_TRUE(node.open());
  }
  rig.start(0);
  rig.start(1);
  ASSERT_TRUE(rig.until_letter(0, 1, 'C') && rig.until_letter(1, 0, 'C'));
  const auto log = base::read_file(rig.node(0).options.imex_options["LOG_FILE_NAME"]);
  ASSERT_TRUE(log);
  EXPECT_NE(log->find("Connection established"), std::string::npos);
  rig.node(1).close();
  EXPECT_TRUE(rig.until([&] { return rig.node(0).agent->state->peers[1] != 'C'; }));
}

TEST(ImexSupervisor, TellsTheLastWordsOfADaemonThatEnds) {
  Rig rig(0, 1);
  rig.nodes.push_back(std::make_unique<Node>(0));
  rig.node(0).options.imex_options["STAND_IN_DEVICES"] = "/dev/nowhere";
  rig.node(0).options.imex_options["LOG_FILE_NAME"] = "/var/log/imex.log";
  ASSERT_TRUE(rig.node(0).open());
  rig.start(0);
  ASSERT_TRUE(rig.until_phase(0, DaemonPhase::Failed));
  EXPECT_EQ(rig.node(0).agent->state->message,
            "nvidia-imex exited with code 1; its last words: nvidia-imex (stand-in): no device "
            "/dev/nowhere; its log is /var/log/imex.log");
}

TEST(ImexSupervisor, AHungDaemonIsToldAndNotRestarted) {
  Rig rig(0, 1);
  rig.nodes.push_back(std::make_unique<Node>(0));
  rig.node(0).options.state_patience = milliseconds(500);
  ASSERT_TRUE(rig.node(0).open());
  rig.start(0);
  ASSERT_TRUE(rig.until_phase(0, DaemonPhase::Ready));
  const std::string before = rig.node(0).agent->state->instance;
  kill(daemon_pids().front(), SIGSTOP);
  ASSERT_TRUE(rig.until_phase(0, DaemonPhase::Failed));
  EXPECT_THAT(rig.node(0).agent->state->message, HasSubstr("may hang"));
  EXPECT_TRUE(rig.node(0).agent->state->running);
  kill(daemon_pids().front(), SIGCONT);
  ASSERT_TRUE(rig.until_phase(0, DaemonPhase::Ready));
  EXPECT_EQ(rig.node(0).agent->state->instance, before);
}

// As while the node's driver packages are exchanged under a job.
TEST(ImexSupervisor, AControlToolThatCannotBeRunIsNoFaultOfTheDaemon) {
  Rig rig(1);
  Node& node = rig.node(0);
  rig.start(0);
  ASSERT_TRUE(rig.until_phase(0, DaemonPhase::Ready));
  const std::string tool = node.dir.at("root/usr/bin/nvidia-imex-ctl");
  const auto says = [&](const std::string& what) {
    return rig.until([&] { return node.agent->state->message.find(what) != std::string::npos; });
  };
  node.agent->states.clear();
  std::filesystem::rename(tool, tool + ".away");
  EXPECT_FALSE(rig.ask(node, Signal{})) << "it is asked again soon";
  EXPECT_TRUE(says("cannot execute " + tool + ": No such file or directory"));
  std::ofstream(tool) << "half of a program";
  std::filesystem::permissions(tool, std::filesystem::perms::owner_all);
  EXPECT_TRUE(says("cannot execute " + tool + ": Exec format error"));
  std::filesystem::rename(tool + ".away", tool);
  EXPECT_TRUE(rig.until([&] { return node.agent->state->message.empty(); }));
  for (const DaemonStatus& state : node.agent->states) {
    EXPECT_EQ(state.phase, DaemonPhase::Ready) << state.message;
  }
}

// As while the driver's libraries are exchanged: the tool starts, and its loader gives it up.
TEST(ImexSupervisor, AControlToolThatCannotBeLoadedIsNoFaultOfTheDaemon) {
  Rig rig(1);
  Node& node = rig.node(0);
  rig.start(0);
  ASSERT_TRUE(rig.until_phase(0, DaemonPhase::Ready));
  const std::string tool = node.dir.at("root/usr/bin/nvidia-imex-ctl");
  node.agent->states.clear();
  std::filesystem::rename(tool, tool + ".real");
  for (const char* complaint : {"error while loading shared libraries: libz.so.1: file too short",
                                "symbol lookup error: libz.so.1: undefined symbol: inflate",
                                "error while loading shared libraries: libz.so.1: bad"}) {
    make_unloadable(tool, complaint);
    EXPECT_FALSE(rig.ask(node, Signal{})) << "it is asked again soon";
    EXPECT_TRUE(rig.until([&] { return node.agent->state->message.ends_with(complaint); }));
  }
  std::filesystem::rename(tool + ".real", tool);
  EXPECT_TRUE(rig.until([&] { return node.agent->state->message.empty(); }));
  for (const DaemonStatus& state : node.agent->states) {
    EXPECT_EQ(state.phase, DaemonPhase::Ready) << state.message;
  }
}

TEST(ImexSupervisor, TheDaemonSurvivesItsAgents) {
  Rig rig(1);
  rig.start(0);
  ASSERT_TRUE(rig.until_phase(0, DaemonPhase::Ready));
  const std::string instance = rig.node(0).agent->state->instance;
  const auto pids = daemon_pids();
  rig.node(0).agent.reset();
  rig.step();
  rig.node(0).connect();
  ASSERT_TRUE(rig.until_phase(0, DaemonPhase::Ready));
  EXPECT_EQ(rig.node(0).agent->state->instance, instance);
  EXPECT_EQ(daemon_pids(), pids);
  EXPECT_FALSE(rig.ask(rig.node(0), rig.want(0))) << "it runs as wanted";
  Want other = rig.want(0);
  other.group = "other";
  EXPECT_EQ(rig.ask(rig.node(0), other)->kind, base::ErrorKind::Conflict);
}

TEST(ImexSupervisor, StopsTheDaemonWithAGoodbye) {
  Rig rig(2);
  rig.start(0);
  rig.start(1);
  ASSERT_TRUE(rig.until_letter(0, 1, 'C'));
  EXPECT_FALSE(rig.ask(rig.node(1), Stop{}));
  ASSERT_TRUE(rig.until_phase(1, DaemonPhase::Stopped));
  EXPECT_FALSE(rig.node(1).agent->state->running);
  EXPECT_EQ(rig.node(1).agent->state->group, "group") << "of the last start";
  EXPECT_TRUE(rig.until_letter(0, 1, 'D'));
  EXPECT_FALSE(rig.ask(rig.node(1), Stop{})) << "none runs";
}

TEST(ImexSupervisor, HoldsASignalThatWouldEndADaemonWithoutHandlers) {
  Rig rig(0, 1);
  rig.nodes.push_back(std::make_unique<Node>(0));
  rig.node(0).options.imex_options["STAND_IN_HANDLER_DELAY_MS"] = "200";
  ASSERT_TRUE(rig.node(0).open());
  rig.start(0);
  const std::string instance = rig.node(0).agent->state ? rig.node(0).agent->state->instance : "";
  EXPECT_FALSE(rig.ask(rig.node(0), Signal{}));
  ASSERT_TRUE(rig.until([&] { return rig.node(0).agent->state->signalled.has_value(); }));
  ASSERT_TRUE(rig.until_phase(0, DaemonPhase::Ready));
  EXPECT_TRUE(rig.node(0).agent->state->running);
  for (const DaemonStatus& state : rig.node(0).agent->states)
    EXPECT_NE(state.phase, DaemonPhase::Failed);
}

TEST(ImexSupervisor, ASuccessorOfTheSameBootGoesOnAndOneOfAnotherBootDoesNot) {
  Rig rig(1);
  rig.start(0);
  ASSERT_TRUE(rig.until_phase(0, DaemonPhase::Ready));
  const std::string before = rig.node(0).agent->state->instance;
  rig.node(0).close();
  EXPECT_THAT(daemon_pids(), SizeIs(0)) << "a daemon does not outlive its supervisor";
  rig.node(0).dir.write("hosts", "127.0.0.1 localhost\n");  // as kubelet writes it anew
  ASSERT_TRUE(rig.node(0).open());
  ASSERT_TRUE(rig.until_phase(0, DaemonPhase::Ready));
  EXPECT_NE(rig.node(0).agent->state->instance, before);
  EXPECT_EQ(rig.node(0).agent->state->hosts_revision, rig.hosts().revision);

  rig.node(0).close();
  rig.node(0).options.boot_id = "boot-2";
  ASSERT_TRUE(rig.node(0).open());
  ASSERT_TRUE(rig.until([&] { return rig.node(0).agent->state.has_value(); }));
  EXPECT_FALSE(rig.node(0).agent->state->running);
  EXPECT_EQ(rig.node(0).agent->state->phase, DaemonPhase::Stopped);
  EXPECT_EQ(rig.node(0).agent->state->group, "");
  EXPECT_EQ(rig.node(0).agent->state->instance, "");
}

TEST(ImexSupervisor, ASuccessorStartsNoDaemonThatWouldNotFindItsPeers) {
  Rig rig(1);
  rig.start(0);
  ASSERT_TRUE(rig.until_phase(0, DaemonPhase::Ready));
  Node& node = rig.node(0);
  node.close();
  // Nobody can write a file there.
  std::filesystem::remove(node.dir.at("hosts"));
  std::filesystem::create_directory(node.dir.at("hosts"));
  ASSERT_TRUE(node.open());
  ASSERT_TRUE(rig.until([&] { return node.agent->state.has_value(); }));
  EXPECT_EQ(node.agent->state->phase, DaemonPhase::Failed);
  EXPECT_THAT(node.agent->state->message,
              AllOf(HasSubstr("its peers' addresses"), HasSubstr(node.dir.at("hosts"))));
  EXPECT_EQ(node.agent->state->hosts_revision, "");
  EXPECT_THAT(daemon_pids(), SizeIs(0));

  std::filesystem::remove(node.dir.at("hosts"));
  node.dir.write("hosts", "127.0.0.1 localhost\n");
  ASSERT_TRUE(rig.until_phase(0, DaemonPhase::Ready)) << "nobody has to ask for it";
  EXPECT_EQ(node.agent->state->hosts_revision, rig.hosts().revision);
}

TEST(ImexSupervisor, TellsItsAddressAndASuccessorAtAnotherLeavesTheStartToTheAgent) {
  Rig rig(0, 1);
  rig.nodes.push_back(std::make_unique<Node>(0));
  rig.node(0).options.address = rig.node(0).address;
  ASSERT_TRUE(rig.node(0).open());
  rig.start(0);
  ASSERT_TRUE(rig.until_phase(0, DaemonPhase::Ready));
  EXPECT_EQ(rig.node(0).agent->state->address, rig.node(0).address);
  rig.node(0).close();

  rig.node(0).options.address = "127.99.99.99";
  ASSERT_TRUE(rig.node(0).open());
  ASSERT_TRUE(rig.until([&] { return rig.node(0).agent->state.has_value(); }));
  EXPECT_EQ(rig.node(0).agent->state->address, "127.99.99.99");
  EXPECT_EQ(rig.node(0).agent->state->phase, DaemonPhase::Failed);
  EXPECT_EQ(rig.node(0).agent->state->group, "group");
  EXPECT_THAT(daemon_pids(), SizeIs(0));
}

TEST(ImexSupervisor, ASuccessorDoesNotStartWhatWasToldToStop) {
  Rig rig(1);
  rig.start(0);
  ASSERT_TRUE(rig.until_phase(0, DaemonPhase::Ready));
  EXPECT_FALSE(rig.ask(rig.node(0), Stop{}));
  rig.node(0).close();  // before the end has been seen
  ASSERT_TRUE(rig.node(0).open());
  ASSERT_TRUE(rig.until([&] { return rig.node(0).agent->state.has_value(); }));
  EXPECT_EQ(rig.node(0).agent->state->phase, DaemonPhase::Stopped);
  EXPECT_EQ(rig.node(0).agent->state->group, "group");
}

TEST(ImexSupervisor, OnlyOneOwnsANode) {
  Rig rig(1);
  const auto second = Supervisor::open(rig.node(0).options, rig.node(0).clock, base::Random(9));
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().kind, base::ErrorKind::Conflict);
}

// Kubelet's probe connects anew each time: it would have the pod started again, and with it the
// workloads that use NVLink, while the agent is content with the connection that it has.
TEST(ImexSupervisor, PutsBackASocketThatVanishes) {
  Rig rig(1);
  Node& node = rig.node(0);
  rig.start(0);
  ASSERT_TRUE(rig.until_phase(0, DaemonPhase::Ready));
  const auto is_there = [&] { return std::filesystem::is_socket(node.options.socket_path); };
  for (const bool is_replaced : {false, true}) {
    std::filesystem::remove(node.options.socket_path);
    if (is_replaced) std::ofstream(node.options.socket_path) << "not a socket";
    ASSERT_TRUE(rig.until(is_there));
    const auto pids = daemon_pids();
    TestAgent another(node.options.socket_path);
    ASSERT_TRUE(rig.until([&] {
      another.read();
      return another.hello.has_value();
    }));
    EXPECT_FALSE(rig.ask(node, Request(rig.hosts()))) << "by the connection that it had";
    EXPECT_EQ(daemon_pids(), pids);
  }
}

// With each container of a pod that starts, as `kubectl debug` adds one, kubelet writes over the
// hosts file of all of them.
const char kOfKubelet[] =
    "# Kubernetes-managed hosts file.\n127.0.0.1\tlocalhost\n10.1.1.1\tpod-1\n";
const char kHostsWrittenAgain[] = "the peers' addresses were gone from the hosts file";
const char kHostsNotWritten[] = "and cannot be written again";

std::size_t count_of(const std::string& text, const std::string& what) {
  std::size_t count = 0;
  for (auto at = text.find(what); at != std::string::npos; at = text.find(what, at + 1)) ++count;
  return count;
}

TEST(ImexSupervisor, WritesTheHostsFileAgainThatKubeletHasEmptied) {
  Rig rig(2);
  Node& node = rig.node(0);
  rig.start(0);
  rig.start(1);
  ASSERT_TRUE(rig.until_letter(0, 1, 'C'));
  const std::string hosts = node.dir.read("hosts");
  const std::string block = hosts.substr(hosts.find("# compute-domain-imex: begin"));
  const std::string instance = node.agent->state->instance;
  testing::internal::CaptureStderr();
  node.dir.write("hosts", kOfKubelet);
  const bool is_back = rig.until([&] { return node.dir.read("hosts") == kOfKubelet + block; });
  const std::string log = testing::internal::GetCapturedStderr();
  ASSERT_TRUE(is_back);
  EXPECT_EQ(count_of(log, kHostsWrittenAgain), 1U) << log;
  EXPECT_THAT(log, HasSubstr(node.dir.at("hosts")));
  EXPECT_EQ(node.agent->state->instance, instance);
  EXPECT_EQ(node.agent->state->signalled, std::nullopt) << "all peers are connected";

  rig.node(1).close();
  ASSERT_TRUE(rig.until([&] { return node.agent->state->peers[1] != 'C'; }));
  node.dir.write("hosts", "");
  EXPECT_TRUE(rig.until([&] { return node.agent->state->signalled.has_value(); }))
      << "what it has dialled meanwhile had no address";
  EXPECT_EQ(node.dir.read("hosts"), block);
}

TEST(ImexSupervisor, SaysOnceThatTheHostsFileCannotBeWrittenAgainAndGoesOnTrying) {
  Rig rig(1);
  Node& node = rig.node(0);
  rig.start(0);
  ASSERT_TRUE(rig.until_phase(0, DaemonPhase::Ready));
  const std::string hosts = node.dir.read("hosts");
  testing::internal::CaptureStderr();
  std::filesystem::rename(node.dir.at("hosts"), node.dir.at("hosts.away"));
  std::filesystem::create_directory(node.dir.at("hosts"));
  // Longer than from one look to the next but one.
  const base::Duration end = node.clock.elapsed() + std::chrono::seconds(5);
  rig.until([&] { return node.clock.elapsed() > end; });
  const std::string log = testing::internal::GetCapturedStderr();
  EXPECT_EQ(count_of(log, kHostsNotWritten), 1U) << log;
  EXPECT_EQ(count_of(log, kHostsWrittenAgain), 0U) << log;
  EXPECT_EQ(node.agent->state->phase, DaemonPhase::Ready);

  std::filesystem::remove(node.dir.at("hosts"));
  node.dir.write("hosts", kOfKubelet);
  EXPECT_TRUE(rig.until([&] { return node.dir.read("hosts") != kOfKubelet; }));
  EXPECT_THAT(node.dir.read("hosts"), HasSubstr(rig.hosts().text));
}

TEST(ImexSupervisor, RestsWhereItCanAcceptNobody) {
  Rig rig(1);
  Node& node = rig.node(0);
  ASSERT_TRUE(rig.until([&] { return node.agent->state.has_value(); }));
  TestAgent another(node.options.socket_path);
  int steps = 0;
  {
    const FewDescriptors none(0);
    const base::Duration end = node.clock.elapsed() + milliseconds(300);
    for (; node.clock.elapsed() < end; ++steps) node.supervisor->step(milliseconds(100));
  }
  EXPECT_LE(steps, 20);
  EXPECT_TRUE(rig.until([&] {
    another.read();
    return another.hello.has_value();
  })) << "once it can";
}

TEST(ImexSupervisor, HearsOnlyAllowedUsers) {
  Rig rig(0, 1);
  rig.nodes.push_back(std::make_unique<Node>(0));
  rig.node(0).options.allowed_users = {geteuid() + 1};
  ASSERT_TRUE(rig.node(0).open());
  rig.node(0).agent->send(encode(5, Request(rig.want(0))));
  ASSERT_TRUE(rig.until([&] { return rig.node(0).agent->is_over; }));
  ASSERT_TRUE(rig.node(0).agent->reply && rig.node(0).agent->reply->error);
  EXPECT_EQ(rig.node(0).agent->reply->error->kind, base::ErrorKind::Forbidden);
  EXPECT_THAT(daemon_pids(), SizeIs(0));
}

TEST(ImexSupervisor, AnAgentThatNeverReadsHoldsNobodyUp) {
  Rig rig(1);
  const TestAgent lazy(rig.node(0).options.socket_path);
  for (int i = 0; i < 20'000; ++i) lazy.send("nonsense id=1\n");
  rig.start(0);
  EXPECT_TRUE(rig.until_phase(0, DaemonPhase::Ready));
}

void run_to_the_end(Node& node) {
  std::stop_source stop;
  stop.request_stop();
  node.supervisor->run(stop.get_token());
}

TEST(ImexSupervisor, EndsTheDaemonWhenItIsToldToEnd) {
  Rig rig(1);
  rig.start(0);
  ASSERT_TRUE(rig.until_phase(0, DaemonPhase::Ready));
  run_to_the_end(rig.node(0));
  EXPECT_THAT(daemon_pids(), SizeIs(0));
  EXPECT_FALSE(std::filesystem::exists(rig.node(0).dir.at("os/persist.dat")));
  EXPECT_FALSE(std::filesystem::exists(rig.node(0).options.socket_path));
}

// The wish stays, so that a successor of this boot goes on with it: nobody may take the slot for
// free.
TEST(ImexSupervisor, SaysWhenItEndsThatItsDaemonStartsAgain) {
  Rig rig(1);
  rig.start(0);
  ASSERT_TRUE(rig.until_phase(0, DaemonPhase::Ready));
  run_to_the_end(rig.node(0));
  rig.node(0).agent->read();
  const auto& told = rig.node(0).agent->state;
  ASSERT_TRUE(told);
  EXPECT_FALSE(told->running);
  EXPECT_EQ(told->starts_again, true);
  rig.node(0).close();
  ASSERT_TRUE(rig.node(0).open());
  EXPECT_TRUE(rig.until([] { return daemon_pids().size() == 1; }));
}

TEST(ImexSupervisor, LeavesNoFileWhenNoDaemonIsWanted) {
  Rig rig(1);
  rig.start(0);
  ASSERT_TRUE(rig.until_phase(0, DaemonPhase::Ready));
  run_to_the_end(rig.node(0));
  rig.node(0).close();
  EXPECT_TRUE(std::filesystem::exists(rig.node(0).options.directory)) << "for its successor";

  ASSERT_TRUE(rig.node(0).open());
  ASSERT_TRUE(rig.until_phase(0, DaemonPhase::Ready));
  EXPECT_FALSE(rig.ask(rig.node(0), Stop{}));
  ASSERT_TRUE(rig.until_phase(0, DaemonPhase::Stopped));
  run_to_the_end(rig.node(0));
  EXPECT_FALSE(std::filesystem::exists(rig.node(0).options.directory));
  EXPECT_FALSE(std::filesystem::exists(rig.node(0).options.socket_path));
}

TEST(StateFile, IsWorthNothingInAnotherBootOrInPart) {
  const base::Directory dir;
  const Saved saved{DaemonStatus{.group = "g", .instance = "i"},
                    Want{"g", 1, "a\nb\n", "h", "10.0.0.1"}, Hosts{"10.0.0.1 a\n", "r"}};
  ASSERT_TRUE(StateFile(dir.at("state"), "boot-1").save(saved));
  EXPECT_EQ(StateFile(dir.at("state"), "boot-1").load(), saved);
  EXPECT_EQ(StateFile(dir.at("state"), "boot-2").load(), std::nullopt);
  const std::string text = dir.read("state");
  dir.write("state", text.substr(0, text.size() - 4));
  EXPECT_EQ(StateFile(dir.at("state"), "boot-1").load(), std::nullopt);
  EXPECT_EQ(StateFile(dir.at("nothing"), "boot-1").load(), std::nullopt);
}

}  // namespace
}  // namespace cdom::imex
