#include "controller/roll_call.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>

#include "compute_domain/base/text.h"

namespace cdom::controller {
namespace {

using namespace std::chrono_literals;
using base::cat;
using base::Error;
using base::ErrorKind;
using base::Result;

class RollCallTest : public testing::Test {
 protected:
  Result<void> ask(const std::string& uid) {
    return roll_call_.absence_of(uid, [&]() -> Result<ListedDomains> {
      ++lists_;
      ListedDomains listed = domains_;
      if (meanwhile_) std::exchange(meanwhile_, nullptr)();
      if (failure_) return *failure_;
      return listed;
    });
  }
  // For how long whoever asks is put off; nullopt: there is an answer.
  std::optional<base::Duration> wait_of(const std::string& uid) {
    const Result<void> absence = ask(uid);
    return absence ? std::nullopt : absence.error().retry_after;
  }

  base::ManualClock clock_;
  RollCall roll_call_{clock_};
  ListedDomains domains_;
  std::optional<Error> failure_;
  std::function<void()> meanwhile_;  // while the next LIST is read
  int lists_ = 0;
};

TEST_F(RollCallTest, OneAloneDoesNotWait) {
  EXPECT_TRUE(ask("a"));
  clock_.advance(5s);
  EXPECT_TRUE(ask("b"));
  EXPECT_EQ(lists_, 2);
}

TEST_F(RollCallTest, NoListThatBeganBeforeProvesAnything) {
  EXPECT_TRUE(ask("a"));
  domains_.by_uid["new"] = {"team-a", "train"};
  EXPECT_EQ(wait_of("new"), 5s);
  clock_.advance(5s);
  const Result<void> absence = ask("new");
  ASSERT_FALSE(absence);
  EXPECT_EQ(absence.error().message,
            "ComputeDomain team-a/train exists and is not in the cache yet");
  EXPECT_EQ(lists_, 2);
}

// It may have been made after the API server had answered.
TEST_F(RollCallTest, AListProvesNothingOfWhatIsAskedForWhileItIsRead) {
  meanwhile_ = [&] {
    domains_.by_uid["new"] = {"team-a", "train"};
    EXPECT_EQ(wait_of("new"), 5s);
  };
  EXPECT_TRUE(ask("a"));
  EXPECT_EQ(wait_of("new"), 5s);
  clock_.advance(5s);
  EXPECT_TRUE(ask("b"));
  const Result<void> absence = ask("new");
  ASSERT_FALSE(absence);
  EXPECT_EQ(absence.error().retry_after, std::nullopt);
  EXPECT_EQ(lists_, 2);
}

TEST_F(RollCallTest, AListThatFailsProvesNothing) {
  EXPECT_TRUE(ask("a"));
  EXPECT_TRUE(wait_of("b"));
  clock_.advance(5s);
  failure_ = Error{ErrorKind::Unavailable, "no answer"};
  EXPECT_EQ(ask("c").error().message, "no answer");
  failure_.reset();
  EXPECT_EQ(wait_of("b"), 5s);
  EXPECT_EQ(wait_of("c"), 5s);
  clock_.advance(5s);
  EXPECT_TRUE(ask("b"));
  EXPECT_TRUE(ask("c"));
  EXPECT_EQ(lists_, 3);
}

// Nothing else would be done while there are so many domains that a list takes long.
TEST_F(RollCallTest, PausesAfterAListThatTakesLong) {
  meanwhile_ = [&] { clock_.advance(20s); };
  EXPECT_TRUE(ask("a"));
  EXPECT_EQ(wait_of("b"), 5s);
  EXPECT_EQ(lists_, 1);
}

TEST_F(RollCallTest, KeepsAnAnswerForAMinute) {
  EXPECT_TRUE(ask("a"));
  EXPECT_TRUE(wait_of("b"));
  EXPECT_TRUE(wait_of("c"));
  clock_.advance(5s);
  EXPECT_TRUE(ask("d"));
  clock_.advance(59s);
  EXPECT_TRUE(ask("b"));
  EXPECT_EQ(lists_, 2);
  clock_.advance(1s);
  domains_.by_uid["c"] = {"team-a", "restored"};
  EXPECT_FALSE(ask("c"));
  EXPECT_EQ(lists_, 3);
}

TEST_F(RollCallTest, ListsOneAfterTheOtherHoweverLongOneTakes) {
  meanwhile_ = [&] {
    clock_.advance(6s);
    EXPECT_EQ(wait_of("b"), 5s) << "on another worker";
  };
  EXPECT_TRUE(ask("a"));
  EXPECT_EQ(lists_, 1);
  EXPECT_EQ(wait_of("b"), 5s);
  clock_.advance(5s);
  EXPECT_TRUE(ask("b"));
}

TEST_F(RollCallTest, GoesOnAfterAListThatThrows) {
  meanwhile_ = [] { throw std::runtime_error("as the test wants"); };
  EXPECT_THROW((void)ask("a"), std::runtime_error);
  clock_.advance(5s);
  EXPECT_TRUE(ask("a"));
}

// Who asks all the time keeps nobody else from an answer.
TEST_F(RollCallTest, AnswersEachWithinThePaceWhoeverElseAsks) {
  EXPECT_TRUE(ask("a"));
  EXPECT_TRUE(wait_of("mine"));
  for (int second = 1; second <= 5; ++second) {
    clock_.advance(1s);
    for (int i = 0; i < 100; ++i) (void)ask(cat("forged-", second, "-", i));
  }
  EXPECT_TRUE(ask("mine"));
  EXPECT_EQ(lists_, 2);
}

}  // namespace
}  // namespace cdom::controller
