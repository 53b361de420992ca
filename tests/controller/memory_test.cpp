// What one process remembers.
#include "compute_domain/controller/memory.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

namespace cdom::controller {
namespace {

using namespace std::chrono_literals;  // NOLINT(google-build-using-namespace): for durations

const Key kTrain = domain_key("u");

// A crash and the start after it are one; a stolen token can report ten a second.
TEST(Memory, ANodeWhoseDaemonChangesAgainAndAgainIsRestlessForEverLonger) {
  Memory memory;
  EXPECT_EQ(memory.restless_for("n1", 0s), 0s);
  std::vector<base::Duration> taken;
  for (base::Duration now{}; now < 15min; now += 100ms) {
    if (memory.restless_for("n1", now) == 0s) taken.push_back(now);
    memory.daemon_changed("n1", now);
  }
  EXPECT_EQ(taken.front(), 0s);
  EXPECT_GE(taken.size(), 6U);
  EXPECT_LE(taken.size(), 40U) << "of 9,000 changes";
  EXPECT_EQ(memory.restless_for("n2", 15min), 0s) << "another one";
  base::Duration longest{};
  for (std::size_t i = 1; i < taken.size(); ++i) {
    longest = std::max(longest, taken[i] - taken[i - 1]);
  }
  EXPECT_GE(longest, 2min);
  const base::Duration last = memory.restless_for("n1", 15min);
  EXPECT_EQ(memory.restless_for("n1", 15min + last), 0s);
  memory.daemon_changed("n1", 60min);
  EXPECT_EQ(memory.restless_for("n1", 60min), 0s) << "it was quiet";
}

TEST(Memory, ASecondChangeWithinAMomentWaitsForTheNextSignal) {
  Memory memory;
  memory.daemon_changed("n1", 10s);
  EXPECT_EQ(memory.restless_for("n1", 10s), 0s);
  memory.daemon_changed("n1", 11s);
  EXPECT_EQ(memory.restless_for("n1", 11s), 4s);
}

TEST(Memory, ARefusalStandsUntilTheKeySucceeds) {
  Memory memory;
  EXPECT_FALSE(memory.accepted(kTrain));
  EXPECT_TRUE(memory.refused(kTrain, "quota", 0s));
  EXPECT_EQ(memory.refusal(kTrain), "quota");
  EXPECT_TRUE(memory.accepted(kTrain));
  EXPECT_EQ(memory.refusal(kTrain), std::nullopt);
}

// Or a status that names it would be written with every attempt, and bring the next one.
TEST(Memory, ARefusalInOtherWordsIsNoNewsForAWhile) {
  Memory memory;
  EXPECT_TRUE(memory.refused(kTrain, "used: 1", 0s));
  EXPECT_FALSE(memory.refused(kTrain, "used: 2", 29s));
  EXPECT_EQ(memory.refusal(kTrain), "used: 1");
  EXPECT_FALSE(memory.refused(kTrain, "used: 1", 31s));
  EXPECT_TRUE(memory.refused(kTrain, "used: 2", 31s));
  EXPECT_EQ(memory.refusal(kTrain), "used: 2");
}

const Memory::Failure kNoAnswer{.action = 1, .what = "no answer"};

// A server that is briefly away is nobody's news.
TEST(Memory, AFailureLastsOnceItHasComeThreeTimesAndForHalfAMinute) {
  Memory memory;
  memory.domain_seen("u", 0s);
  for (const auto at : {0s, 1s, 29s}) {
    EXPECT_FALSE(memory.failed(kTrain, kNoAnswer, base::Time{at}, at)) << at.count();
  }
  EXPECT_EQ(memory.lasting_failure(kTrain), std::nullopt);
  EXPECT_TRUE(memory.failed(kTrain, kNoAnswer, base::Time{30s}, 30s));
  EXPECT_EQ(memory.lasting_failure(kTrain),
            (core::LastingFailure{.what = "no answer", .since = base::Time{0s}}));
  EXPECT_FALSE(memory.failed(kTrain, kNoAnswer, base::Time{60s}, 60s)) << "once";
  EXPECT_TRUE(memory.accepted(kTrain));
  EXPECT_EQ(memory.lasting_failure(kTrain), std::nullopt);
}

TEST(Memory, AFailureLastsOfOneActionOnly) {
  Memory memory;
  memory.domain_seen("u", 0s);
  for (const auto at : {0s, 20s, 40s}) memory.failed(kTrain, kNoAnswer, base::Time{at}, at);
  ASSERT_NE(memory.lasting_failure(kTrain), std::nullopt);
  EXPECT_TRUE(memory.failed(kTrain, {.action = 2, .what = "no answer"}, base::Time{41s}, 41s));
  EXPECT_EQ(memory.lasting_failure(kTrain), std::nullopt);
}

TEST(Memory, TwoFailuresFarApartDoNotLast) {
  Memory memory;
  memory.domain_seen("u", 0s);
  for (const auto at : {0s, 120s}) memory.failed(kTrain, kNoAnswer, base::Time{at}, at);
  EXPECT_EQ(memory.lasting_failure(kTrain), std::nullopt);
}

TEST(Memory, AFailureInOtherWordsIsNoNewsForAWhile) {
  Memory memory;
  memory.domain_seen("u", 0s);
  for (const auto at : {0s, 20s, 40s}) memory.failed(kTrain, kNoAnswer, base::Time{at}, at);
  EXPECT_FALSE(memory.failed(kTrain, {.action = 1, .what = "no port"}, base::Time{69s}, 69s));
  EXPECT_TRUE(memory.failed(kTrain, {.action = 1, .what = "no port"}, base::Time{70s}, 70s));
  EXPECT_EQ(memory.lasting_failure(kTrain)->what, "no port");
}

TEST(Memory, AFailureIsToldAfterTheNextOneWhereTheStatusFailedToo) {
  Memory memory;
  memory.domain_seen("u", 0s);
  for (const auto at : {0s, 20s, 40s}) memory.failed(kTrain, kNoAnswer, base::Time{at}, at);
  memory.status_failed("u");
  EXPECT_EQ(memory.lasting_failure(kTrain), std::nullopt);
  EXPECT_TRUE(memory.failed(kTrain, kNoAnswer, base::Time{50s}, 50s));
  EXPECT_EQ(memory.lasting_failure(kTrain)->since, base::Time{0s});
}

TEST(Memory, ForgetsADomainWithAllThatItsKeysMet) {
  Memory memory;
  memory.domain_seen("u", 0s);
  memory.refused(kTrain, "a", 0s);
  memory.refused(group_key({"u", "c"}), "b", 0s);
  memory.refused(domain_key("other"), "c", 0s);
  for (const auto at : {0s, 20s, 40s}) {
    memory.failed(group_key({"u", "d"}), kNoAnswer, base::Time{at}, at);
  }
  ASSERT_NE(memory.lasting_failure(group_key({"u", "d"})), std::nullopt);
  memory.status_pruned("u", core::PrunedStatus{});
  memory.status_written("u", {});
  memory.list_written({"u", "c"}, {});
  memory.forget_domain("u");
  EXPECT_EQ(memory.refusal(kTrain), std::nullopt);
  EXPECT_EQ(memory.refusal(group_key({"u", "c"})), std::nullopt);
  EXPECT_EQ(memory.lasting_failure(group_key({"u", "d"})), std::nullopt);
  EXPECT_FALSE(memory.failed(kTrain, kNoAnswer, {}, 0s)) << "a worker may have begun before";
  EXPECT_EQ(memory.refusal(domain_key("other")), "c");
  EXPECT_EQ(memory.pruned("u"), std::nullopt);
  EXPECT_EQ(memory.status_written("u"), std::nullopt);
  EXPECT_EQ(memory.list_written({"u", "c"}), std::nullopt);
  EXPECT_EQ(memory.unreported_list("u"), std::nullopt);
}

TEST(Memory, ForgetsTheEventsOfAClaim) {
  Memory memory;
  memory.object_reported("c");
  EXPECT_TRUE(memory.is_reported("c"));
  memory.forget_object("c");
  EXPECT_FALSE(memory.is_reported("c"));
}

TEST(Memory, AListIsHeldUntilItIsWritten) {
  Memory memory;
  memory.domain_seen("u", 0s);
  memory.domain_seen("v", 0s);
  memory.list_held({"u", "c"}, 1, base::Time{1s});
  memory.list_held({"u", "c"}, 2, base::Time{2s});
  memory.list_held({"v", "c"}, 3, base::Time{2s});
  EXPECT_EQ(memory.lists_held("u"),
            (std::map<core::ImexGroupKey, core::HeldList>{
                {{"u", "c"}, {.digest = 2, .since = base::Time{1s}, .changed = base::Time{2s}}}}));
  memory.list_written({"u", "c"}, base::Time{3s});
  EXPECT_TRUE(memory.lists_held("u").empty());
  memory.forget_domain("v");
  EXPECT_TRUE(memory.lists_held("v").empty());
}

TEST(Memory, AListAwaitsItsStatusSinceTheFirstThatWasWritten) {
  Memory memory;
  memory.domain_seen("u", 0s);
  memory.list_written({"u", "c"}, base::Time{1s});
  memory.list_written({"u", "d"}, base::Time{2s});
  EXPECT_EQ(memory.unreported_list("u"), base::Time{1s});
  memory.status_written("u", base::Time{3s});
  EXPECT_EQ(memory.unreported_list("u"), std::nullopt);
}

// The list of a clique may have a channel of a domain that is gone.
TEST(Memory, OnlyADomainThatIsThereAwaitsItsList) {
  Memory memory;
  memory.list_awaited("u", base::Time{1s});
  EXPECT_EQ(memory.unreported_list("u"), std::nullopt);
  memory.domain_seen("u", 1s);
  memory.list_awaited("u", base::Time{2s});
  EXPECT_EQ(memory.unreported_list("u"), base::Time{2s});
  memory.forget_domain("u");
  memory.list_awaited("u", base::Time{3s});
  EXPECT_EQ(memory.unreported_list("u"), std::nullopt) << "a worker had begun before it was gone";
}

// A worker had begun before it was gone.
TEST(Memory, KeepsNothingOfADomainThatItHasForgotten) {
  Memory memory;
  memory.domain_seen("u", 0s);
  EXPECT_TRUE(memory.placement_found("u", {}));
  memory.forget_domain("u");
  EXPECT_FALSE(memory.placement_found("u", {}));
  EXPECT_EQ(memory.placement("u"), std::nullopt);
  memory.status_written("u", base::Time{1s});
  EXPECT_EQ(memory.status_written("u"), std::nullopt);
  memory.list_written({"u", "c"}, base::Time{1s});
  EXPECT_TRUE(memory.lists_written("u").empty());
  EXPECT_EQ(memory.unreported_list("u"), std::nullopt);
  memory.list_held({"u", "c"}, 1, base::Time{1s});
  EXPECT_TRUE(memory.lists_held("u").empty());
  memory.formation_begun("u", 1s);
  EXPECT_EQ(memory.formation_ended("u"), std::nullopt);
  memory.status_pruned("u", core::PrunedStatus{});
  EXPECT_EQ(memory.pruned("u"), std::nullopt);
}

TEST(Memory, KeepsWhenTheListOfACliqueWasWritten) {
  Memory memory;
  memory.list_written({"", "c"}, base::Time{1s});
  EXPECT_EQ(memory.list_written({"", "c"}), base::Time{1s});
}

}  // namespace
}  // namespace cdom::controller
