#include "compute_domain/agent/file_checkpoint_store.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/directory.h"

namespace cdom::agent {
namespace {

using ::testing::HasSubstr;

TEST(FileCheckpointStore, LoadsWhatWasSavedLast) {
  const base::Directory dir;
  FileCheckpointStore store(dir.at("plugin/checkpoint"));
  EXPECT_EQ(*store.load(), std::nullopt);
  ASSERT_TRUE(store.save("one"));
  ASSERT_TRUE(store.save("two"));
  EXPECT_EQ(*FileCheckpointStore(dir.at("plugin/checkpoint")).load(), "two");
}

TEST(FileCheckpointStore, AFullDiskIsAnErrorAndTheOldCheckpointStays) {
  const base::Directory dir;
  FileCheckpointStore store(dir.at("checkpoint"));
  ASSERT_TRUE(store.save("one"));
  std::filesystem::create_symlink("/dev/full", dir.at("checkpoint.next"));
  const auto done = store.save("two");
  ASSERT_FALSE(done);
  EXPECT_THAT(done.error().message, HasSubstr("No space left on device"));
  EXPECT_EQ(*store.load(), "one");
}

TEST(FileCheckpointStore, WhatCannotBeReadNowIsNoMissingCheckpoint) {
  const base::Directory dir;
  dir.write("checkpoint/x", "");
  const auto loaded = FileCheckpointStore(dir.at("checkpoint")).load();
  ASSERT_FALSE(loaded);
  EXPECT_EQ(loaded.error().kind, base::ErrorKind::Unavailable);
}

TEST(FileCheckpointStore, WhatIsSetAsideIsMovedAndKeptForPeople) {
  const base::Directory dir;
  FileCheckpointStore store(dir.write("checkpoint", "torn"));
  EXPECT_EQ(*store.set_aside("torn"), dir.at("checkpoint.unreadable-1"));
  EXPECT_EQ(*store.load(), std::nullopt);
  EXPECT_EQ(dir.read("checkpoint.unreadable-1"), "torn");

  ASSERT_TRUE(store.save("of a newer format"));
  ASSERT_TRUE(store.set_aside("of a newer format"));
  EXPECT_EQ(dir.read("checkpoint.unreadable-1"), "torn");
  EXPECT_EQ(dir.read("checkpoint.unreadable-2"), "of a newer format");
}

TEST(FileCheckpointStore, TheSameTextIsKeptOnceAndNineOfThemAtMost) {
  const base::Directory dir;
  FileCheckpointStore store(dir.at("checkpoint"));
  for (const char* text : {"1", "2", "1", "3", "4", "5", "6", "7", "8", "9", "10", "11"}) {
    ASSERT_TRUE(store.set_aside(text));
  }
  EXPECT_EQ(dir.read("checkpoint.unreadable-1"), "1");
  EXPECT_EQ(dir.read("checkpoint.unreadable-3"), "3");
  EXPECT_EQ(dir.read("checkpoint.unreadable-9"), "11");
  EXPECT_FALSE(std::filesystem::exists(dir.at("checkpoint.unreadable-10")));
}

// One step: under the hold, the checkpoint read anew.
bool step(FileCheckpointStore& store) {
  const auto hold = store.hold();
  if (!hold) return false;
  const auto text = store.load();
  return text && store.save(text->value_or("") + "x");
}

TEST(FileCheckpointStore, IsHeldByOneAtATime) {
  const base::Directory dir;
  FileCheckpointStore one(dir.at("plugin/checkpoint")), two(dir.at("plugin/checkpoint"));
  auto hold = one.hold();
  ASSERT_TRUE(hold);
  const auto other = two.hold();
  ASSERT_FALSE(other);
  EXPECT_EQ(other.error().kind, base::ErrorKind::Conflict);
  hold->reset();
  EXPECT_TRUE(two.hold());
}

TEST(FileCheckpointStore, KnowsWhichAgentsAreThere) {
  const base::Directory dir;
  FileCheckpointStore one(dir.at("checkpoint"));
  std::optional<FileCheckpointStore> two(dir.at("checkpoint"));
  ASSERT_TRUE(one.enter("one"));
  ASSERT_TRUE(two->enter("two"));
  EXPECT_TRUE(one.is_there("one"));
  EXPECT_TRUE(one.is_there("two"));
  EXPECT_FALSE(one.is_there("three"));
  two.reset();
  EXPECT_FALSE(one.is_there("two"));
}

TEST(FileCheckpointStore, ClearsAwayWhatAgentsHaveLeftThatWereKilled) {
  const base::Directory dir;
  dir.write("checkpoint.agent-killed", "");
  FileCheckpointStore one(dir.at("checkpoint")), two(dir.at("checkpoint"));
  ASSERT_TRUE(one.enter("one"));
  EXPECT_FALSE(one.is_there("killed"));
  EXPECT_FALSE(std::filesystem::exists(dir.at("checkpoint.agent-killed")));
  ASSERT_TRUE(two.enter("two"));
  EXPECT_TRUE(two.is_there("one"));
}

TEST(FileCheckpointStore, LeavesNothingWhenTheLastAgentClearsItAway) {
  const base::Directory dir;
  const std::string folder = dir.at("plugin");
  std::optional<FileCheckpointStore> one(folder + "/checkpoint");
  FileCheckpointStore two(folder + "/checkpoint");
  {
    const auto hold = one->hold();
    ASSERT_TRUE(hold && one->enter("one") && two.enter("two") && one->save("text"));
    const auto done = two.clear_away();
    ASSERT_FALSE(done);
    EXPECT_EQ(done.error().kind, base::ErrorKind::Conflict);
    EXPECT_EQ(*two.load(), "text");
  }
  one.reset();
  dir.write("plugin/checkpoint.agent-killed", "");
  {
    const auto hold = two.hold();
    ASSERT_TRUE(hold);
    EXPECT_TRUE(two.clear_away());
    EXPECT_FALSE(std::filesystem::exists(folder));
  }
  EXPECT_TRUE(two.hold() && two.enter("again") && two.save("again"));
  EXPECT_EQ(*two.load(), "again");
}

TEST(FileCheckpointStore, TakesAlongWhatWasSetAside) {
  const base::Directory dir;
  FileCheckpointStore store(dir.write("plugin/checkpoint", "text"));
  const auto hold = store.hold();
  ASSERT_TRUE(hold && store.set_aside("unreadable") && store.set_aside("also"));
  EXPECT_TRUE(std::filesystem::exists(dir.at("plugin/checkpoint.unreadable-2")));
  ASSERT_TRUE(store.clear_away());
  EXPECT_FALSE(std::filesystem::exists(dir.at("plugin")));
}

TEST(FileCheckpointStore, LeavesAFolderInWhichSomethingElseIs) {
  const base::Directory dir;
  FileCheckpointStore store(dir.write("plugin/checkpoint", "text"));
  dir.write("plugin/other", "");
  const auto hold = store.hold();
  ASSERT_TRUE(hold && store.clear_away());
  EXPECT_FALSE(std::filesystem::exists(dir.at("plugin/checkpoint")));
  EXPECT_TRUE(std::filesystem::exists(dir.at("plugin/other")));
}

TEST(FileCheckpointStore, TwoProcessesThatStepUnderTheHoldLoseNothing) {
  constexpr std::size_t kSteps = 25;
  const base::Directory dir;
  FileCheckpointStore store(dir.at("checkpoint"));
  const auto take_steps = [&] {
    for (std::size_t done = 0; done < kSteps;) {
      if (step(store)) {
        ++done;
      } else {
        sched_yield();
      }
    }
  };
  const pid_t other = fork();
  if (other == 0) {
    take_steps();
    _exit(0);
  }
  take_steps();
  int status = -1;
  ASSERT_EQ(waitpid(other, &status, 0), other);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(**store.load(), std::string(2 * kSteps, 'x'));
}

}  // namespace
}  // namespace cdom::agent
