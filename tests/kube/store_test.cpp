#include "compute_domain/kube/store.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <random>
#include <set>
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

// In both forms they are the same.
template <class StoreType>
class AnyStore : public testing::Test {};
using StoreTypes = testing::Types<Store<Pod>, Store<Pod, Packed>>;
TYPED_TEST_SUITE(AnyStore, StoreTypes);

Store<Pod>::Indexes by_node() {
  return {{"node", [](const Pod& p) { return std::vector<std::string>{p.node}; }}};
}

template <class StoreType>
std::vector<typename StoreType::Kept> kept(const std::vector<Pod>& pods) {
  std::vector<typename StoreType::Kept> out;
  out.reserve(pods.size());
  for (const Pod& pod : pods) out.push_back(StoreType::kept(pod));
  return out;
}

template <class StoreType>
std::vector<Change<Pod>> opened(const StoreType& /*of*/,
                                const typename StoreType::Changes& changes) {
  std::vector<Change<Pod>> out;
  changes.for_each([&](const Change<Pod>& change) { out.push_back(change); });
  EXPECT_EQ(out.size(), changes.size());
  return out;
}

std::vector<std::string> names(const std::vector<Store<Pod>::Snapshot>& pods) {
  std::vector<std::string> out;
  out.reserve(pods.size());
  for (const auto& p : pods) out.push_back(p->meta.name);
  return out;
}

TYPED_TEST(AnyStore, KeepsTheLastStateOfAnObject) {
  TypeParam store;
  store.put(pod("a", "n1"));
  const Change<Pod> change = store.put(pod("a", "n2"));
  EXPECT_EQ(change.before->node, "n1");
  EXPECT_EQ(change.after->node, "n2");
  EXPECT_EQ(store.get({"ns", "a"})->node, "n2");
  EXPECT_EQ(store.size(), 1U);
}

TYPED_TEST(AnyStore, CountsItsChanges) {
  TypeParam store;
  std::set<std::uint64_t> counts{store.changes()};
  const auto is_news = [&] { return counts.insert(store.changes()).second; };
  store.put(pod("a", "n1"));
  EXPECT_TRUE(is_news());
  store.put(pod("a", "n2"));
  EXPECT_TRUE(is_news());
  EXPECT_NE(store.get({"ns", "a"}), nullptr);
  store.remove({"ns", "b"});
  EXPECT_FALSE(is_news());
  store.remove({"ns", "a"});
  EXPECT_TRUE(is_news());
  store.replace(kept<TypeParam>({pod("a", "n1")}), "7");
  EXPECT_TRUE(is_news());
  store.replace({}, "8");
  EXPECT_TRUE(is_news());
}

// A packed store sees that without opening the object.
TYPED_TEST(AnyStore, CountsNoVersionAloneWhereItsFormKnows) {
  TypeParam store;
  Pod object = pod("a", "n1");
  object.meta.resource_version = "7";
  store.put(object);
  const std::uint64_t before = store.changes();
  object.meta.resource_version = "8";
  store.put(object);
  const bool knows = std::is_same_v<TypeParam, Store<Pod, Packed>>;
  EXPECT_EQ(store.changes(), knows ? before : before + 1);
}

TYPED_TEST(AnyStore, TellsWhetherAnIndexHasAny) {
  TypeParam store(by_node());
  EXPECT_FALSE(store.has("node", "n1"));
  store.put(pod("a", "n1"));
  store.put(pod("b", "n1"));
  EXPECT_TRUE(store.has("node", "n1"));
  EXPECT_FALSE(store.has("node", "n2"));
  store.remove({"ns", "a"});
  EXPECT_TRUE(store.has("node", "n1"));
  store.remove({"ns", "b"});
  EXPECT_FALSE(store.has("node", "n1"));
  EXPECT_THROW((void)store.has("none", "n1"), std::out_of_range);
}

TYPED_TEST(AnyStore, ASnapshotOutlivesItsObject) {
  TypeParam store;
  store.put(pod("a", "n1"));
  const auto snapshot = store.get({"ns", "a"});
  store.remove({"ns", "a"});
  EXPECT_EQ(store.get({"ns", "a"}), nullptr);
  EXPECT_EQ(snapshot->node, "n1");
}

TYPED_TEST(AnyStore, AnIndexFollowsItsObjects) {
  TypeParam store(by_node());
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

TYPED_TEST(AnyStore, TellsValuesOfTheSameHashApart) {
  TypeParam store(by_node());
  store.put(pod("a", kOneNode));
  store.put(pod("b", kNodeOfTheSameHash));
  EXPECT_THAT(names(store.by_index("node", kOneNode)), ElementsAre("a"));
  EXPECT_THAT(names(store.by_index("node", kNodeOfTheSameHash)), ElementsAre("b"));
  store.put(pod("a", kNodeOfTheSameHash));
  EXPECT_THAT(names(store.by_index("node", kNodeOfTheSameHash)), ElementsAre("a", "b"));
  EXPECT_TRUE(store.by_index("node", kOneNode).empty());
}

TYPED_TEST(AnyStore, FindsAnObjectWithTwoValuesOfTheSameHashByBoth) {
  TypeParam store({{"node", [](const Pod& p) {
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

TYPED_TEST(AnyStore, ShowsAfterAnyChangesWhatIsThereAndNothingElse) {
  for (unsigned seed = 0; seed < 10; ++seed) {
    SCOPED_TRACE(seed);
    std::mt19937 random(seed);
    TypeParam store(by_node());
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

TYPED_TEST(AnyStore, KeepsObjectsOfOneNameInTheOrderOfTheirNamespaces) {
  TypeParam store(by_node());
  for (const std::string ns : {"b", "c", "a"}) {
    Pod object = pod(ns + "-pod", "n1");
    object.meta.ns = ns;
    store.put(object);
  }
  EXPECT_THAT(names(store.all()), ElementsAre("a-pod", "b-pod", "c-pod"));
  EXPECT_THAT(names(store.by_index("node", "n1")), ElementsAre("a-pod", "b-pod", "c-pod"));
}

TYPED_TEST(AnyStore, RefusesAnIndexThatDoesNotExist) {
  const TypeParam store(by_node());
  EXPECT_THROW((void)store.by_index("claim", "x"), std::out_of_range);
}

TYPED_TEST(AnyStore, AListTellsWhatCameChangedAndWent) {
  TypeParam store(by_node());
  store.replace(kept<TypeParam>({pod("gone", "n1"), pod("same", "n1"), pod("moved", "n1")}), "10");
  const auto changes = opened(
      store, store.replace(
                 kept<TypeParam>({pod("same", "n1"), pod("moved", "n2"), pod("new", "n3")}), "20"));
  std::vector<std::string> told;
  told.reserve(changes.size());
  for (const auto& [before, after] : changes) {
    told.push_back((before ? before->meta.name + "@" + before->node : "-") + " " +
                   (after ? after->meta.name + "@" + after->node : "-"));
  }
  EXPECT_THAT(told, ElementsAre("moved@n1 moved@n2", "- new@n3", "gone@n1 -"));
  EXPECT_THAT(names(store.by_index("node", "n1")), ElementsAre("same"));
}

TYPED_TEST(AnyStore, AListTellsOfAnObjectOfWhichOnlyTheVersionHasChanged) {
  TypeParam store(by_node());
  Pod object = pod("a", "n1");
  object.meta.resource_version = "5";
  store.replace(kept<TypeParam>({object}), "10");
  EXPECT_THAT(opened(store, store.replace(kept<TypeParam>({object}), "11")), testing::IsEmpty());
  object.meta.resource_version = "12";
  const auto changes = opened(store, store.replace(kept<TypeParam>({object}), "12"));
  ASSERT_EQ(changes.size(), 1U);
  const auto [before, after] = changes.front();
  EXPECT_NE(before, nullptr);
  EXPECT_EQ(*after, object);
  EXPECT_EQ(*store.get({"ns", "a"}), object);
}

TYPED_TEST(AnyStore, KeepsWhatAListCannotSay) {
  TypeParam store(by_node());
  store.replace(kept<TypeParam>({pod("a", "n1"), pod("b", "n1"), pod("c", "n1")}), "10");
  const auto changes =
      opened(store, store.replace(kept<TypeParam>({pod("c", "n1")}), "20", {{"ns", "b"}}));
  ASSERT_EQ(changes.size(), 1U);
  EXPECT_EQ(changes.front().before->meta.name, "a");
  EXPECT_THAT(names(store.by_index("node", "n1")), ElementsAre("b", "c"));
}

TYPED_TEST(AnyStore, AFirstListThatNamesAnObjectTwiceBringsItsLastState) {
  TypeParam store(by_node());
  const auto changes = opened(
      store,
      store.replace(kept<TypeParam>({pod("b", "n1"), pod("a", "n1"), pod("b", "n2")}), "10"));
  ASSERT_EQ(changes.size(), 3U);
  EXPECT_EQ(changes.back().before->node, "n1");
  EXPECT_EQ(changes.back().after->node, "n2");
  store.put(pod("c", "n1"));
  EXPECT_THAT(names(store.all()), ElementsAre("a", "b", "c"));
  EXPECT_THAT(names(store.by_index("node", "n1")), ElementsAre("a", "c"));
  EXPECT_THAT(names(store.by_index("node", "n2")), ElementsAre("b"));
}

TYPED_TEST(AnyStore, ShowsWhatAListBroughtAlsoWhenItHasChangedSince) {
  TypeParam store(by_node());
  const auto changes = store.replace(kept<TypeParam>({pod("a", "n1"), pod("b", "n1")}), "10");
  store.put(pod("a", "n2"));
  store.remove({"ns", "b"});
  std::vector<std::string> shown;
  changes.for_each([&](const Change<Pod>& change) {
    shown.push_back(change.after->meta.name + "@" + change.after->node);
  });
  EXPECT_THAT(shown, ElementsAre("a@n1", "b@n1"));
}

TYPED_TEST(AnyStore, FindsObjectsOfLongNames) {
  TypeParam store;
  std::vector<std::string> all;
  for (const char last : {'a', 'b', 'c'}) {
    all.push_back(std::string(250, 'n') + last);
    store.put(pod(all.back(), "n1"));
  }
  EXPECT_THAT(names(store.all()), testing::ElementsAreArray(all));
  for (const std::string& name : all) {
    ASSERT_NE(store.get({"ns", name}), nullptr);
    EXPECT_EQ(store.get({"ns", name})->meta.name, name);
  }
  EXPECT_EQ(store.get({"ns", std::string(250, 'n')}), nullptr);
}

TYPED_TEST(AnyStore, ShowsWhatWasThereWhenItWasAskedOneAfterTheOther) {
  TypeParam store;
  store.put(pod("b", "n1"));
  store.put(pod("a", "n1"));
  std::vector<std::string> shown;
  store.for_each([&](const auto& object) {
    shown.push_back(object->meta.name + "@" + object->node);
    store.put(pod("b", "n2"));
    store.put(pod("c", "n2"));
  });
  EXPECT_THAT(shown, ElementsAre("a@n1", "b@n1"));
}

TYPED_TEST(AnyStore, PutsAnotherObjectWhereOneWas) {
  TypeParam store(by_node());
  store.put(pod("a", "n1"));
  store.put(pod("b", "n1"));
  store.remove({"ns", "a"});
  store.put(pod("c", "n2"));
  EXPECT_THAT(names(store.all()), ElementsAre("b", "c"));
  EXPECT_THAT(names(store.by_index("node", "n1")), ElementsAre("b"));
  EXPECT_THAT(names(store.by_index("node", "n2")), ElementsAre("c"));
  EXPECT_FALSE(store.remove({"ns", "a"}).before);
}

// Most of what a watch brings: nothing has to be unpacked for it.
TEST(PackedStore, GivesOneStateForBothWhereOnlyTheVersionHasChanged) {
  Store<Pod, Packed> store(by_node());
  Pod object = pod("a", "n1");
  object.meta.resource_version = "5";
  store.put(object);
  object.meta.resource_version = "6";
  const Change<Pod> change = store.put(object);
  EXPECT_EQ(change.before, change.after);
  EXPECT_EQ(*change.after, object);
  EXPECT_EQ(store.get({"ns", "a"})->meta.resource_version, "6");
  object.meta.uid = "u-2";
  EXPECT_NE(store.put(object).before->meta.uid, "u-2");
}

TYPED_TEST(AnyStore, HasSyncedOnceItWasListedAndTold) {
  TypeParam store;
  EXPECT_FALSE(store.has_synced());
  EXPECT_EQ(store.seen_version(), 0U);
  store.replace({}, "41");
  EXPECT_FALSE(store.has_synced()) << "nobody has heard of it yet";
  store.set_synced();
  EXPECT_TRUE(store.has_synced());
  store.see_version("42");
  EXPECT_EQ(store.seen_version(), 42U);
}

// Of which it counts how often a name is opened.
template <class T>
struct Counted : AsIs<T> {
  inline static int names = 0;
  class Shelf : public AsIs<T>::Shelf {
   public:
    [[nodiscard]] api::PackedName name_at(Slot slot, std::string& room) const {
      ++names;
      return AsIs<T>::Shelf::name_at(slot, room);
    }
  };
};

double names_opened_by_a_get(const std::vector<ObjectName>& all) {
  Store<Pod, Counted> store;
  std::vector<std::shared_ptr<const Pod>> list;
  for (const ObjectName& name : all) {
    Pod object = pod(name.name, "n1");
    object.meta.ns = name.ns;
    list.push_back(std::make_shared<const Pod>(object));
  }
  store.replace(list, "10");
  Counted<Pod>::names = 0;
  for (const ObjectName& name : all) EXPECT_NE(store.get(name), nullptr);
  return Counted<Pod>::names / static_cast<double>(all.size());
}

TEST(Store, OpensFewOtherNamesToFindOneOfManyInARow) {
  std::vector<ObjectName> all;
  for (int i = 10000; i < 20000; ++i) all.push_back({"", "node-" + std::to_string(i)});
  EXPECT_LT(names_opened_by_a_get(all), 2);
}

TEST(Store, OpensFewOtherNamesWhereEachNamespaceHasOneOfTheSameName) {
  std::vector<ObjectName> all;
  for (int i = 10000; i < 15000; ++i) all.push_back({"team-" + std::to_string(i), "training"});
  EXPECT_LT(names_opened_by_a_get(all), 2);
}

TEST(Store, OpensFewOtherNamesOnRacks) {
  std::vector<ObjectName> all;
  for (int rack = 0; rack < 278; ++rack) {
    for (int place = 0; place < 18; ++place) {
      all.push_back({"", "gb200-rack-" + std::to_string(rack) + "-node-" + std::to_string(place)});
    }
  }
  EXPECT_LT(names_opened_by_a_get(all), 2);
}

TEST(VersionNumber, OfWhatIsNoNumberIsZero) {
  EXPECT_EQ(version_number("18446744073709551615"), 18446744073709551615U);
  EXPECT_EQ(version_number(""), 0U);
  EXPECT_EQ(version_number("12a"), 0U);
}

}  // namespace
}  // namespace cdom::kube
