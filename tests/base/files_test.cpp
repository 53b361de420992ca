#include "compute_domain/base/files.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>

#include "base/directory.h"
#include "compute_domain/base/descriptor.h"
#include "compute_domain/base/file_lock.h"
#include "compute_domain/base/system_error.h"

namespace cdom::base {
namespace {

using ::testing::EndsWith;
using ::testing::HasSubstr;

TEST(Files, AreReplacedByRename) {
  const Directory dir;
  for (const auto replace : {replace_file, replace_file_durably}) {
    ASSERT_TRUE(replace(dir.at("a/nodes.cfg"), "one\n"));
    const Descriptor reader(open(dir.at("a/nodes.cfg").c_str(), O_RDONLY));
    ASSERT_TRUE(replace(dir.at("a/nodes.cfg"), "two\n"));
    char text[8] = {};
    EXPECT_EQ(read(reader.get(), text, sizeof text), 4);
    EXPECT_STREQ(text, "one\n") << "who reads the old file reads the whole of it";
    EXPECT_EQ(dir.read("a/nodes.cfg"), "two\n");
  }
}

TEST(Files, OfAPersonAreReplacedWhereALinkLeadsAndKeepTheirPermissions) {
  const Directory dir;
  dir.write("page.html", "old");
  ASSERT_EQ(chmod(dir.at("page.html").c_str(), 0600), 0);
  ASSERT_EQ(symlink(dir.at("page.html").c_str(), dir.at("link").c_str()), 0);
  dir.write("link.next", "somebody's");
  dir.write("page.html.next", "somebody's");
  ASSERT_TRUE(replace_users_file(dir.at("link"), "new"));
  EXPECT_EQ(dir.read("page.html"), "new");
  EXPECT_TRUE(std::filesystem::is_symlink(dir.at("link")));
  EXPECT_EQ(std::filesystem::status(dir.at("page.html")).permissions(),
            std::filesystem::perms::owner_read | std::filesystem::perms::owner_write);
  EXPECT_EQ(dir.read("link.next"), "somebody's");
  EXPECT_EQ(dir.read("page.html.next"), "somebody's");
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(dir.at(".")), {}), 4);
}

TEST(Files, OfAPersonAreNotBehindALinkToNothing) {
  const Directory dir;
  ASSERT_EQ(symlink(dir.at("nowhere").c_str(), dir.at("link").c_str()), 0);
  EXPECT_FALSE(replace_users_file(dir.at("link"), "new"));
  EXPECT_TRUE(std::filesystem::is_symlink(dir.at("link")));
}

// As root, who may replace each of them.
TEST(Files, OfAPersonTakeThePlaceOfRegularFilesOnly) {
  const Directory dir;
  ASSERT_EQ(mkfifo(dir.at("pipe").c_str(), 0600), 0);
  ASSERT_EQ(symlink(dir.at("pipe").c_str(), dir.at("link").c_str()), 0);
  for (const char* name : {"pipe", "link"}) {
    const auto done = replace_users_file(dir.at(name), "new");
    ASSERT_FALSE(done);
    EXPECT_EQ(done.error().message, "cannot write " + dir.at(name) + ": it is not a regular file");
  }
  EXPECT_TRUE(std::filesystem::is_fifo(dir.at("pipe")));
  ASSERT_TRUE(std::filesystem::create_directory(dir.at("folder")));
  const auto done = replace_users_file(dir.at("folder"), "new");
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().message,
            "cannot write " + dir.at("folder") + ": it is a folder: name a file in it");
}

TEST(Files, OfAPersonAreTriedWithoutATrace) {
  const Directory dir;
  dir.write("page.html", "old");
  EXPECT_TRUE(can_replace_users_file(dir.at("page.html")));
  EXPECT_TRUE(can_replace_users_file(dir.at("another.html")));
  EXPECT_EQ(dir.read("page.html"), "old");
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(dir.at(".")), {}), 1);
}

TEST(Files, OfAPersonAreWrittenOnlyWhereThereIsAFolder) {
  const Directory dir;
  const auto refusal_of = [](const std::string& path) {
    const auto done = replace_users_file(path, "new");
    const auto can = can_replace_users_file(path);
    EXPECT_EQ(done.has_value(), can.has_value());
    if (done || can) return std::string();
    EXPECT_EQ(done.error().message, can.error().message);
    return done.error().message;
  };
  const std::string page = dir.write("page.html", "old");
  EXPECT_EQ(refusal_of(dir.at("typo/x")), "cannot write " + dir.at("typo/x") +
                                              ": there is no folder " + dir.at("typo") +
                                              ": make it, or name another file");
  EXPECT_EQ(refusal_of(page + "/x"),
            "cannot write " + page + "/x: " + page + " is a file: name a folder");
  EXPECT_THAT(refusal_of(page + "/x/y"), HasSubstr("Not a directory"));
  EXPECT_FALSE(std::filesystem::exists(dir.at("typo")));
}

TEST(Files, AFileThatCannotBeWrittenIsNamed) {
  const auto done = replace_file("/proc/nowhere/nodes.cfg", "x");
  ASSERT_FALSE(done);
  EXPECT_THAT(done.error().message, HasSubstr("/proc/nowhere"));
}

// Who reads it may be a person before a laptop, or the log of a pod.
TEST(Files, AnErrorSaysWhatToDoWhereverItIsRead) {
  EXPECT_THAT(read_file(Directory().at()).error().message,
              HasSubstr("; a file belongs there: remove the folder, or name a file"));
  EXPECT_THAT(system_error("cannot read x", EACCES).message,
              EndsWith("; see the owner and mode of the path, and in a pod its security context"));
}

// A limit on the size of files stands for a full disk: a part can be written.
TEST(Files, AFullDiskLeavesTheOldFileAndNoPartOfTheNew) {
  const Directory dir;
  ASSERT_TRUE(replace_file_durably(dir.at("checkpoint"), "old"));
  rlimit before{};
  getrlimit(RLIMIT_FSIZE, &before);
  const auto old_action = std::signal(SIGXFSZ, SIG_IGN);
  const rlimit small{.rlim_cur = 4096, .rlim_max = before.rlim_max};
  setrlimit(RLIMIT_FSIZE, &small);
  const auto done = replace_file_durably(dir.at("checkpoint"), std::string(10'000, 'x'));
  setrlimit(RLIMIT_FSIZE, &before);
  std::signal(SIGXFSZ, old_action);
  ASSERT_FALSE(done);
  EXPECT_THAT(done.error().message, HasSubstr(dir.at("checkpoint") + ": File too large"));
  EXPECT_EQ(dir.read("checkpoint"), "old");
  EXPECT_FALSE(std::filesystem::exists(dir.at("checkpoint.next")));
}

TEST(Files, RemovingWhatIsNotThereIsDone) {
  const Directory dir;
  dir.write("claim", "x");
  EXPECT_TRUE(remove_file(dir.at("claim")));
  EXPECT_TRUE(remove_file(dir.at("claim")));
  EXPECT_FALSE(remove_file(dir.at()));
}

TEST(Files, AReplacementThatWasCutOffGoesWithItsFile) {
  const Directory dir;
  dir.write("claim.next", "a part of i");
  EXPECT_TRUE(remove_file(dir.at("claim")));
  EXPECT_FALSE(std::filesystem::exists(dir.at("claim.next")));
}

TEST(FileLock, HasOneHolderUntilItGoes) {
  const Directory dir;
  {
    const auto first = FileLock::try_acquire(dir.at("lock"));
    ASSERT_TRUE(first) << first.error().message;
    const auto second = FileLock::try_acquire(dir.at("lock"));
    ASSERT_FALSE(second);
    EXPECT_EQ(second.error().kind, ErrorKind::Conflict);
    EXPECT_THAT(second.error().message, HasSubstr(dir.at("lock")));
  }
  EXPECT_TRUE(FileLock::try_acquire(dir.at("lock")));
}

TEST(FileLock, GoesWithTheProcessThatHeldIt) {
  const Directory dir;
  int told[2], end[2];
  ASSERT_EQ(pipe(told), 0);
  ASSERT_EQ(pipe(end), 0);
  const pid_t other = fork();
  if (other == 0) {
    const auto held = FileLock::try_acquire(dir.at("lock"));
    const char holds = held ? 'y' : 'n';
    char byte = 0;
    close(end[1]);
    if (write(told[1], &holds, 1) != 1 || read(end[0], &byte, 1) != 0) _exit(1);
    _exit(0);  // no destructor runs
  }
  char holds = 0;
  ASSERT_EQ(read(told[0], &holds, 1), 1);
  EXPECT_EQ(holds, 'y');
  EXPECT_EQ(FileLock::try_acquire(dir.at("lock")).error().kind, ErrorKind::Conflict);
  close(end[1]);
  int status = -1;
  ASSERT_EQ(waitpid(other, &status, 0), other);
  EXPECT_EQ(status, 0);
  EXPECT_TRUE(FileLock::try_acquire(dir.at("lock")));
  for (const int fd : {told[0], told[1], end[0]}) close(fd);
}

TEST(FileLock, ARemovedFileDoesNotMakeTwoHoldersOfANewOne) {
  const Directory dir;
  const auto old = FileLock::try_acquire(dir.at("lock"));
  std::filesystem::remove(dir.at("lock"));
  const auto held = FileLock::try_acquire(dir.at("lock"));
  ASSERT_TRUE(held);
  EXPECT_FALSE(FileLock::try_acquire(dir.at("lock")));
}

}  // namespace
}  // namespace cdom::base
