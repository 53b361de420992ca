// A real kubelet is watched in tests/rack/surroundings_test.sh.
#include "compute_domain/dra/pod_watch.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "base/directory.h"
#include "compute_domain/base/text.h"
#include "dra/pods_server.h"

namespace cdom::dra {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::SizeIs;

constexpr std::chrono::seconds kPatience{20};

class Heard final : public PodListener {
 public:
  void on_begin() override { add("begin"); }
  void on_pod(const NodePod& pod) override {
    const std::vector<std::string> claims(pod.claims.begin(), pod.claims.end());
    add(base::cat(pod.ns, "/", pod.name, " ", pod.uid, " ", pod.grace_seconds, " s",
                  claims.empty() ? "" : " ", base::join(claims, ","),
                  pod.has_ended ? " has ended" : "", pod.is_rejected ? " is rejected" : ""));
  }
  void on_gone(const std::string& uid) override { add(base::cat(uid, " is gone")); }
  void on_complete() override { add("complete"); }
  void on_end() override { add("end"); }
  void on_none() override { add("none"); }

  std::vector<std::string> first(std::size_t count) {
    std::unique_lock lock(mutex_);
    more_.wait_for(lock, kPatience, [&] { return lines_.size() >= count; });
    std::vector<std::string> lines = lines_;
    lines.resize(std::min(count, lines.size()));
    return lines;
  }
  std::vector<std::string> all() {
    const std::lock_guard lock(mutex_);
    return lines_;
  }

 private:
  void add(std::string line) {
    const std::lock_guard lock(mutex_);
    lines_.push_back(std::move(line));
    more_.notify_all();
  }
  std::mutex mutex_;
  std::condition_variable more_;
  std::vector<std::string> lines_;
};

class PodWatchTest : public testing::Test {
 protected:
  static void wait_until(const std::function<bool()>& is_so) {
    const auto end = std::chrono::steady_clock::now() + kPatience;
    while (!is_so() && std::chrono::steady_clock::now() < end) {
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    EXPECT_TRUE(is_so());
  }

  const base::Directory folder_;
  const std::string socket_ = folder_.at("pods-api.sock");
  Heard heard_;
};

TEST_F(PodWatchTest, HandsOnWhatKubeletSays) {
  PodsServer kubelet(socket_);
  kubelet.says(PodEvent::Added, bytes_of({.uid = "a", .claims = {"shared", ""}}));
  kubelet.says(PodEvent::InitialSyncComplete);
  kubelet.says(PodEvent::Modified, bytes_of({.uid = "b"}));
  kubelet.says(PodEvent::Deleted, bytes_of({.uid = "a"}));
  const PodWatch watch(socket_, heard_);
  EXPECT_THAT(heard_.first(5), ElementsAre("begin", "team-a/train-0 a 30 s shared", "complete",
                                           "team-a/train-0 b 30 s", "a is gone"));
}

TEST_F(PodWatchTest, SaysWhereThereIsNone) {
  const PodWatch watch(folder_.at("no-folder/pods-api.sock"), heard_);
  EXPECT_THAT(heard_.first(1), ElementsAre("none"));
}

TEST_F(PodWatchTest, APodHasEndedWhenItsPhaseIsFinalAndNoContainerOfItRuns) {
  PodsServer kubelet(socket_);
  for (const char* phase : {"Failed", "Succeeded", "Pending"}) {
    for (const bool container : {true, false}) {
      for (const bool sidecar : {true, false}) {
        kubelet.says(PodEvent::Modified, bytes_of({.uid = base::cat(phase, container, sidecar),
                                                   .phase = phase,
                                                   .container_runs = container,
                                                   .sidecar_runs = sidecar}));
      }
    }
  }
  const PodWatch watch(socket_, heard_);
  std::vector<std::string> ended = heard_.first(13);
  EXPECT_EQ(ended.size(), 13U);
  std::erase_if(ended, [](const std::string& line) { return !line.ends_with("has ended"); });
  EXPECT_THAT(ended, ElementsAre("team-a/train-0 Failedfalsefalse 30 s has ended",
                                 "team-a/train-0 Succeededfalsefalse 30 s has ended"));
}

// Of the claims of another driver, which kubelet cannot unprepare, a pod's final phase waits.
TEST_F(PodWatchTest, APodThatIsDeletedHasEndedWithItsContainers) {
  PodsServer kubelet(socket_);
  kubelet.says(PodEvent::Modified, bytes_of({.uid = "runs", .is_deleted = true}));
  kubelet.says(PodEvent::Modified,
               bytes_of({.uid = "ended", .container_runs = false, .is_deleted = true}));
  kubelet.says(PodEvent::Modified, bytes_of({.uid = "waits", .container_runs = false}));
  const PodWatch watch(socket_, heard_);
  EXPECT_THAT(heard_.first(4),
              ElementsAre("begin", "team-a/train-0 runs 30 s",
                          "team-a/train-0 ended 30 s has ended", "team-a/train-0 waits 30 s"));
}

// As of one that a kubelet which has started again rejects: its containers may still run.
TEST_F(PodWatchTest, APodOfWhoseContainersNothingIsSaidIsRejectedAndHasNotEnded) {
  PodsServer kubelet(socket_);
  kubelet.says(
      PodEvent::Modified,
      bytes_of({.uid = "a", .phase = "Failed", .container_runs = false, .has_containers = false}));
  kubelet.says(
      PodEvent::Modified,
      bytes_of({.uid = "b", .phase = "Pending", .container_runs = false, .has_containers = false}));
  const PodWatch watch(socket_, heard_);
  EXPECT_THAT(heard_.first(3),
              ElementsAre("begin", "team-a/train-0 a 30 s is rejected", "team-a/train-0 b 30 s"));
}

// A tenant may name any claim of the namespace in a pod that never gets it.
TEST_F(PodWatchTest, APodHasNoClaimWhileNoContainerOfItRuns) {
  PodsServer kubelet(socket_);
  kubelet.says(
      PodEvent::Modified,
      bytes_of({.uid = "a", .claims = {"shared"}, .phase = "Pending", .container_runs = false}));
  const PodWatch watch(socket_, heard_);
  EXPECT_THAT(heard_.first(2), ElementsAre("begin", "team-a/train-0 a 30 s"));
}

TEST_F(PodWatchTest, BeginsAgainWhenKubeletCutsItOff) {
  PodsServer kubelet(socket_, true);
  kubelet.says(PodEvent::InitialSyncComplete);
  const PodWatch watch(socket_, heard_);
  EXPECT_THAT(heard_.first(4), ElementsAre("begin", "complete", "end", "begin"));
}

// Kubelet drops events when it has a thousand of them: "a" and "b" have ended, and it has not said
// so.
TEST_F(PodWatchTest, RenewedTellsOfWhatKubeletHasNotReported) {
  PodsServer kubelet(socket_);
  kubelet.says(PodEvent::Added, bytes_of({.uid = "a"}));
  kubelet.says(PodEvent::Added, bytes_of({.uid = "b"}));
  kubelet.says(PodEvent::InitialSyncComplete);
  kubelet.says_later(PodEvent::Added,
                     bytes_of({.uid = "a", .phase = "Succeeded", .container_runs = false}));
  kubelet.says_later(PodEvent::InitialSyncComplete);
  kubelet.says_later(PodEvent::Added, bytes_of({.uid = "c"}));
  PodWatch watch(socket_, heard_);
  EXPECT_THAT(heard_.first(4),
              ElementsAre("begin", "team-a/train-0 a 30 s", "team-a/train-0 b 30 s", "complete"));
  watch.renew();
  EXPECT_THAT(heard_.first(6), Contains("team-a/train-0 a 30 s has ended"));
  EXPECT_THAT(heard_.first(6), Contains("team-a/train-0 c 30 s")) << "the new watch goes on";
  wait_until([&] { return kubelet.open() == 1; });
  EXPECT_EQ(kubelet.begun(), 2);
  EXPECT_THAT(heard_.all(), SizeIs(6))
      << "it neither ends nor begins, and of pods that it does not name it says nothing";
}

// Its last events come while the new watch is there already.
TEST_F(PodWatchTest, RenewedStillTellsOfEndsThatTheWatchBeforeReports) {
  PodsServer kubelet(socket_);
  kubelet.says(PodEvent::Added, bytes_of({.uid = "a"}));
  kubelet.says(PodEvent::InitialSyncComplete);
  kubelet.says_later(PodEvent::InitialSyncComplete);
  kubelet.says_later(PodEvent::Added, bytes_of({.uid = "b"}));
  PodWatch watch(socket_, heard_);
  heard_.first(3);
  watch.renew();
  EXPECT_THAT(heard_.first(4), Contains("team-a/train-0 b 30 s"));
  kubelet.says(PodEvent::Modified, bytes_of({.uid = "old"}));
  kubelet.says(PodEvent::Deleted, bytes_of({.uid = "a"}));
  EXPECT_THAT(heard_.first(5), Contains("a is gone"));
  wait_until([&] { return kubelet.open() == 1; });
  EXPECT_THAT(heard_.all(), SizeIs(5)) << "what it says of pods that run may be old";
}

TEST_F(PodWatchTest, GoesOnWhereItCannotBeRenewed) {
  PodsServer kubelet(socket_);
  kubelet.says(PodEvent::Added, bytes_of({.uid = "a"}));
  kubelet.says(PodEvent::InitialSyncComplete);
  kubelet.says_later(PodEvent::Added,
                     bytes_of({.uid = "a", .phase = "Succeeded", .container_runs = false}));
  kubelet.cuts_off_later();
  PodWatch watch(socket_, heard_);
  heard_.first(3);
  for (int times = 1; times <= 2; ++times) {
    watch.renew();
    wait_until([&] { return kubelet.begun() == 1 + times && kubelet.open() == 1; });
  }
  kubelet.says(PodEvent::Deleted, bytes_of({.uid = "a"}));
  EXPECT_THAT(heard_.first(4),
              ElementsAre("begin", "team-a/train-0 a 30 s", "complete", "a is gone"));
}

TEST_F(PodWatchTest, EndsAlsoWhileItIsRenewed) {
  PodsServer kubelet(socket_);
  kubelet.says(PodEvent::InitialSyncComplete);
  kubelet.says_later(PodEvent::Added, bytes_of({.uid = "a"}));
  {
    PodWatch watch(socket_, heard_);
    heard_.first(2);
    watch.renew();
    wait_until([&] { return kubelet.begun() == 2; });
  }
  wait_until([&] { return kubelet.open() == 0; });
  EXPECT_THAT(heard_.all(), ElementsAre("begin", "complete"));
}

TEST_F(PodWatchTest, PassesOverWhatIsNoPod) {
  PodsServer kubelet(socket_);
  kubelet.says(PodEvent::Added, "\xff\xff\xff");
  kubelet.says(PodEvent::Added);
  kubelet.says(PodEvent::Unspecified);
  kubelet.says(PodEvent::Added, bytes_of({.uid = "a"}));
  const PodWatch watch(socket_, heard_);
  EXPECT_THAT(heard_.first(2), ElementsAre("begin", "team-a/train-0 a 30 s"));
}

TEST_F(PodWatchTest, EndsAlsoWhereThereIsNoSuchSocketOrItSaysNothing) {
  { const PodWatch watch(socket_, heard_); }
  const PodsServer kubelet(socket_);
  const PodWatch watch(socket_, heard_);
  EXPECT_THAT(heard_.first(1), ElementsAre("begin"));
}

}  // namespace
}  // namespace cdom::dra
