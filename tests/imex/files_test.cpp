#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/stat.h>

#include <thread>

#include "base/directory.h"
#include "compute_domain/base/text.h"
#include "imex/daemon/config.h"
#include "imex/daemon/hosts_file.h"
#include "imex/daemon/workshop.h"
#include "imex/host/needed_device_nodes.h"
#include "imex/process/control_tool.h"
#include "imex/rig.h"

namespace cdom::imex {
namespace {

using nvidia::DeviceNode;
using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::SizeIs;

ino_t inode(const std::string& path) {
  struct stat facts {};
  return stat(path.c_str(), &facts) == 0 ? facts.st_ino : 0;
}

TEST(HostsFile, KeepsTheInodeAndTheLinesOfOthers) {
  const base::Directory dir;
  dir.write("hosts", "127.0.0.1\tlocalhost\n10.1.1.1\tpod-1\n");
  const ino_t before = inode(dir.at("hosts"));
  const HostsFile hosts(dir.at("hosts"));
  EXPECT_EQ(hosts.revision(), "");
  ASSERT_TRUE(hosts.write({"10.0.0.1\tslot-0\n10.0.0.2\tslot-1\n", "r1"}));
  EXPECT_EQ(hosts.revision(), "r1");
  ASSERT_TRUE(hosts.write({"10.0.0.3\tslot-0\n", "r2"}));
  EXPECT_EQ(hosts.revision(), "r2");
  EXPECT_EQ(inode(dir.at("hosts")), before);
  EXPECT_EQ(dir.read("hosts"),
            "127.0.0.1\tlocalhost\n10.1.1.1\tpod-1\n# compute-domain-imex: begin r2\n"
            "10.0.0.3\tslot-0\n# compute-domain-imex: end r2\n");
}

TEST(HostsFile, HasOnlyWhatStandsThereWhole) {
  const base::Directory dir;
  const HostsFile file(dir.at("hosts"));
  const Hosts hosts{"10.0.0.1\tslot-0\n10.0.0.2\tslot-1\n", "r1"};
  EXPECT_FALSE(file.has(hosts)) << "there is no file";
  dir.write("hosts", "127.0.0.1\tlocalhost\n");
  ASSERT_TRUE(file.write(hosts));
  EXPECT_TRUE(file.has(hosts));
  EXPECT_FALSE(file.has({hosts.text, "r2"}));
  std::string text = dir.read("hosts");
  dir.write("hosts", text.substr(0, text.size() - 1));
  EXPECT_FALSE(file.has(hosts));
  text.erase(text.find("10.0.0.2"), 17);
  dir.write("hosts", text);
  EXPECT_FALSE(file.has(hosts)) << "a line is gone, and the revision is there";
}

TEST(HostsFile, ATornBlockIsNone) {
  const base::Directory dir;
  dir.write("hosts", "127.0.0.1 localhost\n# compute-domain-imex: begin r1\n10.0.0.1 slot-0\n");
  const HostsFile hosts(dir.at("hosts"));
  EXPECT_EQ(hosts.revision(), "");
  ASSERT_TRUE(hosts.write({"", "r2"}));
  EXPECT_EQ(hosts.revision(), "r2");
  EXPECT_THAT(dir.read("hosts"), Not(HasSubstr("slot-0")));
}

TEST(ImexConfigText, BindsTheOwnAddressAndTakesOptions) {
  const std::string text = config_text({.address = "10.0.0.1",
                                        .table_path = "/run/x/nodes.cfg",
                                        .directory = "/run/x",
                                        .options = {{"LOG_LEVEL", "3"}, {"EXTRA", "1"}}});
  for (const char* line : {"BIND_INTERFACE_IP=10.0.0.1\n", "IMEX_CMD_BIND_INTERFACE_IP=10.0.0.1\n",
                           "IMEX_NODE_CONFIG_FILE=/run/x/nodes.cfg\n", "SERVER_PORT=50000\n",
                           "DAEMONIZE=0\n", "LOG_LEVEL=3\n", "EXTRA=1\n", "IMEX_CMD_PORT=50005\n",
                           "IMEX_WAIT_FOR_QUORUM=RECOVERY\n", "LOG_FILE_MAX_SIZE=4\n",
                           "LOG_MAX_ROTATE_COUNT=1\n", "STATS_FILE_NAME=/run/x/stats.log\n"}) {
    EXPECT_THAT(text, HasSubstr(line));
  }
}

KernelFiles write_kernel_files(const base::Directory& dir) {
  dir.write("proc/devices",
            "Character devices:\n  1 mem\n195 nvidia\n234 nvidia-caps\n235 "
            "nvidia-caps-imex-channels\n\nBlock devices:\n  7 loop\n");
  dir.write("nvidia/gpus/0000:01:00.0/information", "Model: \t\t GB200\nDevice Minor: \t 1\n");
  dir.write("nvidia/gpus/0000:00:00.0/information", "Model: \t\t GB200\nDevice Minor: \t 0\n");
  dir.write("nvidia/capabilities/fabric-imex-mgmt",
            "DeviceFileMinor: 17\nDeviceFileMode: 256\nDeviceFileModify: 1\n");
  return {dir.at("proc/devices"), dir.at("nvidia")};
}

TEST(DeviceNodes, AreTheGpusAndTheImexCapability) {
  const base::Directory dir;
  const auto nodes = NeededDeviceNodes(write_kernel_files(dir)).look();
  ASSERT_TRUE(nodes) << nodes.error().message;
  EXPECT_THAT(*nodes,
              ElementsAre(DeviceNode{"nvidia0", 195, 0, 0666}, DeviceNode{"nvidia1", 195, 1, 0666},
                          DeviceNode{"nvidiactl", 195, 255, 0666},
                          DeviceNode{"nvidia-caps/nvidia-cap17", 234, 17, 0400}));
}

TEST(DeviceNodes, SaysWhatTheKernelDoesNotHave) {
  const base::Directory dir;
  NeededDeviceNodes needed(write_kernel_files(dir));
  std::filesystem::remove(dir.at("nvidia/capabilities/fabric-imex-mgmt"));
  EXPECT_THAT(needed.look().error().message, HasSubstr("fabric-imex-mgmt"));
  std::filesystem::remove_all(dir.at("nvidia/gpus"));
  EXPECT_THAT(needed.look().error().message, HasSubstr("names no GPU"));
  dir.write("proc/devices", "Character devices:\n  1 mem\n");
  EXPECT_THAT(needed.look().error().message, HasSubstr("no device nvidia"));
}

// To read the file of a GPU takes as long as the driver hangs.
TEST(DeviceNodes, ReadTheFileOfAGpuOnceWhileItIsThere) {
  const base::Directory dir;
  NeededDeviceNodes needed(write_kernel_files(dir));
  const auto before = needed.look();
  ASSERT_TRUE(before);
  for (const char* gpu : {"0000:01:00.0", "0000:00:00.0"}) {
    dir.write(base::cat("nvidia/gpus/", gpu, "/information"), "it hangs\n");
  }
  EXPECT_EQ(*needed.look(), *before);
  dir.write("nvidia/gpus/0000:02:00.0/information", "it hangs\n");
  EXPECT_FALSE(needed.look());
  dir.write("nvidia/gpus/0000:02:00.0/information", "Device Minor: \t 2\n");
  EXPECT_THAT(*needed.look(), SizeIs(before->size() + 1));

  std::filesystem::remove_all(dir.at("nvidia/gpus/0000:01:00.0"));
  EXPECT_THAT(*needed.look(),
              ElementsAre(DeviceNode{"nvidia0", 195, 0, 0666}, DeviceNode{"nvidia2", 195, 2, 0666},
                          DeviceNode{"nvidiactl", 195, 255, 0666},
                          DeviceNode{"nvidia-caps/nvidia-cap17", 234, 17, 0400}));

  const std::string devices = dir.read("proc/devices");
  dir.write("proc/devices", "Character devices:\n  1 mem\n");
  EXPECT_FALSE(needed.look());
  dir.write("proc/devices", devices);
  EXPECT_FALSE(needed.look()) << "the driver was loaded again";
}

TEST(DeviceNodes, AreReadAgainOfADriverThatWasLoadedBetweenTwoLooks) {
  const base::Directory dir;
  KernelFiles kernel = write_kernel_files(dir);
  kernel.module = dir.at("module/nvidia");
  dir.write("module/nvidia/refcnt", "1\n");
  NeededDeviceNodes needed(kernel);
  ASSERT_TRUE(needed.look());
  dir.write("nvidia/gpus/0000:01:00.0/information", "Device Minor: \t 3\n");
  dir.write("module/next/refcnt", "1\n");
  std::filesystem::remove_all(kernel.module);
  std::filesystem::rename(dir.at("module/next"), kernel.module);
  EXPECT_THAT(*needed.look(), Contains(DeviceNode{"nvidia3", 195, 3, 0666}));
}

// A pipe without a writer is opened as late as the file of a driver that hangs is read.
TEST(DeviceNodes, OfADriverThatHangsAreNotAwaitedForLong) {
  const base::Directory dir;
  const KernelFiles kernel = write_kernel_files(dir);
  NeededDeviceNodes needed(kernel, std::chrono::seconds(1));
  ASSERT_TRUE(needed.look());
  const std::string file = kernel.driver + "/gpus/0000:02:00.0/information";
  std::filesystem::create_directories(kernel.driver + "/gpus/0000:02:00.0");
  ASSERT_EQ(mkfifo(file.c_str(), 0600), 0);
  const auto nodes = needed.look();
  ASSERT_FALSE(nodes);
  EXPECT_THAT(nodes.error().message, AllOf(HasSubstr(file), HasSubstr("has not been read within"),
                                           HasSubstr("the GPU driver hangs"), HasSubstr("Xid")));
  std::filesystem::remove(file);
  dir.write("nvidia/gpus/0000:02:00.0/information", "Device Minor: \t 2\n");
  // It has come back, and the process that hung ends.
  for (int i = 0; i < 1000 && !needed.look(); ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  EXPECT_TRUE(needed.look());
}

// Whatever the name switch of the system says.
TEST(Workshop, TheDaemonResolvesNamesFromFilesOnly) {
  const base::Directory dir;
  make_driver_root(dir, "root");
  SupervisorOptions options;
  options.directory = dir.at("run");
  options.driver_root = dir.at("root");
  options.hosts_path = dir.write("hosts", "10.0.0.1 slot-0\n");
  options.makes_device_files = false;
  Workshop workshop(options);
  auto command = workshop.prepare({"g", 0, "slot-0\n", "h", "10.0.0.1"});
  ASSERT_TRUE(command) << command.error().message;
  command->arguments = {"/bin/sh", "-c", "grep -h ^hosts: /etc/nsswitch.conf; cat /etc/hosts"};
  const base::SystemClock clock;
  ControlTool tool(clock);
  tool.ask(*command, std::chrono::seconds(10));
  std::optional<ToolAnswer> answer;
  while (!(answer = tool.poll())) {
    pollfd exit{.fd = tool.child()->exit_descriptor(), .events = POLLIN, .revents = 0};
    poll(&exit, 1, 100);
  }
  EXPECT_EQ(answer->text, "hosts: files\n10.0.0.1 slot-0\n");
  EXPECT_THAT(command->environment, ::testing::Contains("LD_LIBRARY_PATH=" + dir.at("run/lib")));
}

}  // namespace
}  // namespace cdom::imex
