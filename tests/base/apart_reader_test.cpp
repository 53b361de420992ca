#include "compute_domain/base/apart_reader.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/ptrace.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <fstream>
#include <future>
#include <optional>
#include <thread>

#include "base/directory.h"
#include "compute_domain/base/descriptor.h"
#include "compute_domain/base/file_lock.h"
#include "compute_domain/base/text.h"

namespace cdom::base {
namespace {

using testing::HasSubstr;

constexpr Duration kLong = std::chrono::seconds(30);

// Opening it to read lasts until somebody opens it to write.
std::string pipe_in(const Directory& dir) {
  std::string path = dir.at("hangs");
  EXPECT_EQ(mkfifo(path.c_str(), 0600), 0);
  return path;
}

// The process that this thread has started, once there is one.
pid_t child_of(pid_t thread) {
  for (;;) {
    std::ifstream children(cat("/proc/self/task/", thread, "/children"));
    if (pid_t child = 0; children >> child) return child;
    std::this_thread::yield();
  }
}

TEST(ApartReader, ReadsAsReadFileDoes) {
  const Directory dir;
  ApartReader reader;
  EXPECT_EQ(*reader.read(dir.write("file", "Device Minor: 0\n"), kLong), "Device Minor: 0\n");
  EXPECT_EQ(*reader.read(dir.write("empty", ""), kLong), "");
  EXPECT_EQ(reader.read(dir.at("none"), kLong).error().kind, ErrorKind::NotFound);
  const auto folder = reader.read(dir.at(""), kLong);
  EXPECT_THAT(folder.error().message, HasSubstr("Is a directory"));
  EXPECT_FALSE(reader.hangs());
}

TEST(ApartReader, TakesWhatAPipeTakes) {
  const Directory dir;
  ApartReader reader;
  constexpr std::size_t kMost = std::size_t{64} << 10;
  EXPECT_EQ(reader.read(dir.write("most", std::string(kMost, 'x')), kLong)->size(), kMost);
  const auto more = reader.read(dir.write("more", std::string(kMost + 1, 'x')), kLong);
  EXPECT_THAT(more.error().message, HasSubstr("File too large"));
}

TEST(ApartReader, WaitsOnlySoLong) {
  const Directory dir;
  const std::string path = pipe_in(dir);
  ApartReader reader;
  const auto text = reader.read(path, std::chrono::milliseconds(20));
  EXPECT_EQ(text.error().kind, ErrorKind::Unavailable);
  EXPECT_EQ(text.error().message, path + " has not been read within 20ms");
  EXPECT_TRUE(reader.hangs());
}

// The supervisor's lock would else be held for as long as the driver hangs.
TEST(ApartReader, ItsProcessHoldsNoLockOfThisOne) {
  const Directory dir;
  const std::string path = pipe_in(dir);
  std::optional<FileLock> lock = *FileLock::try_acquire(dir.at("lock"));
  std::promise<pid_t> begun;
  std::thread other([&] {
    begun.set_value(gettid());
    ApartReader reader;
    EXPECT_EQ(*reader.read(path, kLong), "");
  });
  child_of(begun.get_future().get());
  // Its descriptors are closed before it opens the pipe, which is when this returns.
  Descriptor writer(open(path.c_str(), O_WRONLY | O_CLOEXEC));
  lock.reset();
  EXPECT_TRUE(FileLock::try_acquire(dir.at("lock")));
  writer.reset();
  other.join();
}

// A process inside a driver's call is not gone when it is killed, and neither is one whose end its
// tracer hears of first (ptrace(2)).
TEST(ApartReader, StartsNoSecondProcessBesideOneThatDoesNotDie) {
  const Directory dir;
  const std::string path = pipe_in(dir);
  const std::string good = dir.write("good", "here");
  ApartReader reader;
  std::promise<pid_t> begun;
  std::thread other([&] {
    begun.set_value(gettid());
    EXPECT_FALSE(reader.read(path, std::chrono::milliseconds(500)));
  });
  const pid_t child = child_of(begun.get_future().get());
  int says[2], may_go[2];
  ASSERT_EQ(pipe(says), 0);
  ASSERT_EQ(pipe(may_go), 0);
  const pid_t tracer = fork();
  if (tracer == 0) {
    char yes = ptrace(PTRACE_SEIZE, child, nullptr, nullptr) == 0 ? 1 : 0;
    (void)!write(says[1], &yes, 1);
    (void)!read(may_go[0], &yes, 1);
    _exit(0);  // lets go of it
  }
  char holds_it = 0;
  ASSERT_EQ(read(says[0], &holds_it, 1), 1);
  other.join();
  if (holds_it) {
    EXPECT_TRUE(reader.has(child));
    const auto second = reader.read(good, kLong);
    ASSERT_FALSE(second);
    EXPECT_EQ(second.error().message, cat("an earlier read of ", path, " still hangs"));
  }
  (void)!write(may_go[1], &holds_it, 1);
  waitpid(tracer, nullptr, 0);
  for (const int end : {says[0], says[1], may_go[0], may_go[1]}) close(end);
  if (!holds_it) GTEST_SKIP() << "this machine lets nobody trace a process";
  while (reader.hangs()) (void)reader.read(good, kLong);
  EXPECT_EQ(*reader.read(good, kLong), "here");
}

}  // namespace
}  // namespace cdom::base
