// Pages of lists, and the snapshots that they are cut from.
#include "sandbox/apiserver/storage/list_page.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <nlohmann/json.hpp>

#include "compute_domain/base/clock.h"
#include "compute_domain/base/random.h"
#include "compute_domain/base/text.h"
#include "sandbox/apiserver/storage/storage.h"

namespace cdom::sandbox::server {
namespace {

using base::cat;
using ::testing::ElementsAre;

constexpr char kBucket[] = "configmaps";

json named(const std::string& name) { return {{"metadata", {{"name", name}}}}; }

std::string number(std::size_t i) { return std::to_string(100'000 + i); }

std::vector<std::string> names_of(const std::vector<Object>& objects) {
  std::vector<std::string> names;
  names.reserve(objects.size());
  for (const Object& object : objects) names.push_back(object->value()["metadata"]["name"]);
  return names;
}

// Counts what it is shown.
struct Looks {
  std::size_t count = 0;
  std::function<bool(const Object&)> all() {
    return [this](const Object&) {
      ++count;
      return true;
    };
  }
};

class Pages : public ::testing::Test {
 protected:
  void put(const std::string& ns, const std::string& name) {
    storage.put(kBucket, cat(ns, "/", name), named(name));
  }
  base::ManualClock clock;
  Storage storage{clock};
};

TEST_F(Pages, LookAtNoMoreThanTheirOwnObjectsHoweverManyThereAre) {
  constexpr std::size_t kObjects = 10'000, kLimit = 500;
  for (std::size_t i = 0; i < kObjects; ++i) put(i % 2 == 0 ? "a" : "b", number(i));
  const std::uint64_t version = storage.resource_version();
  ListPage page;
  std::size_t listed = 0;
  do {
    // The world goes on meanwhile, on both sides of where the list has come.
    put("a", cat("new-", listed));
    storage.remove(kBucket, cat("b/", number(listed + 1)), named("gone"));
    Looks looks;
    page = page_of(*storage.snapshot_at(kBucket, version),
                   {.prefix = {}, .start = page.next, .limit = kLimit}, looks.all());
    listed += page.objects.size();
    EXPECT_LE(looks.count, kLimit + 1);
    EXPECT_EQ(page.behind, kObjects - listed);
  } while (!page.next.empty());
  EXPECT_EQ(listed, kObjects);
}

TEST_F(Pages, OfANamespacePassOverTheOthers) {
  for (std::size_t i = 0; i < 1000; ++i) put("a", number(i));
  for (const char* name : {"x", "y", "z"}) put("b", name);
  for (std::size_t i = 0; i < 1000; ++i) put("c", number(i));
  Looks looks;
  const ListPage first =
      page_of(storage.snapshot(kBucket), {.prefix = "b/", .start = {}, .limit = 2}, looks.all());
  EXPECT_THAT(names_of(first.objects), ElementsAre("x", "y"));
  EXPECT_EQ(first.behind, 1U);
  const ListPage second = page_of(storage.snapshot(kBucket),
                                  {.prefix = "b/", .start = first.next, .limit = 2}, looks.all());
  EXPECT_THAT(names_of(second.objects), ElementsAre("z"));
  EXPECT_EQ(second.next, "");
  EXPECT_LE(looks.count, 4U);
}

TEST_F(Pages, ShowTheStateOfTheirVersionWhateverCameAfter) {
  base::Random random(1);
  std::map<std::string, std::string> now;  // key to name
  std::map<std::uint64_t, std::map<std::string, std::string>> then;
  for (int i = 0; i < 2000; ++i) {
    const std::string name = cat("n", random.below(300));
    const std::string key = cat("ns/", name);
    if (now.contains(key) && random.chance(0.4)) {
      storage.remove(kBucket, key, named(name));
      now.erase(key);
    } else {
      put("ns", name);
      now[key] = name;
    }
    then[storage.resource_version()] = now;
  }
  for (const auto& [version, state] : then) {
    std::vector<std::string> names;
    for (const auto& [key, name] : state) names.push_back(name);
    const auto snapshot = storage.snapshot_at(kBucket, version);
    ASSERT_TRUE(snapshot);
    ASSERT_EQ(names_of(page_of(*snapshot, {}, [](const Object&) { return true; }).objects), names);
    ASSERT_EQ(snapshot->size(), state.size());
  }
  storage.compact();
  EXPECT_FALSE(storage.snapshot_at(kBucket, then.begin()->first));
  EXPECT_TRUE(storage.snapshot_at(kBucket, storage.resource_version()));
}

}  // namespace
}  // namespace cdom::sandbox::server
