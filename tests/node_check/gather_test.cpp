// What is found on nodes of several shapes, and what follows from it.
#include "compute_domain/node_check/gather.h"

#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>

#include "compute_domain/base/text.h"
#include "compute_domain/node_check/findings.h"
#include "node_check/node_on_disk.h"

namespace cdom::node_check {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::EndsWith;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr char kRegistrar[] = "/var/lib/kubelet/plugins_registry/";

// Of those that begin so; the page size is that of the machine that runs the test.
std::vector<std::string> requirements_that(Verdict verdict, const NodeFacts& facts) {
  std::vector<std::string> found;
  for (const Finding& finding : judge(facts)) {
    if (finding.verdict == verdict && finding.requirement != "page size") {
      found.push_back(finding.requirement);
    }
  }
  return found;
}

TEST(NodeCheckGather, AGoodNodeLacksNothingButAnAgent) {
  const NodeOnDisk node;
  const NodeFacts facts = node.facts();
  EXPECT_EQ(facts.kernel_driver_version, "580.65.06");
  EXPECT_EQ(facts.gpus, 4);
  EXPECT_EQ(facts.channel_major, 235U);
  EXPECT_EQ(facts.capabilities_major, 234U);
  EXPECT_EQ(facts.imex_capability, 17U);
  EXPECT_EQ(facts.channel_count, 2048);
  EXPECT_THAT(facts.imex_programs->daemon, EndsWith("/usr/bin/nvidia-imex"));
  EXPECT_EQ(facts.imex_unit, UnitState::Masked);
  EXPECT_EQ(facts.keeps_gpus_initialised, true);
  EXPECT_EQ(facts.runtime->name, "containerd");
  EXPECT_THAT(requirements_that(Verdict::Fails, facts), IsEmpty());
  EXPECT_THAT(requirements_that(Verdict::Warning, facts), ElementsAre("registration socket"));
  EXPECT_THAT(requirements_that(Verdict::Unknown, facts), ElementsAre("NVLink fabric"));
}

TEST(NodeCheckGather, WhileTheDriverHangsAPersonHasAnAnswer) {
  NodeOnDisk node;
  node.places.driver_patience = std::chrono::milliseconds(50);
  for (const char* gpu : {"0000:00:00.0", "0000:03:00.0"}) {
    const std::string file = base::cat(node.places.proc_driver, "/gpus/", gpu, "/information");
    fs::remove(file);
    // Opening it lasts until somebody writes.
    ASSERT_EQ(mkfifo(file.c_str(), 0600), 0);
  }
  EXPECT_EQ(node.facts().gpus, 4);
}

TEST(NodeCheckGather, ADriverWithoutThePackageOfImex) {
  const NodeOnDisk node("without-imex");
  EXPECT_THAT(node.facts().imex_programs->error, HasSubstr("no nvidia-imex below"));
  EXPECT_THAT(requirements_that(Verdict::Fails, node.facts()), ElementsAre("nvidia-imex and -ctl"));
}

TEST(NodeCheckGather, AProgramThatMayNotBeExecuted) {
  const NodeOnDisk node;
  fs::permissions(node.dir.at("host/usr/bin/nvidia-imex"), fs::perms::owner_read);
  EXPECT_THAT(node.facts().imex_programs->not_executable,
              ElementsAre(EndsWith("/usr/bin/nvidia-imex")));
}

TEST(NodeCheckGather, ALibraryThatNeitherImageNorDriverHas) {
  NodeOnDisk node;
  node.dir.write("image/lib64/libc.so.6", "");
  node.places.driver.own_root = node.dir.at("image");
  EXPECT_THAT(node.facts().imex_programs->missing_libraries, testing::Contains("libz.so.1"));
  EXPECT_THAT(requirements_that(Verdict::Fails, node.facts()),
              ElementsAre("libraries of nvidia-imex"));
}

TEST(NodeCheckGather, ADriverThatIsNotMounted) {
  NodeOnDisk node;
  node.places.host_root = node.places.driver.root;
  node.places.driver.root = node.dir.at("host/run/nvidia/driver");
  EXPECT_EQ(node.facts().imex_programs, std::nullopt);
  EXPECT_THAT(requirements_that(Verdict::Unknown, node.facts()),
              ElementsAre("nvidia-imex and -ctl", "libraries of nvidia-imex", "NVLink fabric"));
}

TEST(NodeCheckGather, ADriverWithoutChannelsAndWithoutTheCapability) {
  const NodeOnDisk node;
  node.dir.write("host/proc/devices", "Character devices:\n195 nvidia\n");
  node.dir.write("host/proc/driver/nvidia/params", "ImexChannelCount: 0\n");
  node.remove("/proc/driver/nvidia/capabilities");
  EXPECT_THAT(
      requirements_that(Verdict::Fails, node.facts()),
      ElementsAre("IMEX channels", "number of IMEX channels", "capability fabric-imex-mgmt"));
}

TEST(NodeCheckGather, NoDriver) {
  const NodeOnDisk node("without-imex");
  node.remove("/proc/driver");
  node.dir.write("host/proc/devices", "Character devices:\n  1 mem\n");
  EXPECT_THAT(requirements_that(Verdict::Fails, node.facts()),
              ElementsAre("driver 570.158.01 or later", "nvidia-imex and -ctl"));
}

TEST(NodeCheckGather, ADaemonOfTheHostBesideOurOwn) {
  const NodeOnDisk node;
  node.run(900, {"/driver-root/usr/bin/nvidia-imex", "-c", "/run/compute-domain/imex/imexd.cfg"});
  node.run(901, {"/driver-root/usr/bin/nvidia-imex-ctl", "-q"});
  EXPECT_THAT(requirements_that(Verdict::Fails, node.facts()), IsEmpty());
  node.run(812, {"/usr/bin/nvidia-imex", "-c", "/etc/nvidia-imex/config.cfg"});
  EXPECT_THAT(requirements_that(Verdict::Fails, node.facts()), ElementsAre("no other nvidia-imex"));
}

// Anybody may call a process of a pod so.
TEST(NodeCheckGather, AProcessOfAPodIsNoDaemonOfTheHost) {
  const NodeOnDisk node;
  const auto run_in_pod = [&](int pid, const std::vector<std::string>& arguments) {
    node.run(pid, arguments);
    const std::string link = node.dir.at(base::cat("host/proc/", pid, "/ns/pid"));
    fs::remove(link);
    fs::create_symlink("pid:[4026532999]", link);
  };
  run_in_pod(44, {"nvidia-imex"});
  EXPECT_THAT(requirements_that(Verdict::Fails, node.facts()), IsEmpty());
  run_in_pod(45, {"nvidia-imex", "-c", "/imexd/imexd.cfg"});
  EXPECT_THAT(requirements_that(Verdict::Fails, node.facts()), ElementsAre("no other nvidia-imex"))
      << "of NVIDIA's DRA driver, in a pod";
  node.remove("/proc/1");
  EXPECT_THAT(node.facts().imex_daemons.value(), testing::SizeIs(2))
      << "where no namespace is seen";
}

TEST(NodeCheckGather, TheStatesOfTheUnit) {
  const NodeOnDisk node;
  node.remove("/etc/systemd/system/nvidia-imex.service");
  EXPECT_EQ(node.facts().imex_unit, UnitState::Disabled) << "the package's own";
  fs::create_directories(node.dir.at("host/etc/systemd/system/multi-user.target.wants"));
  fs::create_symlink(
      "/usr/lib/systemd/system/nvidia-imex.service",
      node.dir.at("host/etc/systemd/system/multi-user.target.wants/nvidia-imex.service"));
  EXPECT_EQ(node.facts().imex_unit, UnitState::Enabled);
  node.remove("/etc/systemd");
  node.remove("/usr/lib/systemd");
  EXPECT_EQ(node.facts().imex_unit, UnitState::Absent);
}

TEST(NodeCheckGather, AnotherPluginUnderOurDriversName) {
  NodeOnDisk node;
  node.listen_on(base::cat(kRegistrar, "compute-domain.nvidia.com-reg.sock"));
  // The listener is this process, whatever /proc says that it is.
  node.run(getpid(), {"compute-domain-kubelet-plugin", "-v", "4"});
  EXPECT_THAT(requirements_that(Verdict::Fails, node.facts()),
              ElementsAre("no other compute-domain plugin"));
  node.run(getpid(), {"/usr/bin/compute-domain-agent"});
  EXPECT_THAT(requirements_that(Verdict::Fails, node.facts()), IsEmpty());
  EXPECT_THAT(requirements_that(Verdict::Warning, node.facts()), IsEmpty());
  // As from another PID namespace: of our agents as many listen as are connected. Any pod may run
  // a process that is called so.
  node.remove(base::cat("/proc/", getpid()));
  node.run(700, {"/usr/bin/compute-domain-agent"});
  EXPECT_THAT(requirements_that(Verdict::Unknown, node.facts()),
              testing::Contains("no other compute-domain plugin"));
  for (const bool sees_processes : {true, false}) {
    if (!sees_processes) node.remove("/proc/2");
    node.places.agents = 0;
    EXPECT_THAT(requirements_that(Verdict::Fails, node.facts()),
                ElementsAre("no other compute-domain plugin"));
    node.places.agents = 1;
    EXPECT_THAT(requirements_that(Verdict::Fails, node.facts()), IsEmpty());
  }
}

// Its name has its pod's UID; seen below the node's root, its path is longer than that of a socket
// may be.
TEST(NodeCheckGather, AnAgentWhoseSocketHasALongPathListens) {
  const std::string name =
      "compute-domain.nvidia.com-7d0c8f6e-2b1a-4c3d-9e8f-0a1b2c3d4e5f-reg.sock";
  NodeOnDisk node;
  node.listen_on(base::cat(kRegistrar, "r"));
  const std::string path = node.dir.at(base::cat("host", kRegistrar, name));
  ASSERT_GT(path.size(), 107U);
  fs::rename(node.dir.at(base::cat("host", kRegistrar, "r")), path);
  const NodeFacts facts = node.facts();
  ASSERT_EQ(facts.registrations->size(), 1U);
  EXPECT_EQ(facts.registrations->front().is_listening, true);
  EXPECT_EQ(facts.registrations->front().path, base::cat(kRegistrar, name));
  EXPECT_THAT(requirements_that(Verdict::Warning, facts), IsEmpty());
  // Beside it another plugin's, whose name is short.
  node.places.agents = 1;
  EXPECT_THAT(requirements_that(Verdict::Fails, node.facts()), IsEmpty());
  node.listen_on(base::cat(kRegistrar, "compute-domain.nvidia.com-reg.sock"));
  EXPECT_THAT(requirements_that(Verdict::Fails, node.facts()),
              ElementsAre("no other compute-domain plugin"));
}

TEST(NodeCheckGather, ASocketThatCannotBeTriedIsUnknown) {
  NodeOnDisk node;
  node.listen_on(base::cat(kRegistrar, "r"));
  fs::rename(node.dir.at(base::cat("host", kRegistrar, "r")),
             node.dir.at(base::cat("host", kRegistrar, "compute-domain.nvidia.com-",
                                   std::string(150, 'x'))));
  const NodeFacts facts = node.facts();
  ASSERT_EQ(facts.registrations->size(), 1U);
  EXPECT_EQ(facts.registrations->front().is_listening, std::nullopt);
  EXPECT_THAT(requirements_that(Verdict::Unknown, facts),
              testing::IsSupersetOf({"no other compute-domain plugin", "registration socket"}));
}

TEST(NodeCheckGather, SocketsOfOtherDriversAndDeadOnesAreNoPlugins) {
  NodeOnDisk node;
  node.listen_on(base::cat(kRegistrar, "gpu.nvidia.com-reg.sock"));
  {
    NodeOnDisk other;
    other.listen_on(base::cat(kRegistrar, "compute-domain.nvidia.com-reg.sock"));
    fs::rename(other.dir.at(base::cat("host", kRegistrar, "compute-domain.nvidia.com-reg.sock")),
               node.dir.at(base::cat("host", kRegistrar, "compute-domain.nvidia.com-reg.sock")));
  }
  const NodeFacts facts = node.facts();
  ASSERT_EQ(facts.registrations->size(), 1U);
  EXPECT_EQ(facts.registrations->front().is_listening, false);
  EXPECT_EQ(facts.registrations->front().path,
            base::cat(kRegistrar, "compute-domain.nvidia.com-reg.sock"));
}

TEST(NodeCheckGather, AKubeletElsewhere) {
  NodeOnDisk node;
  node.places.registrar_dir = "/var/lib/k0s/kubelet/plugins_registry";
  EXPECT_THAT(requirements_that(Verdict::Fails, node.facts()), ElementsAre("kubelet's folders"));
}

// As in a pod that has neither the node's root nor its processes.
TEST(NodeCheckGather, WhatIsOutOfSightIsNeverOk) {
  NodeOnDisk node;
  node.remove("/var/lib/kubelet");
  node.remove("/proc/2");
  node.remove("/run/nvidia-persistenced");
  node.places.plugins_dir = node.dir.at("nowhere/plugins");
  node.places.registrar_dir = node.dir.at("nowhere/plugins_registry");
  EXPECT_THAT(requirements_that(Verdict::Unknown, node.facts()),
              ElementsAre("persistence mode", "NVLink fabric", "no other nvidia-imex",
                          "nvidia-imex.service", "no other compute-domain plugin",
                          "kubelet's folders", "registration socket", "CDI"));
  EXPECT_THAT(requirements_that(Verdict::Fails, node.facts()), IsEmpty());
}

// The lines of /proc/net/tcp and tcp6 (proc(5)): 50000 is C350, and 0A listens.
TEST(NodeCheckGather, APortThatIsOnlyLookedAtIsTakenAtEveryAddress) {
  NodeOnDisk node;
  node.places.is_brief = true;
  node.places.ports = {50000};
  const auto is_taken_with = [&](const std::string& file, const std::string& line) {
    node.dir.write("host/proc/net/tcp", "");
    node.dir.write("host/proc/net/tcp6", "");
    node.dir.write("host/proc/net/" + file, "  sl  local_address rem_address   st …\n" + line);
    return !node.facts().ports.at(0).error.empty();
  };
  const std::string rest = " 00000000:00000000 00:00000000 00000000     0        0 4711 1\n";
  EXPECT_TRUE(is_taken_with("tcp", "   0: 00000000:C350 00000000:0000 0A" + rest));
  EXPECT_TRUE(is_taken_with("tcp6",
                            "   0: 00000000000000000000000000000000:C350 "
                            "00000000000000000000000000000000:0000 0A" +
                                rest));
  EXPECT_FALSE(is_taken_with("tcp", "   0: 0100007F:C350 00000000:0000 0A" + rest));
  EXPECT_FALSE(is_taken_with("tcp", "   0: 00000000:C350 0100007F:9999 01" + rest)) << "connected";
  EXPECT_FALSE(is_taken_with("tcp", "   0: 00000000:C351 00000000:0000 0A" + rest));
}

TEST(NodeCheckGather, APortThatThisProcessHolds) {
  const base::Descriptor socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  ASSERT_EQ(bind(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
  ASSERT_EQ(listen(socket.get(), 1), 0);
  socklen_t size = sizeof address;
  ASSERT_EQ(getsockname(socket.get(), reinterpret_cast<sockaddr*>(&address), &size), 0);

  NodeOnDisk node;
  node.places.proc = "/proc";
  node.places.ports = {ntohs(address.sin_port)};
  const Port port = node.facts().ports.at(0);
  EXPECT_EQ(port.error, "in use");
  ASSERT_TRUE(port.holder);
  EXPECT_EQ(port.holder->pid, getpid());
  node.places.program = Program::Agent;
  EXPECT_EQ(node.facts().ports.at(0).error, "") << "it is another pod's";
}

}  // namespace
}  // namespace cdom::node_check
