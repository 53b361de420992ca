#include "imex/process/child.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/mount.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstring>

#include "base/directory.h"
#include "compute_domain/base/descriptor.h"
#include "compute_domain/base/files.h"
#include "compute_domain/base/system_error.h"
#include "compute_domain/base/text.h"
#include "imex/few_descriptors.h"
#include "imex/process/control_tool.h"

namespace cdom::imex {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

bool becomes_readable(int fd, int milliseconds = 10'000) {
  pollfd one{.fd = fd, .events = POLLIN, .revents = 0};
  return poll(&one, 1, milliseconds) == 1;
}

Command shell(const std::string& script) {
  return {.arguments = {"/bin/sh", "-c", script},
          .environment = {"PATH=/usr/bin:/bin", "WORD=moon"}};
}

// Memory as a file system, in a folder of its own.
class Mounted {
 public:
  explicit Mounted(std::string path) : path_(std::move(path)) {
    mkdir(path_.c_str(), 0755);
    if (mount("none", path_.c_str(), "tmpfs", 0, nullptr) != 0) {
      ADD_FAILURE() << base::system_error("cannot mount " + path_).message;
    }
  }
  ~Mounted() { umount2(path_.c_str(), MNT_DETACH); }
  Mounted(const Mounted&) = delete;
  Mounted& operator=(const Mounted&) = delete;

 private:
  const std::string path_;
};

ToolAnswer answer_of(ControlTool& tool) {
  for (;;) {
    if (auto answer = tool.poll()) return *answer;
    becomes_readable(tool.child()->exit_descriptor(), 20);
  }
}

TEST(Child, TellsHowItEndedThroughADescriptor) {
  auto child = Child::start(shell("exit 3"));
  ASSERT_TRUE(child) << child.error().message;
  ASSERT_TRUE(becomes_readable(child->exit_descriptor()));
  const auto ending = child->reap();
  ASSERT_TRUE(ending);
  EXPECT_EQ(to_string(*ending), "exited with code 3");
  EXPECT_FALSE(child->reap()) << "told once";
}

TEST(Child, TellsWhichSignalEndedIt) {
  auto child = Child::start(shell("exec sleep 60"));
  ASSERT_TRUE(child);
  EXPECT_FALSE(child->reap());
  child->signal(SIGTERM);
  ASSERT_TRUE(becomes_readable(child->exit_descriptor()));
  EXPECT_EQ(to_string(*child->reap()), "was ended by SIGTERM");
}

TEST(Child, AProgramThatCannotRunIsAnErrorAtOnce) {
  const auto child = Child::start({.arguments = {"/nowhere/nvidia-imex"}});
  ASSERT_FALSE(child);
  EXPECT_THAT(child.error().message, HasSubstr("cannot execute /nowhere/nvidia-imex"));
}

TEST(Child, EndsWithItsSupervisor) {
  pid_t pid = 0;
  {
    auto child = Child::start(shell("exec sleep 60"));
    ASSERT_TRUE(child);
    pid = child->pid();
  }
  EXPECT_EQ(kill(pid, 0), -1) << "killed and reaped";
}

TEST(Child, IsReapedAlsoWhereATracerHearsOfItsEndFirst) {
  pid_t pid = 0, tracer = 0;
  {
    auto child = Child::start(shell("exec sleep 60"));
    ASSERT_TRUE(child);
    pid = child->pid();
    int holds[2];
    ASSERT_EQ(pipe(holds), 0);
    const base::Descriptor reader(holds[0]);
    base::Descriptor writer(holds[1]);
    tracer = fork();
    if (tracer == 0) {
      const char yes = ptrace(PTRACE_SEIZE, pid, nullptr, nullptr) == 0 ? 1 : 0;
      (void)!write(writer.get(), &yes, 1);
      usleep(100'000);
      _exit(0);  // lets go of it
    }
    char holds_it = 0;
    ASSERT_EQ(read(reader.get(), &holds_it, 1), 1);
    if (!holds_it) {
      waitpid(tracer, nullptr, 0);
      GTEST_SKIP() << "this machine lets nobody trace a process";
    }
  }
  EXPECT_EQ(kill(pid, 0), -1) << "killed and reaped";
  waitpid(tracer, nullptr, 0);
}

TEST(Child, WhatCannotBeWatchedDoesNotRun) {
  const auto child = [] {
    // Enough for what comes before the pidfd: the pipe of the report, and /dev/null.
    const FewDescriptors few(3);
    return Child::start(shell("exec sleep 60"));
  }();
  ASSERT_FALSE(child);
  EXPECT_THAT(child.error().message, HasSubstr("cannot watch a process"));
  EXPECT_EQ(waitpid(-1, nullptr, WNOHANG), -1) << "there is no child";
}

TEST(Child, SeesItsOwnFilesInThePlaceOfOthers) {
  const base::Directory dir;
  dir.write("theirs", "wrong\n");
  Command command = shell("cat " + dir.at("theirs"));
  command.mounts = {{dir.write("ours", "right\n"), dir.at("theirs")}};
  const base::SystemClock clock;
  ControlTool tool(clock);
  tool.ask(command, std::chrono::seconds(10));
  EXPECT_EQ(answer_of(tool).text, "right\n");
  EXPECT_EQ(dir.read("theirs"), "wrong\n") << "nobody else sees it";
}

TEST(Child, LetsGoOfWhatIsUnmountedOutside) {
  const base::Directory dir;
  const Mounted host(dir.at("host"));
  // As what a node mounts for its pods: a mount is seen by all who have what it lies on.
  ASSERT_EQ(mount(nullptr, dir.at("host").c_str(), nullptr, MS_SHARED, nullptr), 0);
  std::optional<Mounted> volume(dir.at("host/volume"));
  dir.write("theirs", "wrong\n");
  Command command = shell("exec sleep 60");
  command.mounts = {{dir.write("ours", "right\n"), dir.at("theirs")}};
  const auto child = Child::start(command);
  ASSERT_TRUE(child) << child.error().message;
  const std::string mounts = base::cat("/proc/", child->pid(), "/mountinfo");
  ASSERT_THAT(*base::read_file(mounts),
              AllOf(HasSubstr("/host/volume "), HasSubstr(dir.at("theirs"))));
  volume.reset();
  EXPECT_THAT(*base::read_file(mounts),
              AllOf(Not(HasSubstr("/host/volume ")), HasSubstr(dir.at("theirs"))));
}

TEST(ControlTool, GivesWhatTheToolPrintsAndNothingOfOurEnvironment) {
  const base::SystemClock clock;
  ControlTool tool(clock);
  tool.ask(shell("echo $WORD$HOME; echo $WORD >&2"), std::chrono::seconds(10));
  const ToolAnswer answer = answer_of(tool);
  EXPECT_EQ(answer.outcome, ToolAnswer::Outcome::Answer);
  EXPECT_EQ(answer.text, "moon\nmoon\n");
  EXPECT_EQ(tool.child(), nullptr);
}

TEST(ControlTool, AToolThatFailsIsARefusalWithItsWords) {
  const base::SystemClock clock;
  ControlTool tool(clock);
  tool.ask(shell("echo no daemon; exit 1"), std::chrono::seconds(10));
  const ToolAnswer answer = answer_of(tool);
  EXPECT_EQ(answer.outcome, ToolAnswer::Outcome::Refusal);
  EXPECT_EQ(answer.text, "no daemon\n");
}

// The loader of this machine, which finds a C library that is only begun.
TEST(ControlTool, AToolThatCannotBeLoadedIsARefusalOfItsLoader) {
  const base::Directory dir;
  dir.write("libc.so.6", "");
  const base::SystemClock clock;
  ControlTool tool(clock);
  tool.ask({.arguments = {"/bin/sh", "-c", "true"}, .environment = {"LD_LIBRARY_PATH=" + dir.at()}},
           std::chrono::seconds(10));
  const ToolAnswer answer = answer_of(tool);
  EXPECT_EQ(answer.outcome, ToolAnswer::Outcome::Refusal);
  EXPECT_TRUE(answer.has_run);
  const auto complaint = loader_complaint(answer);
  ASSERT_TRUE(complaint) << answer.text;
  EXPECT_THAT(*complaint, HasSubstr("libc.so.6"));
}

TEST(ControlTool, AToolThatIsNotThereIsARefusal) {
  const base::SystemClock clock;
  for (const char* path : {"/nowhere/nvidia-imex-ctl", "/etc/passwd"}) {
    ControlTool tool(clock);
    tool.ask({.arguments = {path}}, std::chrono::seconds(10));
    const auto missing = tool.poll();
    ASSERT_TRUE(missing);
    EXPECT_EQ(missing->outcome, ToolAnswer::Outcome::Refusal);
    EXPECT_THAT(missing->text, HasSubstr(path));
  }
}

TEST(ControlTool, AToolForWhichNoFileIsLeftIsNoRefusalOfTheDaemon) {
  const base::SystemClock clock;
  rlimit limit{};
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &limit), 0);
  rlimit none = limit;
  none.rlim_cur = 0;
  ControlTool tool(clock);
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &none), 0);
  tool.ask(shell("true"), std::chrono::seconds(10));
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &limit), 0);
  const auto unasked = tool.poll();
  ASSERT_TRUE(unasked);
  EXPECT_EQ(unasked->outcome, ToolAnswer::Outcome::Unasked);
}

TEST(ControlTool, AToolThatHangsIsKilledAndIsSilence) {
  base::ManualClock clock;
  ControlTool tool(clock);
  tool.ask(shell("exec sleep 60"), std::chrono::seconds(2));
  EXPECT_FALSE(tool.poll());
  EXPECT_EQ(tool.next_due(), base::Duration(std::chrono::seconds(2)));
  clock.advance(std::chrono::seconds(2));
  const auto answer = tool.poll();
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->outcome, ToolAnswer::Outcome::Silence);
  EXPECT_EQ(tool.child(), nullptr);
}

TEST(ControlTool, TakesMoreThanAPipeHolds) {
  const base::SystemClock clock;
  ControlTool tool(clock);
  tool.ask(shell("head -c 300000 /dev/zero | tr '\\0' x"), std::chrono::seconds(10));
  EXPECT_EQ(answer_of(tool).text.size(), 300'000U);
}

}  // namespace
}  // namespace cdom::imex
