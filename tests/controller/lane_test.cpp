#include "controller/lane.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <thread>
#include <vector>

#include "compute_domain/base/text.h"

namespace cdom::controller {
namespace {

using namespace std::chrono_literals;
using base::cat;

class Lanes : public testing::Test {
 protected:
  // The worker of `queue` takes a key and needs so long for it. False: it was not to be done there.
  bool turn(Lane::Queue& queue, base::Duration takes, bool fails = false) {
    const auto taken = queue.try_pop();
    if (!taken) return false;
    const Key key = taken->key();
    if (!lane_.is_to_be_done(key, queue)) return false;
    clock_.advance(takes);
    fails ? queue.retry(key) : queue.forget(key);
    lane_.end_turn(key, queue, takes, false);
    return true;
  }
  void add(const Key& key) { lane_.queue_of(key).add(key); }
  bool is_apart(const Key& key) { return &lane_.queue_of(key) == &apart_; }

  base::ManualClock clock_;
  Lane lane_{clock_, "worker", nullptr};
  Lane::Queue& queue_ = *lane_.queues()[0];
  Lane::Queue& apart_ = *lane_.queues()[1];
  const Key domain_ = domain_key("uid-1");
  const Key list_ = group_key({"uid-1", "c.1"});
  const Key other_ = domain_key("uid-2");
};

TEST_F(Lanes, TakeAllKeysOfAnIdApartAfterALongTurn) {
  add(domain_);
  EXPECT_TRUE(turn(queue_, 4s));
  EXPECT_FALSE(is_apart(domain_));
  add(domain_);
  EXPECT_TRUE(turn(queue_, 5s));
  EXPECT_TRUE(is_apart(domain_));
  EXPECT_TRUE(is_apart(list_));
  EXPECT_FALSE(is_apart(other_));
}

// There may be a hundred thousand, and each would take as long.
TEST_F(Lanes, TakeAllNodesOfAKindApart) {
  add(label_key("n1"));
  turn(queue_, 10s);
  EXPECT_TRUE(is_apart(label_key("n2")));
  EXPECT_FALSE(is_apart(agent_label_key("n1")));
  EXPECT_FALSE(is_apart(report_key("n1")));
  EXPECT_FALSE(is_apart(workloads_key("labels")));
}

TEST_F(Lanes, TakeANamespaceApartAndNothingElseOfItsName) {
  add(workloads_key("placement"));
  turn(queue_, 10s);
  EXPECT_TRUE(is_apart(workloads_key("placement")));
  EXPECT_FALSE(is_apart(placement_key()));
  EXPECT_FALSE(is_apart(clique_key("placement")));
}

TEST_F(Lanes, PassOnWhatWaitsInTheOtherQueue) {
  add(domain_);
  add(list_);
  queue_.retry(list_);
  EXPECT_TRUE(turn(queue_, 10s));
  EXPECT_FALSE(turn(queue_, 0s)) << "it has the other worker now";
  EXPECT_FALSE(lane_.is_failing(list_)) << "it is looked at as if it were new";
  EXPECT_TRUE(queue_.is_empty());
  EXPECT_TRUE(turn(apart_, 0s));
  EXPECT_TRUE(apart_.is_empty());
}

// It may have failed before.
TEST_F(Lanes, GoOnApartWithWhatWasCut) {
  queue_.retry(domain_);
  clock_.advance(1s);
  ASSERT_TRUE(queue_.try_pop());
  lane_.end_turn(domain_, queue_, 10s, true);
  EXPECT_FALSE(lane_.is_failing(domain_));
  EXPECT_TRUE(queue_.is_empty());
  EXPECT_TRUE(turn(apart_, 0s));
}

TEST_F(Lanes, BringThemBackAfterAShortTurnMinutesAfterTheLastLongOne) {
  add(domain_);
  turn(queue_, 10s);
  clock_.advance(2min);
  add(list_);
  turn(apart_, 10s);
  clock_.advance(Lane::kStaysApart - 1s);
  add(list_);
  turn(apart_, 0s);
  EXPECT_TRUE(is_apart(domain_));
  add(list_);
  clock_.advance(1s);
  turn(apart_, 0s);
  EXPECT_FALSE(is_apart(domain_));
  add(list_);
  EXPECT_TRUE(turn(queue_, 0s));
}

TEST_F(Lanes, PassBackWhatStillWaitsApart) {
  add(domain_);
  turn(queue_, 10s);
  add(domain_);
  add(list_);
  clock_.advance(Lane::kStaysApart);
  EXPECT_TRUE(turn(apart_, 0s));
  EXPECT_FALSE(turn(apart_, 0s));
  EXPECT_TRUE(turn(queue_, 0s));
  EXPECT_TRUE(apart_.is_empty());
}

// Its next turn may be as long, and those of many others come before it.
TEST_F(Lanes, KeepWhatWaitsForItsTurnApart) {
  for (const Key& key : {domain_, other_}) {
    add(key);
    turn(queue_, 10s);
  }
  add(other_);
  add(domain_);
  clock_.advance(Lane::kStaysApart);
  turn(apart_, 0s);
  EXPECT_FALSE(is_apart(other_));
  EXPECT_TRUE(is_apart(domain_));
}

TEST_F(Lanes, KeepWhatFailsApart) {
  add(list_);
  turn(queue_, 10s);
  add(list_);
  turn(apart_, 0s, true);
  add(domain_);
  clock_.advance(Lane::kStaysApart);
  turn(apart_, 0s);
  EXPECT_TRUE(is_apart(domain_)) << "its list is not written yet";
  turn(apart_, 0s);
  EXPECT_FALSE(is_apart(domain_));
}

TEST_F(Lanes, ForgetAStrandThatHasNoTurnsAnyMore) {
  add(domain_);
  turn(queue_, 10s);
  add(other_);
  turn(queue_, 10s);
  add(other_);
  apart_.add_after(other_, 1min);
  clock_.advance(Lane::kStaysApart);
  turn(apart_, 10s, true);
  EXPECT_TRUE(is_apart(domain_));
  clock_.advance(Lane::kForgotten);
  turn(apart_, 10s, true);
  EXPECT_FALSE(is_apart(domain_));
  EXPECT_TRUE(is_apart(other_));
}

TEST_F(Lanes, ForgetAllThatNeedNoTurn) {
  add(domain_);
  turn(queue_, 10s);
  clock_.advance(Lane::kStaysApart);
  add(other_);
  turn(queue_, 10s);
  EXPECT_TRUE(is_apart(domain_)) << "its worker may have one of its keys";
  add(other_);
  turn(apart_, 0s);
  EXPECT_FALSE(is_apart(domain_));
  EXPECT_TRUE(is_apart(other_));
}

TEST_F(Lanes, SayOfEitherQueueThatAKeyFails) {
  queue_.retry(domain_);
  apart_.retry(list_);
  EXPECT_TRUE(lane_.is_failing(domain_));
  EXPECT_TRUE(lane_.is_failing(list_));
  EXPECT_FALSE(lane_.is_failing(other_));
}

TEST_F(Lanes, EndOnlyTurnsOfWorkersForWhichOthersWait) {
  EXPECT_FALSE(lane_.is_over(queue_, 4s, false));
  EXPECT_TRUE(lane_.is_over(queue_, 5s, false));
  EXPECT_FALSE(lane_.is_over(apart_, 1h, false));
  EXPECT_TRUE(lane_.is_over(apart_, 5s, true)) << "one that can go on elsewhere";
}

// Two workers, and one that adds keys, as threads: each strand is at one of them at a time.
TEST(LanesOfThreads, HaveOneWorkerForAStrand) {
  constexpr int kStrands = 3, kAdded = 3'000;
  base::ManualClock clock;
  Lane lane(clock, "worker", nullptr);
  std::array<std::atomic<int>, kStrands> at{};
  std::atomic<int> most = 0, turns = 0;
  const auto work = [&](Lane::Queue& queue, const std::stop_token& stop) {
    while (!stop.stop_requested()) {
      const auto taken = queue.pop(10ms, stop);
      if (!taken) continue;
      const Key key = taken->key();
      if (!lane.is_to_be_done(key, queue)) continue;
      const auto strand = static_cast<std::size_t>(key.id.back() - '0');
      most = std::max<int>(most, ++at.at(strand));
      const bool is_long = ++turns % 3 == 0;
      --at.at(strand);
      lane.end_turn(key, queue, is_long ? 10s : 0s, is_long && &queue == lane.queues()[0]);
    }
  };
  {
    std::vector<std::jthread> threads;
    for (Lane::Queue* queue : lane.queues()) {
      threads.emplace_back([&, queue](const std::stop_token& stop) { work(*queue, stop); });
    }
    for (int i = 0; i < kAdded; ++i) {
      clock.advance(10s);
      const Key key = group_key({cat("uid-", i % kStrands), cat("c.", i % 7)});
      lane.queue_of(key).add(key);
      if (i % 10 == 0) std::this_thread::sleep_for(100us);
    }
  }
  EXPECT_EQ(most, 1);
  EXPECT_GT(turns, 0);
}

}  // namespace
}  // namespace cdom::controller
