#include "sandbox/patch/patch.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace cdom::sandbox::patch {
namespace {

using nlohmann::json;

json strategic(const char* document, const char* patch) {
  json out = json::parse(document);
  const auto done = apply_strategic_merge_patch(out, json::parse(patch), built_in_merge_rules());
  return done ? out : json(done.error().message);
}

TEST(JsonPatch, AppliesEveryOperation) {
  json document = json::parse(R"({"a": 1, "list": [1, 3], "x/y": 0, "old": {"b": 2}})");
  const json patch = json::parse(R"([{"op": "test", "path": "/a", "value": 1},
      {"op": "replace", "path": "/a", "value": 2}, {"op": "add", "path": "/list/1", "value": 2},
      {"op": "add", "path": "/list/-", "value": 4}, {"op": "remove", "path": "/x~1y"},
      {"op": "move", "from": "/old", "path": "/new"},
      {"op": "copy", "from": "/new/b", "path": "/c"}])");
  ASSERT_TRUE(apply_json_patch(document, patch));
  EXPECT_EQ(document, json::parse(R"({"a": 2, "list": [1, 2, 3, 4], "new": {"b": 2}, "c": 2})"));
}

TEST(JsonPatch, ThatFailsChangesNothing) {
  const json original = {{"a", 1}};
  for (const char* patch :
       {R"([{"op": "replace", "path": "/a", "value": 2},
                                {"op": "test", "path": "/a", "value": 1}])",
        R"([{"op": "remove", "path": "/gone"}])", R"([{"op": "shuffle", "path": "/a"}])",
        R"({"a": 2})", R"([{"op": "add", "path": "a", "value": 1}])"}) {
    json document = original;
    const auto done = apply_json_patch(document, json::parse(patch));
    ASSERT_FALSE(done) << patch;
    EXPECT_EQ(done.error().kind, base::ErrorKind::Invalid);
    EXPECT_EQ(document, original);
  }
}

TEST(JsonPatch, ReplacingAnAbsentMemberAddsIt) {
  json document = json::object();
  ASSERT_TRUE(
      apply_json_patch(document, json::parse(R"([{"op": "replace", "path": "/a", "value": 1}])")));
  EXPECT_EQ(document, json::parse(R"({"a": 1})"));
}

TEST(MergePatch, NullRemovesAndListsAreReplaced) {
  json document = json::parse(R"({"a": {"b": 1, "c": 2}, "l": [1, 2], "s": "x"})");
  apply_merge_patch(document,
                    json::parse(R"({"a": {"b": null, "d": 3}, "l": [3], "s": {"t": 1}})"));
  EXPECT_EQ(document, json::parse(R"({"a": {"c": 2, "d": 3}, "l": [3], "s": {"t": 1}})"));
}

TEST(StrategicMerge, MergesListsByTheirKey) {
  EXPECT_EQ(strategic(R"({"spec": {"containers": [{"name": "a", "image": "1"},
                                                  {"name": "b", "image": "1"}]}})",
                      R"({"spec": {"containers": [{"name": "b", "image": "2"},
                                                  {"name": "c", "image": "3"}]}})"),
            json::parse(R"({"spec": {"containers": [{"name": "a", "image": "1"},
                {"name": "b", "image": "2"}, {"name": "c", "image": "3"}]}})"));
}

TEST(StrategicMerge, AtomicListsAreReplacedAndSetsJoined) {
  EXPECT_EQ(
      strategic(R"({"metadata": {"finalizers": ["x"]}, "spec": {"tolerations": [{"key": "a"}]}})",
                R"({"metadata": {"finalizers": ["x", "y"]},
                          "spec": {"tolerations": [{"key": "b"}]}})"),
      json::parse(R"({"metadata": {"finalizers": ["x", "y"]},
                            "spec": {"tolerations": [{"key": "b"}]}})"));
}

TEST(StrategicMerge, DeletesByDirective) {
  EXPECT_EQ(strategic(R"({"spec": {"containers": [{"name": "a"}, {"name": "b"}]}})",
                      R"({"spec": {"containers": [{"name": "a", "$patch": "delete"}]}})"),
            json::parse(R"({"spec": {"containers": [{"name": "b"}]}})"));
  EXPECT_EQ(strategic(R"({"a": {"x": 1}})", R"({"a": {"$patch": "replace", "y": 2}})"),
            json::parse(R"({"a": {"y": 2}})"));
  EXPECT_EQ(strategic(R"({"metadata": {"finalizers": ["x", "y"]}})",
                      R"({"metadata": {"$deleteFromPrimitiveList/finalizers": ["x"]}})"),
            json::parse(R"({"metadata": {"finalizers": ["y"]}})"));
  EXPECT_EQ(strategic(R"({"spec": {"containers": [{"name": "a"}]}})",
                      R"({"spec": {"containers": [{"name": "b"}, {"$patch": "replace"}]}})"),
            json::parse(R"({"spec": {"containers": [{"name": "b"}]}})"));
}

TEST(StrategicMerge, RetainsOnlyTheNamedKeys) {
  EXPECT_EQ(strategic(R"({"spec": {"volumes": [{"name": "v", "emptyDir": {}}]}})",
                      R"({"spec": {"volumes": [{"name": "v", "hostPath": {"path": "/x"},
                          "$retainKeys": ["name", "hostPath"]}]}})"),
            json::parse(R"({"spec": {"volumes": [{"name": "v", "hostPath": {"path": "/x"}}]}})"));
}

TEST(StrategicMerge, OrdersByTheAuthorsOrderAndKeepsForeignItemsInPlace) {
  EXPECT_EQ(strategic(R"({"spec": {"containers": [{"name": "a"}, {"name": "s"}, {"name": "b"}]}})",
                      R"({"spec": {"$setElementOrder/containers": [{"name": "b"}, {"name": "a"}],
                          "containers": [{"name": "b", "image": "2"}]}})"),
            json::parse(R"({"spec": {"containers": [{"name": "s"}, {"name": "b", "image": "2"},
                                                    {"name": "a"}]}})"));
}

TEST(StrategicMerge, ANewItemComesWhereItsAuthorPutIt) {
  EXPECT_EQ(strategic(R"({"spec": {"containers": [{"name": "a"}, {"name": "s"}, {"name": "b"}]}})",
                      R"({"spec": {"$setElementOrder/containers":
                              [{"name": "n"}, {"name": "b"}, {"name": "a"}],
                          "containers": [{"name": "n"}]}})"),
            json::parse(R"({"spec": {"containers": [{"name": "n"}, {"name": "s"}, {"name": "b"},
                                                    {"name": "a"}]}})"));
}

TEST(StrategicMerge, NullsAndDirectivesAreNotStored) {
  EXPECT_EQ(strategic(R"({"a": 1})", R"({"a": null, "b": {"c": null, "d": 1}})"),
            json::parse(R"({"b": {"d": 1}})"));
}

TEST(StrategicMerge, NamesAMissingMergeKey) {
  EXPECT_EQ(strategic(R"({})", R"({"spec": {"containers": [{"image": "2"}]}})"),
            "map: {\"image\":\"2\"} does not contain declared merge key: name");
}

TEST(MergeRules, PortsAreToldApartByTheirPlace) {
  const auto keys = [](const Path& path) {
    return built_in_merge_rules().rule_of(path, true).keys;
  };
  EXPECT_EQ(keys({"spec", "containers", "[]", "ports"}),
            (std::vector<std::string>{"containerPort", "protocol"}));
  EXPECT_EQ(keys({"spec", "ports"}), (std::vector<std::string>{"port", "protocol"}));
}

}  // namespace
}  // namespace cdom::sandbox::patch
