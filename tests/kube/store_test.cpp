#include "compute_domain/kube/store.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <random>
#include <stdexcept>

#include "compute_domain/api/core.h"

namespace cdom::kube {
namespace {

using api::ObjectName;
using api::Pod;
using testing::ElementsAre;

Pod pod(const std::string& name, const std::string& node) {
  Pod out;
  out.meta.ns = "ns";
  out.meta.name = name;
  out.node = node;
  return out;
}

Store<Pod> pods_by_node() {
  return Store<Pod>({{"node", [](const Pod& p) { return std::vector<std::string>{p.node}; }}});
}

std::vector<std::string> names(const std::vector<Store<Pod>::Snapshot>& pods) {
  std::vector<std::string> out;
  out.reserve(pods.size());
  for (const auto& p : pods) out.push_back(p->meta.name);
  return out;
}

TEST(Store, KeepsTheLastStateOfAnObject) {
  Store<Pod> store;
  store.put(pod("a", "n1"));
  const Change<Pod> change = store.put(pod("a", "n2"));
  EXPECT_EQ(change.before->node, "n1");
  EXPECT_EQ(change.after->node, "n2");
  EXPECT_EQ(store.get({"ns", "a"})->node, "n2");
  EXPECT_EQ(store.size(), 1U);
}

TEST(Store, ASnapshotOutlivesItsObject) {
  Store<Pod> store;
  store.put(pod("a", "n1"));
  const auto snapshot = store.get({"ns", "a"});
  store.remove({"ns", "a"});
  EXPECT_EQ(store.get({"ns", "a"}), nullptr);
  EXPECT_EQ(snapshot->node, "n1");
}

TEST(Store, AnIndexFollowsItsObjects) {
  auto store = pods_by_node();
  store.put(pod("b", "n1"));
  store.put(pod("a", "n1"));
  EXPECT_THAT(names(store.by_index("node", "n1")), ElementsAre("a", "b"));
  store.put(pod("a", "n2"));
  EXPECT_THAT(names(store.by_index("node", "n1")), ElementsAre("b"));
  EXPECT_THAT(names(store.by_index("node", "n2")), ElementsAre("a"));
  store.remove({"ns", "b"});
  EXPECT_TRUE(store.by_index("node", "n1").empty());
}

// The halves of their fnv1a64, exclusive-ored, are the same.
constexpr char kOneNode[] = "n15748", kNodeOfTheSameHash[] = "n33700";

TEST(Store, TellsValuesOfTheSameHashApart) {
  auto store = pods_by_node();
  store.put(pod("a", kOneNode));
  store.put(pod("b", kNodeOfTheSameHash));
  EXPECT_THAT(names(store.by_index("node", kOneNode)), ElementsAre("a"));
  EXPECT_THAT(names(store.by_index("node", kNodeOfTheSameHash)), ElementsAre("b"));
  store.put(pod("a", kNodeOfTheSameHash));
  EXPECT_THAT(names(store.by_index("node", kNodeOfTheSameHash)), ElementsAre("a", "b"));
  EXPECT_TRUE(store.by_index("node", kOneNode).empty());
}

TEST(Store, FindsAnObjectWithTwoValuesOfTheSameHashByBoth) {
  Store<Pod> store({{"node", [](const Pod& p) {
                       return p.node.empty()
                                  ? std::vector<std::string>{}
                                  : std::vector<std::string>{kOneNode, kNodeOfTheSameHash};
                     }}});
  store.put(pod("a", "both"));
  EXPECT_THAT(names(store.by_index("node", kOneNode)), ElementsAre("a"));
  EXPECT_THAT(names(store.by_index("node", kNodeOfTheSameHash)), ElementsAre("a"));
  store.put(pod("a", ""));
  EXPECT_TRUE(store.by_index("node", kOneNode).empty());
  EXPECT_TRUE(store.by_index("node", kNodeOfTheSameHash).empty());
}

// What a store with an index shows, said in the plainest way.
class PlainPods {
 public:
  void put(const Pod& pod) { pods_.insert_or_assign(pod.meta.name, pod); }
  void remove(const std::string& name) { pods_.erase(name); }
  [[nodiscard]] std::vector<std::string> on(const std::string& node) const {
    std::vector<std::string> out;
    for (const auto& [name, pod] : pods_) {
      if (pod.node == node) out.push_back(name);
    }
    return out;
  }

 private:
  std::map<std::string, Pod> pods_;
};

TEST(Store, ShowsAfterAnyChangesWhatIsThereAndNothingElse) {
  for (unsigned seed = 0; seed < 10; ++seed) {
    SCOPED_TRACE(seed);
    std::mt19937 random(seed);
    auto store = pods_by_node();
    PlainPods plain;
    for (int step = 0; step < 4000; ++step) {
      const std::string name = "p" + std::to_string(random() % 700);
      if (random() % 3 == 0) {
        store.remove({"ns", name});
        plain.remove(name);
      } else {
        const Pod object = pod(name, "n" + std::to_string(random() % 5));
        store.put(object);
        plain.put(object);
      }
    }
    for (const std::string node : {"n0", "n1", "n2", "n3", "n4", "n5"}) {
      EXPECT_EQ(names(store.by_index("node", node)), plain.on(node));
    }
  }
}

TEST(Store, KeepsObjectsOfOneNameInTheOrderOfTheirNamespaces) {
  auto store = pods_by_node();
  for (const std::string ns : {"b", "c", "a"}) {
    Pod object = pod(ns + "-pod", "n1");
    object.meta.ns = ns;
    store.put(object);
  }
  EXPECT_THAT(names(store.all()), ElementsAre("a-pod", "b-pod", "c-pod"));
  EXPECT_THAT(names(store.by_index("node", "n1")), ElementsAre("a-pod", "b-pod", "c-pod"));
}

TEST(Store, RefusesAnIndexThatDoesNotExist) {
  const auto store = pods_by_node();
  EXPECT_THROW((void)store.by_index("claim", "x"), std::out_of_range);
}

TEST(Store, AListTellsWhatCameChangedAndWent) {
  auto store = pods_by_node();
  store.replace({pod("gone", "n1"), pod("same", "n1"), pod("moved", "n1")}, "10");
  const auto changes =
      store.replace({pod("same", "n1"), pod("moved", "n2"), pod("new", "n3")}, "20");
  std::vector<std::string> told;
  told.reserve(changes.size());
  for (const auto& [before, after] : changes) {
    told.push_back((before ? before->meta.name + "@" + before->node : "-") + " " +
                   (after ? after->meta.name + "@" + after->node : "-"));
  }
  EXPECT_THAT(told, ElementsAre("moved@n1 moved@n2", "- new@n3", "gone@n1 -"));
  EXPECT_THAT(names(store.by_index("node", "n1")), ElementsAre("same"));
}

TEST(Store, HasSyncedOnceItWasListed) {
  Store<Pod> store;
  EXPECT_FALSE(store.has_synced());
  EXPECT_EQ(store.seen_version(), 0U);
  store.replace({}, "41");
  EXPECT_TRUE(store.has_synced());
  store.see_version("42");
  EXPECT_EQ(store.seen_version(), 42U);
}

TEST(Store, AVersionThatIsNoNumberCountsAsZero) {
  EXPECT_EQ(version_number("18446744073709551615"), 18446744073709551615U);
  EXPECT_EQ(version_number(""), 0U);
  EXPECT_EQ(version_number("12a"), 0U);
}

}  // namespace
}  // namespace cdom::kube
