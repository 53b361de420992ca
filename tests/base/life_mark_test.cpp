#include "compute_domain/base/life_mark.h"

#include <gtest/gtest.h>
#include <sys/wait.h>

#include <csignal>
#include <optional>

#include "base/directory.h"

namespace cdom::base {
namespace {

TEST(LifeMark, IsFreeOnceItsLastHolderHasEnded) {
  const Directory dir;
  const std::string path = dir.at("mark");
  EXPECT_FALSE(LifeMark::is_free(path)) << "without a file nobody can tell";
  auto first = LifeMark::hold(path);
  ASSERT_TRUE(first) << first.error().message;
  EXPECT_FALSE(LifeMark::is_free(path));
  {
    const auto second = LifeMark::hold(path);
    EXPECT_TRUE(second);
    EXPECT_FALSE(LifeMark::is_free(path)) << "looking takes nothing away";
  }
  EXPECT_FALSE(LifeMark::is_free(path));
  first = Error{ErrorKind::NotFound, ""};
  EXPECT_TRUE(LifeMark::is_free(path));
}

TEST(LifeMark, IsHeldByAChildThatHasItsDescriptor) {
  const Directory dir;
  const std::string path = dir.at("mark");
  std::optional<LifeMark> mark = *LifeMark::hold(path);
  const pid_t child = fork();
  if (child == 0) {
    pause();
    _exit(0);
  }
  mark.reset();
  EXPECT_FALSE(LifeMark::is_free(path));
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
  EXPECT_TRUE(LifeMark::is_free(path));
}

}  // namespace
}  // namespace cdom::base
