#include "compute_domain/base/processes.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <future>

#include "base/directory.h"
#include "compute_domain/base/descriptor.h"
#include "compute_domain/base/text.h"

namespace cdom::base {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(Processes, AreFoundByNameAlsoWhereTheKernelCutsIt) {
  const Directory proc;
  const auto run = [&proc](const std::string& pid, const std::string& comm,
                           const std::string& line) {
    proc.write(pid + "/comm", comm + "\n");
    proc.write(pid + "/cmdline", line);
  };
  run("7", "nvidia-persiste", std::string("/usr/bin/nvidia-persistenced\0--verbose\0", 39));
  run("12", "nvidia-persiste", std::string("nvidia-persister\0", 17));
  run("9", "kworker/0:1", "");
  proc.write("self/comm", "nvidia-persiste\n");
  const Process found{7, {"/usr/bin/nvidia-persistenced", "--verbose"}};
  EXPECT_THAT(processes_named(proc.at(), "nvidia-persistenced"), ElementsAre(found));
  EXPECT_EQ(text_of(found), "nvidia-persistenced --verbose (pid 7)");
  EXPECT_TRUE(has_argument(found, "--verbose"));
  EXPECT_THAT(processes_named(proc.at(), "kworker/0:1"), IsEmpty());
  EXPECT_THAT(pids_in(proc.at()), ElementsAre(7, 9, 12));
  run("13", "nvidia-persiste", "");
  EXPECT_THAT(processes_named(proc.at(), "nvidia-persistenced"), ElementsAre(found));
  EXPECT_FALSE(shows_whole_machine(proc.at()));
  run("2", "kthreadd", "");
  EXPECT_TRUE(shows_whole_machine(proc.at()));
}

TEST(Processes, OfTheHostAreInTheNamespaceOfItsFirst) {
  const Directory proc;
  const auto run = [&proc](const std::string& pid, const char* pid_namespace) {
    proc.write(pid + "/comm", "nvidia-imex\n");
    proc.write(pid + "/cmdline", "nvidia-imex");
    proc.write(pid + "/ns/mnt", "");
    if (*pid_namespace != 0) {
      std::filesystem::create_symlink(pid_namespace, proc.at(pid + "/ns/pid"));
    }
  };
  run("7", "pid:[1]");
  EXPECT_THAT(host_processes_named(proc.at(), "nvidia-imex"), IsEmpty()) << "which is the host's?";
  run("1", "pid:[1]");
  run("8", "pid:[2]");
  run("9", "");
  EXPECT_THAT(host_processes_named(proc.at(), "nvidia-imex"),
              ElementsAre(Process{1, {"nvidia-imex"}}, Process{7, {"nvidia-imex"}}));
  EXPECT_THAT(processes_named(proc.at(), "nvidia-imex"), testing::SizeIs(4));
}

// A process of a pod, which anybody may call so, decides when its memory can be read.
TEST(Processes, OfTheHostAreFoundWithoutTheMemoryOfOthers) {
  const Directory proc;
  for (const auto& [pid, pid_namespace] : {std::pair("1", "pid:[1]"), {"8", "pid:[2]"}}) {
    proc.write(cat(pid, "/comm"), "nvidia-imex\n");
    proc.write(cat(pid, "/ns/mnt"), "");
    std::filesystem::create_symlink(pid_namespace, proc.at(cat(pid, "/ns/pid")));
  }
  proc.write("1/cmdline", "nvidia-imex");
  const std::string waits = proc.at("8/cmdline");
  ASSERT_EQ(mkfifo(waits.c_str(), 0600), 0);
  auto found = std::async(std::launch::async,
                          [&] { return host_processes_named(proc.at(), "nvidia-imex"); });
  EXPECT_EQ(found.wait_for(std::chrono::seconds(20)), std::future_status::ready);
  { const Descriptor lets_a_reader_go(open(waits.c_str(), O_WRONLY | O_NONBLOCK)); }
  EXPECT_THAT(found.get(), ElementsAre(Process{1, {"nvidia-imex"}}));
}

TEST(Processes, OfThisMachineHasThisOne) {
  const auto self = process_of("/proc", getpid());
  ASSERT_TRUE(self);
  EXPECT_THAT(self->arguments.front(), testing::HasSubstr("test_base"));
  EXPECT_THAT(pids_in("/proc"), testing::Contains(getpid()));
  EXPECT_THAT(pids_in("/nowhere"), IsEmpty());
}

}  // namespace
}  // namespace cdom::base
