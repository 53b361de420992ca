// What several threads share: run these under the thread sanitizer.
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <chrono>
#include <string>
#include <thread>
#include <vector>

#include "compute_domain/api/core.h"
#include "compute_domain/kube/events.h"
#include "compute_domain/kube/informer.h"
#include "compute_domain/kube/store.h"
#include "compute_domain/kube/work_queue.h"
#include "kube/fake_server.h"

namespace cdom::kube {
namespace {

using namespace std::chrono_literals;

// Far beyond what any of these takes, so that a lost wake-up fails instead of hanging.
constexpr auto kBound = 30s;

TEST(WorkQueueThreads, NeverHandAKeyToTwoWorkersAndNeverLoseOne) {
  constexpr int kKeys = 8;
  constexpr int kRounds = 2000;
  const base::SystemClock clock;
  WorkQueue<int> queue(clock);
  std::array<std::atomic<int>, kKeys> wanted{};  // the last round that was asked for
  std::array<std::atomic<int>, kKeys> seen{};    // and that a worker has worked on
  std::array<std::atomic<bool>, kKeys> held{};
  std::atomic<bool> overlapped = false;
  {
    std::vector<std::jthread> workers;
    workers.reserve(4);
    for (int w = 0; w < 4; ++w) {
      workers.emplace_back([&](const std::stop_token& stop) {
        while (const auto key = queue.pop(kBound, stop)) {
          const auto k = static_cast<std::size_t>(*key);
          if (held[k].exchange(true)) overlapped = true;
          seen[k] = wanted[k].load();
          held[k] = false;
          queue.done(*key);
        }
      });
    }
    for (int round = 1; round <= kRounds; ++round) {
      const int key = round % kKeys;
      wanted[static_cast<std::size_t>(key)] = round;
      if (round % 3 == 0) {
        queue.add_after(key, 10us);
      } else {
        queue.add(key);
      }
    }
    const auto until = std::chrono::steady_clock::now() + kBound;
    while (!queue.is_empty() && std::chrono::steady_clock::now() < until) {
      std::this_thread::yield();
    }
  }
  EXPECT_FALSE(overlapped);
  for (std::size_t k = 0; k < kKeys; ++k) EXPECT_EQ(seen[k], wanted[k]) << "key " << k;
}

TEST(WorkQueueThreads, AWaitingWorkerLeavesWhenItIsStopped) {
  const base::SystemClock clock;
  WorkQueue<int> queue(clock);
  std::jthread worker([&](const std::stop_token& stop) {
    EXPECT_EQ(queue.pop(std::chrono::hours(1), stop), std::nullopt);
  });
  worker.request_stop();
}

TEST(WorkQueueThreads, AnEarlierDelayWakesAWorkerThatSleepsUntilALaterOne) {
  const base::SystemClock clock;
  WorkQueue<int> queue(clock);
  queue.add_after(1, std::chrono::hours(1));
  std::optional<int> got;
  {
    std::jthread worker([&](const std::stop_token& stop) { got = queue.pop(kBound, stop); });
    queue.add_after(2, 1ms);
    worker.join();
  }
  EXPECT_EQ(got, 2);
}

TEST(StoreThreads, ReadersSeeWholeListsWhileOneWriterWrites) {
  Store<api::ConfigMap> store(
      {{"value", [](const api::ConfigMap& c) { return std::vector{c.data.at("value")}; }}});
  const auto list = [](const std::string& value) {
    std::vector<std::shared_ptr<const api::ConfigMap>> out;
    for (int i = 0; i < 3; ++i) {
      api::ConfigMap map;
      map.meta.name = std::to_string(i);
      map.data["value"] = value;
      out.push_back(std::make_shared<const api::ConfigMap>(std::move(map)));
    }
    return out;
  };
  store.replace(list("0"), "1");
  std::atomic<bool> torn = false;
  {
    std::vector<std::jthread> readers;
    readers.reserve(3);
    for (int r = 0; r < 3; ++r) {
      readers.emplace_back([&](const std::stop_token& stop) {
        while (!stop.stop_requested()) {
          const auto all = store.all();
          for (const auto& object : all) torn = torn || object->data != all.front()->data;
          const auto some = store.by_index("value", all.front()->data.at("value"));
          torn = torn || (some.size() != 3 && !some.empty());
        }
      });
    }
    for (int i = 1; i <= 500; ++i) store.replace(list(std::to_string(i)), std::to_string(i));
  }
  EXPECT_FALSE(torn);
}

TEST(InformerThreads, StopEndsAWatchThatWaits) {
  FakeServer server;
  server.put("a", "1");
  const base::SystemClock clock;
  const Client client(server, clock, "test");
  Informer<api::ConfigMap> informer(client, clock, {});
  std::jthread thread([&](const std::stop_token& stop) { informer.run(stop); });
  const auto until = std::chrono::steady_clock::now() + kBound;
  while (server.targets("watch=true").empty() && std::chrono::steady_clock::now() < until) {
    std::this_thread::yield();
  }
  EXPECT_TRUE(informer.store().has_synced());
  thread.request_stop();
  thread.join();
  EXPECT_EQ(informer.step(0s), WatchLoop::Step::Stopped);
}

TEST(EventThreads, AnEventOfAnotherNamespaceWakesOneThatSleepsUntilItMayTryAgain) {
  FakeServer server;
  const base::SystemClock clock;
  const Client client(server, clock, "test");
  EventRecorder recorder(client, clock, {.component = "test", .instance = "test"});
  const auto record_in = [&](const std::string& ns) {
    recorder.record({"v1", "Pod", ns, "p", "uid"}, "Normal", "Waiting", "hello");
  };
  const auto start = std::chrono::steady_clock::now();
  const auto is_tried = [&](const std::string& ns) {
    while (server.targets(ns + "/events").empty()) {
      if (std::chrono::steady_clock::now() > start + kBound) return false;
      std::this_thread::yield();
    }
    return true;
  };
  server.script_status(429, "TooManyRequests", {{"Retry-After", "3600"}});
  record_in("bad");
  const std::jthread thread([&](const std::stop_token& stop) { recorder.run(stop); });
  ASSERT_TRUE(is_tried("bad"));
  record_in("good");
  EXPECT_TRUE(is_tried("good"));
  // Without that it would have slept on.
  EXPECT_LT(std::chrono::steady_clock::now(), start + 15s);
}

}  // namespace
}  // namespace cdom::kube
