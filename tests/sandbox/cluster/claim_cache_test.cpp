#include "sandbox/cluster/node/claim_cache.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace cdom::sandbox {
namespace {

using State = PrepareStep::State;
using testing::ElementsAre;
using testing::HasSubstr;

// A driver that answers what it is told to, and counts.
class FakePlugin : public NodePlugin {
 public:
  PrepareStep prepare(const ClaimRef& claim) override {
    ++prepares;
    const auto told = answers.find(claim.name);
    return told == answers.end() ? PrepareStep{State::Done, "", {claim.name + "-dev"}}
                                 : told->second;
  }
  PrepareStep unprepare(const ClaimRef&) override {
    ++unprepares;
    return {State::Done, "", {}};
  }
  bool step() override { return false; }
  std::optional<base::Duration> next_due() override { return std::nullopt; }

  std::map<std::string, PrepareStep> answers;
  int prepares = 0, unprepares = 0;
};

class ClaimCacheTest : public testing::Test {
 protected:
  const ClaimRef a_{"ns", "a", "uid-a"}, b_{"ns", "b", "uid-b"};
  base::ManualClock clock_;
  FakePlugin plugin_;
  ClaimCache cache_{clock_};
};

TEST_F(ClaimCacheTest, CallsTheDriverOnceForAClaimThatPodsShare) {
  EXPECT_EQ(cache_.prepare("pod1", {a_}, &plugin_).state, State::Done);
  EXPECT_EQ(cache_.prepare("pod2", {a_}, &plugin_).state, State::Done);
  EXPECT_EQ(plugin_.prepares, 1);
  EXPECT_THAT(cache_.devices_of("pod2"), ElementsAre("a-dev"));
}

TEST_F(ClaimCacheTest, UnpreparesWhenTheLastPodHasGone) {
  (void)cache_.prepare("pod1", {a_}, &plugin_);
  (void)cache_.prepare("pod2", {a_}, &plugin_);
  EXPECT_EQ(cache_.unprepare("pod1", &plugin_).state, State::Done);
  EXPECT_EQ(plugin_.unprepares, 0);
  EXPECT_EQ(cache_.unprepare("pod2", &plugin_).state, State::Done);
  EXPECT_EQ(plugin_.unprepares, 1);
  EXPECT_TRUE(cache_.claims().empty());
}

TEST_F(ClaimCacheTest, AnswersForAllClaimsWhenTheLastHasItsAnswer) {
  plugin_.answers["b"] = {State::Waiting, "for peers", {}};
  EXPECT_EQ(cache_.prepare("pod", {a_, b_}, &plugin_).state, State::Waiting);
  EXPECT_EQ(cache_.prepare("pod", {a_, b_}, &plugin_).state, State::Waiting);
  plugin_.answers.clear();
  EXPECT_EQ(cache_.prepare("pod", {a_, b_}, &plugin_).state, State::Done);
  EXPECT_EQ(plugin_.prepares, 4);  // a once, b three times
}

TEST_F(ClaimCacheTest, GivesUpAfterFortyFiveSeconds) {
  plugin_.answers["a"] = {State::Waiting, "for peers", {}};
  EXPECT_EQ(cache_.prepare("pod", {a_}, &plugin_).state, State::Waiting);
  clock_.advance(*cache_.next_due() - clock_.elapsed());
  const PrepareStep step = cache_.prepare("pod", {a_}, &plugin_);
  EXPECT_EQ(step.state, State::Failed);
  EXPECT_THAT(step.reason, HasSubstr("DeadlineExceeded"));
}

TEST_F(ClaimCacheTest, UnpreparesAlsoWhatFailedToPrepare) {
  plugin_.answers["a"] = {State::Failed, "no such domain", {}};
  const PrepareStep step = cache_.prepare("pod", {a_}, &plugin_);
  EXPECT_EQ(step.reason, "NodePrepareResources failed for ResourceClaim a: no such domain");
  EXPECT_EQ(cache_.unprepare("pod", &plugin_).state, State::Done);
  EXPECT_EQ(plugin_.unprepares, 1);
}

TEST_F(ClaimCacheTest, RefusesAClaimOfTheSameNameWithAnotherUid) {
  (void)cache_.prepare("pod1", {a_}, &plugin_);
  const PrepareStep step = cache_.prepare("pod2", {{"ns", "a", "uid-new"}}, &plugin_);
  EXPECT_EQ(step.state, State::Failed);
  EXPECT_THAT(step.reason, HasSubstr("different UID"));
}

TEST_F(ClaimCacheTest, PreparesAgainAfterARestart) {
  (void)cache_.prepare("pod", {a_}, &plugin_);
  cache_.forget_prepared();
  (void)cache_.prepare("pod", {a_}, &plugin_);
  EXPECT_EQ(plugin_.prepares, 2);
}

}  // namespace
}  // namespace cdom::sandbox
