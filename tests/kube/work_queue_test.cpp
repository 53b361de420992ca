#include "compute_domain/kube/work_queue.h"

#include <gtest/gtest.h>

#include <chrono>
#include <string>

namespace cdom::kube {
namespace {

using namespace std::chrono_literals;
using base::ManualClock;
using Queue = WorkQueue<std::string>;

TEST(WorkQueue, GivesKeysInTheOrderOfTheirFirstAdd) {
  ManualClock clock;
  Queue queue(clock);
  for (const char* key : {"b", "a", "b"}) queue.add(key);
  EXPECT_EQ(queue.size(), 2U);
  EXPECT_EQ(queue.try_pop(), "b");
  EXPECT_EQ(queue.try_pop(), "a");
  EXPECT_EQ(queue.try_pop(), std::nullopt);
}

TEST(WorkQueue, AKeyAddedWhileHeldComesBackAfterDone) {
  ManualClock clock;
  Queue queue(clock);
  queue.add("a");
  ASSERT_EQ(queue.try_pop(), "a");
  queue.add("a");
  EXPECT_EQ(queue.try_pop(), std::nullopt);
  queue.done("a");
  EXPECT_EQ(queue.try_pop(), "a");
  queue.done("a");
  EXPECT_TRUE(queue.is_empty());
}

TEST(WorkQueue, ADelayedKeyComesWhenItsTimeHasPassed) {
  ManualClock clock;
  Queue queue(clock);
  queue.add_after("a", 10s);
  EXPECT_EQ(queue.try_pop(), std::nullopt);
  EXPECT_EQ(queue.next_due(), 10s);
  clock.advance(10s);
  EXPECT_EQ(queue.try_pop(), "a");
}

TEST(WorkQueue, TheEarliestOfSeveralDelaysWins) {
  ManualClock clock;
  Queue queue(clock);
  queue.add_after("a", 10s);
  queue.add_after("a", 3s);
  queue.add_after("a", 20s);
  EXPECT_EQ(queue.next_due(), 3s);
  clock.advance(3s);
  ASSERT_EQ(queue.try_pop(), "a");
  queue.done("a");
  EXPECT_TRUE(queue.is_empty());
}

TEST(WorkQueue, ADelayThatEndsWhileTheKeyIsHeldIsNotLost) {
  ManualClock clock;
  Queue queue(clock);
  queue.add("a");
  ASSERT_EQ(queue.try_pop(), "a");
  queue.add_after("a", 1s);
  clock.advance(1s);
  EXPECT_EQ(queue.try_pop(), std::nullopt);
  queue.done("a");
  EXPECT_EQ(queue.try_pop(), "a");
}

TEST(WorkQueue, BacksOffTwiceAsLongWithEveryRetryUpToHalfAMinute) {
  ManualClock clock;
  Queue queue(clock);
  base::Duration expected = 5ms;
  for (int i = 0; i < 20; ++i) {
    queue.retry("a");
    ASSERT_EQ(queue.next_due(), clock.elapsed() + expected);
    clock.advance(expected);
    ASSERT_EQ(queue.try_pop(), "a");
    queue.done("a");
    expected = std::min<base::Duration>(expected * 2, 30s);
  }
  queue.forget("a");
  queue.retry("a");
  EXPECT_EQ(queue.next_due(), clock.elapsed() + 5ms);
}

TEST(WorkQueue, BacksOffOneKeyWithoutTheOthers) {
  ManualClock clock;
  Queue queue(clock);
  for (int i = 0; i < 5; ++i) queue.retry("a");
  queue.retry("b");
  clock.advance(5ms);
  EXPECT_EQ(queue.try_pop(), "a");  // its first delay was the earliest
  EXPECT_EQ(queue.try_pop(), "b");
}

TEST(WorkQueue, ASuccessLeavesNothingDelayed) {
  ManualClock clock;
  Queue queue(clock);
  for (const char* key : {"a", "b"}) queue.add_after(key, 5s);
  queue.add("a");
  ASSERT_EQ(queue.try_pop(), "a");
  queue.forget("a");
  queue.done("a");
  clock.advance(5s);
  EXPECT_EQ(queue.try_pop(), "b");
  EXPECT_EQ(queue.try_pop(), std::nullopt);
}

TEST(WorkQueue, WaitsAsLongAsTheServerSaid) {
  ManualClock clock;
  Queue queue(clock);
  queue.retry("a", 7s);
  EXPECT_EQ(queue.next_due(), 7s);
}

TEST(WorkQueue, NothingIsDueByItselfWhenItIsEmpty) {
  ManualClock clock;
  Queue queue(clock);
  EXPECT_EQ(queue.next_due(), std::nullopt);
  queue.add("a");
  clock.advance(1s);
  EXPECT_EQ(queue.next_due(), 1s);
}

TEST(WorkQueue, ShowsItsSizes) {
  ManualClock clock;
  base::Registry metrics;
  Queue queue(clock, "domains", &metrics);
  queue.add("a");
  queue.add("b");
  (void)queue.try_pop();
  queue.retry("c");
  const std::string text = metrics.render();
  for (const char* line : {R"(workqueue_depth{name="domains"} 1)",
                           R"(compute_domain_work_queue_keys{name="domains",state="held"} 1)",
                           R"(compute_domain_work_queue_keys{name="domains",state="delayed"} 1)",
                           R"(workqueue_retries_total{name="domains"} 1)"}) {
    EXPECT_NE(text.find(line), std::string::npos) << line << " in\n" << text;
  }
}

TEST(WorkQueue, CountsAddsAndTakesTheTimesAsClientGo) {
  ManualClock clock;
  base::Registry metrics;
  Queue queue(clock, "domains", &metrics);
  queue.add("a");
  queue.add("a");  // it waits already
  clock.advance(2s);
  ASSERT_EQ(queue.try_pop(), "a");
  clock.advance(1s);
  queue.add("a");  // a worker holds it: it waits from now on
  clock.advance(3s);
  queue.done("a");
  clock.advance(1s);
  ASSERT_EQ(queue.try_pop(), "a");
  queue.done("a");
  const std::string text = metrics.render();
  for (const char* line : {R"(workqueue_adds_total{name="domains"} 2)",
                           R"(workqueue_queue_duration_seconds_sum{name="domains"} 6)",
                           R"(workqueue_queue_duration_seconds_count{name="domains"} 2)",
                           R"(workqueue_work_duration_seconds_sum{name="domains"} 4)",
                           R"(workqueue_work_duration_seconds_count{name="domains"} 2)"}) {
    EXPECT_NE(text.find(line), std::string::npos) << line << " in\n" << text;
  }
}

TEST(WorkQueue, ShowsForHowLongKeysAreHeldAsClientGo) {
  ManualClock clock;
  Queue queue(clock, "domains");
  const auto shown = [&queue] {
    base::Registry metrics;
    queue.show_work_in_progress(metrics);
    return std::pair(
        metrics.gauge("workqueue_unfinished_work_seconds", "", {{"name", "domains"}}).value(),
        metrics.gauge("workqueue_longest_running_processor_seconds", "", {{"name", "domains"}})
            .value());
  };
  for (const char* key : {"a", "b", "c"}) queue.add(key);
  clock.advance(1s);
  EXPECT_EQ(shown(), std::pair(0.0, 0.0)) << "they wait";
  ASSERT_EQ(queue.try_pop(), "a");
  clock.advance(2s);
  ASSERT_EQ(queue.try_pop(), "b");
  clock.advance(500ms);
  EXPECT_EQ(shown(), std::pair(3.0, 2.5));
  queue.done("a");
  EXPECT_EQ(shown(), std::pair(0.5, 0.5));
  queue.done("b");
  EXPECT_EQ(shown(), std::pair(0.0, 0.0));
}

}  // namespace
}  // namespace cdom::kube
