#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "compute_domain/base/random.h"
#include "sandbox/managed_fields.h"
#include "sandbox/patch/fields_of.h"
#include "sandbox/patch/server_side_apply.h"

namespace cdom::sandbox::patch {
namespace {

using nlohmann::json;

FieldManager manager(std::string name, std::string subresource = "", std::string time = "t1") {
  return {std::move(name), "v1", std::move(subresource), std::move(time)};
}

// Writes `fields` over the object as the manager.
void write(json& object, const FieldManager& who, const char* fields) {
  const json before = object;
  object.merge_patch(json::parse(fields));
  track_write(before, object, who, {}, built_in_merge_rules());
}

json created() {
  json object = json::object();
  write(object, manager("kubectl"), R"({"apiVersion": "v1", "kind": "X",
      "metadata": {"name": "a", "uid": "u"}, "spec": {"n": 1, "m": 1}})");
  return object;
}

TEST(TrackWrite, TheCreatorOwnsAllButWhatTheServerKeeps) {
  EXPECT_EQ(created()["metadata"]["managedFields"], json::parse(R"([{"manager": "kubectl",
      "operation": "Update", "apiVersion": "v1", "time": "t1", "fieldsType": "FieldsV1",
      "fieldsV1": {"f:spec": {".": {}, "f:n": {}, "f:m": {}}}}])"));
}

TEST(TrackWrite, AChangeMovesTheFieldToItsAuthor) {
  json object = created();
  write(object, manager("edit"), R"({"spec": {"n": 2}})");
  EXPECT_EQ(fields_owned_by(object, "kubectl"), json::parse(R"({"f:spec": {".": {}, "f:m": {}}})"));
  EXPECT_EQ(fields_owned_by(object, "edit"), json::parse(R"({"f:spec": {"f:n": {}}})"));
}

TEST(TrackWrite, NobodyKeepsWhatIsGone) {
  json object = created();
  write(object, manager("edit"), R"({"spec": {"n": null, "m": null, "k": 1}})");
  EXPECT_EQ(fields_owned_by(object, "kubectl"), json::parse(R"({"f:spec": {}})"));
}

TEST(TrackWrite, AWriteWithoutChangeChangesNothing) {
  json object = created();
  const json before = object;
  write(object, manager("edit", "", "t2"), R"({"spec": {"n": 1}})");
  EXPECT_EQ(object, before);
}

TEST(TrackWrite, SubresourcesAreManagersOfTheirOwn) {
  json object = created();
  write(object, manager("kubectl", "status", "t2"), R"({"status": {"ready": true}})");
  const json& entries = object["metadata"]["managedFields"];
  ASSERT_EQ(entries.size(), 2U);
  EXPECT_EQ(entries[1]["subresource"], "status");
}

TEST(TrackWrite, ApplyAfterAnUpdateConflictsWithItsAuthor) {
  json object = created();
  const json config = json::parse(
      R"({"apiVersion": "v1", "kind": "X", "metadata": {"name": "a"}, "spec": {"n": 5}})");
  const auto conflicts =
      apply(object, config, manager("me"), false, {}, built_in_merge_rules()).value();
  ASSERT_EQ(conflicts.size(), 1U);
  EXPECT_EQ(conflicts[0],
            (Cause{"FieldManagerConflict", "conflict with \"kubectl\" using v1", ".spec.n"}));
}

TEST(TrackWrite, AnUpdateTakesFieldsFromAnApplier) {
  json object = json::object();
  const json config = json::parse(
      R"({"apiVersion": "v1", "kind": "X", "metadata": {"name": "a"}, "spec": {"n": 5}})");
  ASSERT_TRUE(apply(object, config, manager("me"), false, {}, built_in_merge_rules())->empty());
  write(object, manager("edit"), R"({"spec": {"n": 6}})");
  EXPECT_EQ(fields_owned_by(object, "me"), nullptr);
}

TEST(TrackWrite, ClientsCannotWriteTheTrackingButCanResetIt) {
  json object = created();
  write(object, manager("edit"), R"({"metadata": {"managedFields": [{"manager": "forged"}]}})");
  EXPECT_EQ(fields_owned_by(object, "forged"), nullptr);
  EXPECT_NE(fields_owned_by(object, "kubectl"), nullptr);
  write(object, manager("edit"), R"({"metadata": {"managedFields": [{}]}})");
  EXPECT_FALSE(object["metadata"].contains("managedFields"));
}

TEST(TrackWrite, OldUpdatesBecomeOneEntry) {
  json object = created();
  for (int i = 0; i < 12; ++i) {
    json before = object;
    object["spec"]["f" + std::to_string(i)] = i;
    track_write(before, object, manager("m" + std::to_string(i), "", "t" + std::to_string(i + 10)),
                {}, built_in_merge_rules());
  }
  EXPECT_EQ(object["metadata"]["managedFields"].size(), 10U);
  EXPECT_TRUE(fields_owned_by(object, "ancient-changes")["f:spec"].contains("f:n"));
}

TEST(TrackWrite, TimesAloneAreNoChange) {
  json before = created(), after = before;
  after["metadata"]["managedFields"][0]["time"] = "t9";
  after["metadata"]["resourceVersion"] = "9";
  EXPECT_TRUE(is_same_but_for_times(before, after));
  after["spec"]["n"] = 3;
  EXPECT_FALSE(is_same_but_for_times(before, after));
}

// A document of maps, atomic lists, and lists of type map and set.
json document(base::Random& random, int depth) {
  json out = json::object();
  for (const char* name : {"a", "b", "selector", "args", "containers", "metadata", "finalizers"}) {
    if (random.chance(0.4)) continue;
    const std::string key(name);
    if (key == "args" || key == "finalizers") {
      out[key] = json::array();
      for (std::uint64_t i = random.below(3); i > 0; --i) out[key].push_back(random.below(3));
    } else if (key == "containers") {
      out[key] = json::array();
      for (const char* item : {"x", "y"}) {
        if (random.chance(0.5)) out[key].push_back({{"name", item}, {"image", random.below(2)}});
      }
    } else if (depth > 0 && random.chance(0.8)) {
      out[key] = document(random, depth - 1);
    } else {
      out[key] = random.below(2);
    }
  }
  return out;
}

TEST(TrackWrite, WhatIsLostIsWhatWasThereWithoutWhatIsThere) {
  const MergeRules& rules = built_in_merge_rules();
  for (std::uint64_t seed = 1; seed <= 2000; ++seed) {
    base::Random random(seed);
    const json before = document(random, 3);
    json after = before;
    after.merge_patch(document(random, 3));
    if (random.chance(0.5)) after = document(random, 3);
    FieldSet expected = stored_fields_of(before, rules);
    expected.subtract(stored_fields_of(after, rules));
    ASSERT_EQ(lost_fields(before, after, rules).paths(), expected.paths()) << before << "\n"
                                                                           << after;
  }
}

}  // namespace
}  // namespace cdom::sandbox::patch
