// Rules of the simulated cluster that are functions of JSON.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "sandbox/cluster/control_plane/workload.h"
#include "sandbox/cluster/objects.h"
#include "sandbox/cluster/scheduler/index_ranges.h"
#include "sandbox/cluster/scheduler/node_selector.h"
#include "sandbox/cluster/scheduler/toleration.h"
#include "sandbox/cluster/sync_next.h"

namespace cdom::sandbox {
namespace {

using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;

json pod_with_command(const std::string& command) {
  return {{"spec", {{"containers", json::array({{{"command", {"sh", "-c", command}}}})}}}};
}

TEST(Workload, SleepsAsItsCommandSays) {
  EXPECT_EQ(workload_of(pod_with_command("nvidia-smi; sleep 30")).lasts, seconds(30));
  EXPECT_EQ(workload_of(pod_with_command("sleep 0.5")).lasts, milliseconds(500));
  EXPECT_EQ(workload_of(pod_with_command("sleep 5m; echo done")).lasts, minutes(5));
}

TEST(Workload, LastsForEverWithoutAnEnd) {
  EXPECT_EQ(workload_of(pod_with_command("sleep infinity")).lasts, std::nullopt);
  EXPECT_EQ(workload_of({{"spec", {{"containers", json::array({json::object()})}}}}).lasts,
            std::nullopt);
}

TEST(Workload, AnyOtherCommandLastsTenSeconds) {
  EXPECT_EQ(workload_of(pod_with_command("ls -l /dev/asleep")).lasts, seconds(10));
}

TEST(Workload, AnnotationsComeBeforeTheCommand) {
  json pod = pod_with_command("sleep 30");
  pod["metadata"]["annotations"] = {{kRunForAnnotation, "1m30s"}, {kExitCodeAnnotation, "3"}};
  EXPECT_EQ(workload_of(pod).lasts, seconds(90));
  EXPECT_EQ(workload_of(pod).exit_code, 3);
}

TEST(IndexRanges, ReadsWhatItWrites) {
  EXPECT_EQ(to_ranges({0, 1, 2, 5, 7, 8}), "0-2,5,7-8");
  EXPECT_EQ(parse_ranges("0-2,5,7-8"), (std::set<std::int64_t>{0, 1, 2, 5, 7, 8}));
  EXPECT_EQ(parse_ranges(""), std::set<std::int64_t>());
}

TEST(Toleration, AnEmptyKeyWithExistsToleratesEverything) {
  const json taint{{"key", "k"}, {"value", "v"}, {"effect", "NoExecute"}};
  EXPECT_TRUE(tolerates({{"operator", "Exists"}}, taint));
  EXPECT_TRUE(tolerates({{"key", "k"}, {"value", "v"}}, taint));
  EXPECT_FALSE(tolerates({{"key", "k"}, {"value", "w"}}, taint));
  EXPECT_FALSE(tolerates({{"key", "k"}, {"operator", "Exists"}, {"effect", "NoSchedule"}}, taint));
}

TEST(Toleration, TheShortestTimeCounts) {
  const json taint{{"key", "k"}, {"effect", "NoExecute"}};
  const json exists{{"key", "k"}, {"operator", "Exists"}};
  json ten = exists;
  ten["tolerationSeconds"] = 10;
  EXPECT_EQ(tolerated_seconds(taint, json::array({exists})), std::nullopt);
  EXPECT_EQ(tolerated_seconds(taint, json::array({exists, ten})), 10);
  EXPECT_EQ(tolerated_seconds(taint, json::array()), 0);
}

TEST(NodeSelector, MatchesByNameAndByLabel) {
  const json node{{"metadata", {{"name", "n1"}, {"labels", {{"rack", "r1"}}}}}};
  EXPECT_TRUE(matches_node_selector(selector_of_node("n1"), node));
  EXPECT_FALSE(matches_node_selector(selector_of_node("n2"), node));
  EXPECT_TRUE(matches_node_selector(json(), node));
  const json rack{{"key", "rack"}, {"operator", "In"}, {"values", json::array({"r1", "r2"})}};
  const json term{{"matchExpressions", json::array({rack})}};
  EXPECT_TRUE(matches_node_selector({{"nodeSelectorTerms", json::array({term})}}, node));
  EXPECT_FALSE(matches_node_selector({{"nodeSelectorTerms", json::array()}}, node));
}

TEST(Objects, FindWhatIsAtAPathThroughObjectsAndLists) {
  const json pod{{"spec", {{"containers", json::array({{{"name", "a"}}, {{"name", "b"}}})}}}};
  EXPECT_EQ(text_at(pod, "/spec/containers/1/name"), "b");
  for (const char* absent : {"/spec/containers/2/name", "/spec/containers/x", "/spec/containers/-1",
                             "/spec/containers/0/name/more", "/status", "/"}) {
    EXPECT_TRUE(at(pod, absent).is_null()) << absent;
  }
  EXPECT_EQ(at(pod, ""), pod);
}

TEST(SyncNext, LooksAgainWhenTheSyncSaysSoOrHasFailed) {
  base::ManualClock clock;
  kube::WorkQueue<std::string> queue(clock);
  Synced answer;
  const auto step = [&] { return sync_next(queue, [&](const std::string&) { return answer; }); };
  EXPECT_FALSE(step()) << "nothing is due";
  queue.add("a");
  answer = {.again_after = seconds(7)};
  EXPECT_TRUE(step());
  EXPECT_EQ(queue.next_due(), clock.elapsed() + seconds(7));
  answer = {.is_done = false};
  queue.add("a");
  EXPECT_TRUE(step());
  EXPECT_EQ(queue.next_due(), clock.elapsed() + milliseconds(5)) << "the queue's first backoff";
  answer = {};
  clock.advance(milliseconds(5));
  EXPECT_TRUE(step());
  EXPECT_TRUE(queue.is_empty()) << "what is done is not looked at again";
}

}  // namespace
}  // namespace cdom::sandbox
