// A real kubelet is watched in tests/rack/surroundings_test.sh.
#include "compute_domain/dra/pod_watch.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <condition_variable>
#include <mutex>
#include <string>
#include <vector>

#include "base/directory.h"
#include "compute_domain/base/text.h"
#include "dra/pods_server.h"

namespace cdom::dra {
namespace {

using testing::ElementsAre;

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

  std::vector<std::string> first(std::size_t count) {
    std::unique_lock lock(mutex_);
    more_.wait_for(lock, kPatience, [&] { return lines_.size() >= count; });
    std::vector<std::string> lines = lines_;
    lines.resize(std::min(count, lines.size()));
    return lines;
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
