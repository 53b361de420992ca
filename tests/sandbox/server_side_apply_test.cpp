#include "sandbox/patch/server_side_apply.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "sandbox/managed_fields.h"

namespace cdom::sandbox::patch {
namespace {

using nlohmann::json;

const FieldManager kKubectl{"kubectl", "g/v1", "", "2026-01-01T00:00:01Z"};
const FieldManager kOperator{"operator", "g/v1", "", "2026-01-01T00:00:02Z"};

// A ConfigMap-like configuration with these further fields.
json config(const char* fields) {
  json out = {{"apiVersion", "g/v1"}, {"kind", "Widget"}, {"metadata", {{"name", "a"}}}};
  out.update(json::parse(fields), true);
  return out;
}

std::vector<Cause> apply_as(json& live, const FieldManager& manager, const char* fields,
                            bool force = false) {
  return apply(live, config(fields), manager, force, {"status"}, built_in_merge_rules()).value();
}

TEST(Apply, CreatesAndOwnsWhatTheConfigurationSays) {
  json live = json::object();
  EXPECT_TRUE(apply_as(live, kKubectl,
                       R"({"metadata": {"labels": {"l": "1"}, "finalizers": ["x"]},
                           "spec": {"n": 1, "containers": [{"name": "c", "image": "i"}]}})")
                  .empty());
  EXPECT_EQ(live["spec"]["n"], 1);
  EXPECT_EQ(live["metadata"]["managedFields"], json::parse(R"([{"manager": "kubectl",
      "operation": "Apply", "apiVersion": "g/v1", "time": "2026-01-01T00:00:01Z",
      "fieldsType": "FieldsV1", "fieldsV1": {
        "f:metadata": {"f:labels": {"f:l": {}}, "f:finalizers": {"v:\"x\"": {}}},
        "f:spec": {"f:n": {}, "f:containers": {"k:{\"name\":\"c\"}": {
            ".": {}, "f:name": {}, "f:image": {}}}}}}])"));
}

TEST(Apply, AnotherManagersValueIsAConflict) {
  json live = json::object();
  apply_as(live, kKubectl, R"({"spec": {"n": 1}})");
  const json before = live;
  const auto conflicts = apply_as(live, kOperator, R"({"spec": {"n": 2}})");
  ASSERT_EQ(conflicts.size(), 1U);
  EXPECT_EQ(conflicts[0], (Cause{"FieldManagerConflict", "conflict with \"kubectl\"", ".spec.n"}));
  EXPECT_EQ(conflict_message(conflicts),
            "Apply failed with 1 conflict: conflict with \"kubectl\": .spec.n");
  EXPECT_EQ(live, before);
}

TEST(Apply, ForceTakesTheField) {
  json live = json::object();
  apply_as(live, kKubectl, R"({"spec": {"n": 1, "m": 1}})");
  EXPECT_TRUE(apply_as(live, kOperator, R"({"spec": {"n": 2}})", true).empty());
  EXPECT_EQ(live["spec"], json::parse(R"({"n": 2, "m": 1})"));
  EXPECT_EQ(fields_owned_by(live, "kubectl"), json::parse(R"({"f:spec": {"f:m": {}}})"));
  EXPECT_EQ(fields_owned_by(live, "operator"), json::parse(R"({"f:spec": {"f:n": {}}})"));
}

TEST(Apply, TheSameValueIsOwnedTogether) {
  json live = json::object();
  apply_as(live, kKubectl, R"({"spec": {"n": 1}})");
  EXPECT_TRUE(apply_as(live, kOperator, R"({"spec": {"n": 1}})").empty());
  EXPECT_TRUE(apply_as(live, kOperator, R"({"spec": {"m": 2}})").empty());
  EXPECT_EQ(live["spec"], json::parse(R"({"n": 1, "m": 2})"));
}

TEST(Apply, RemovesWhatItsManagerNoLongerApplies) {
  json live = json::object();
  apply_as(live, kKubectl,
           R"({"metadata": {"labels": {"a": "1", "b": "1"}}, "spec": {"x": {"y": 1}}})");
  apply_as(live, kKubectl, R"({"metadata": {"labels": {"a": "1"}}, "spec": {"n": 1}})");
  EXPECT_EQ(live["metadata"]["labels"], json::parse(R"({"a": "1"})"));
  EXPECT_EQ(live["spec"], json::parse(R"({"n": 1})"));
}

TEST(Apply, AListItemStaysWhileSomebodyOwnsPartOfIt) {
  json live = json::object();
  apply_as(live, kKubectl, R"({"spec": {"containers": [{"name": "a", "image": "1"},
                                                       {"name": "b", "image": "1"}]}})");
  apply_as(live, kOperator, R"({"spec": {"containers": [{"name": "a", "tty": true}]}})");
  apply_as(live, kKubectl, R"({"spec": {"containers": []}})");
  EXPECT_EQ(live["spec"]["containers"], json::parse(R"([{"name": "a", "tty": true}])"));
}

TEST(Apply, ItemsOfAMapListAreMergedByTheirKeys) {
  json live = json::object();
  apply_as(live, kKubectl, R"({"spec": {"containers": [{"name": "a", "image": "1"}]}})");
  apply_as(live, kOperator, R"({"spec": {"containers": [{"name": "b", "image": "2"}]}})");
  EXPECT_EQ(live["spec"]["containers"].size(), 2U);
  const auto conflicts =
      apply_as(live, kOperator, R"({"spec": {"containers": [{"name": "a", "image": "3"}]}})");
  ASSERT_EQ(conflicts.size(), 1U);
  EXPECT_EQ(conflicts[0].field, ".spec.containers[name=\"a\"].image");
}

TEST(Apply, AtomicListsConflictAsAWhole) {
  json live = json::object();
  apply_as(live, kKubectl, R"({"spec": {"tolerations": [{"key": "a"}]}})");
  const auto conflicts = apply_as(live, kOperator, R"({"spec": {"tolerations": [{"key": "b"}]}})");
  ASSERT_EQ(conflicts.size(), 1U);
  EXPECT_EQ(conflicts[0].field, ".spec.tolerations");
}

TEST(Apply, TheSameConfigurationAgainChangesNothing) {
  json live = json::object();
  apply_as(live, kKubectl, R"({"spec": {"n": 1, "l": [1, 2], "containers": [{"name": "a"}]}})");
  const json before = live;
  FieldManager later = kKubectl;
  later.time = "2026-01-01T00:09:00Z";
  apply_as(live, later, R"({"spec": {"n": 1, "l": [1, 2], "containers": [{"name": "a"}]}})");
  EXPECT_EQ(live, before);
}

TEST(Apply, DoesNotTouchWhatItsEndpointDoesNotWrite) {
  json live = config(R"({"metadata": {"uid": "u", "resourceVersion": "7"}, "status": {"s": 1}})");
  apply_as(live, kKubectl, R"({"metadata": {"uid": "x", "resourceVersion": "1"}, "status": {"s": 2},
                               "spec": {"n": 1}})");
  EXPECT_EQ(live["status"]["s"], 1);
  EXPECT_EQ(live["metadata"]["uid"], "u");
  EXPECT_EQ(live["metadata"]["resourceVersion"], "7");
  EXPECT_EQ(fields_owned_by(live, "kubectl"), json::parse(R"({"f:spec": {"f:n": {}}})"));
}

TEST(Apply, ObjectsFromBeforeTheTrackingBelongToNobodyInParticular) {
  json live = config(R"({"spec": {"n": 1}})");
  const auto conflicts = apply_as(live, kKubectl, R"({"spec": {"n": 2}})");
  ASSERT_EQ(conflicts.size(), 1U);
  EXPECT_EQ(conflicts[0].message, "conflict with \"before-first-apply\" using g/v1");
}

TEST(Apply, RefusesAConfigurationThatIsAmbiguous) {
  const auto refusal = [](const json& sent, const MergeRules& rules) {
    json live = json::object();
    return apply(live, sent, kKubectl, false, {}, rules).error().message;
  };
  const MergeRules& rules = built_in_merge_rules();
  EXPECT_NE(refusal(config(R"({"spec": {"containers": [{"name": "a"}, {"name": "a"}]}})"), rules)
                .find(".spec.containers: duplicate entries for key [name=\"a\"]"),
            std::string::npos);
  EXPECT_NE(refusal(config(R"({"spec": {"containers": [{"image": "a"}]}})"), rules)
                .find("omits all key fields [\"name\"]"),
            std::string::npos);
  EXPECT_EQ(refusal(config(R"({"metadata": {"managedFields": []}})"), rules),
            "metadata.managedFields must be nil");
}

TEST(Apply, FollowsTheListTypesOfASchema) {
  const auto schema = schema::parse(json::parse(R"({"type": "object", "properties": {"spec": {
      "type": "object", "properties": {
        "nodes": {"type": "array", "x-kubernetes-list-type": "map",
          "x-kubernetes-list-map-keys": ["name"], "items": {"type": "object",
            "required": ["name"], "properties": {"name": {"type": "string"},
              "index": {"type": "integer"}}}},
        "tags": {"type": "array", "x-kubernetes-list-type": "set", "items": {"type": "string"}},
        "free": {"type": "object", "x-kubernetes-preserve-unknown-fields": true}}}}})"));
  const auto rules = merge_rules_of(schema.value());
  json live = json::object();
  const json first = config(R"({"spec": {"nodes": [{"name": "a"}], "tags": ["x"],
                                         "free": {"any": {"thing": 1}}}})");
  ASSERT_TRUE(apply(live, first, kKubectl, false, {}, *rules)->empty());
  const json second = config(R"({"spec": {"nodes": [{"name": "b"}], "tags": ["y"]}})");
  ASSERT_TRUE(apply(live, second, kOperator, false, {}, *rules)->empty());
  EXPECT_EQ(live["spec"]["nodes"].size(), 2U);
  EXPECT_EQ(live["spec"]["tags"].size(), 2U);

  const auto unknown = apply(live, config(R"({"spec": {"x": 1}})"), kKubectl, false, {}, *rules);
  ASSERT_FALSE(unknown);
  EXPECT_NE(unknown.error().message.find(".spec.x: field not declared in schema"),
            std::string::npos);
}

TEST(Apply, SeveralConflictsAreListedByManager) {
  EXPECT_EQ(conflict_message({{"FieldManagerConflict", "conflict with \"b\" using v1", ".spec.y"},
                              {"FieldManagerConflict", "conflict with \"a\"", ".spec.x"}}),
            "Apply failed with 2 conflicts: conflicts with \"a\":\n- .spec.x\n"
            "conflicts with \"b\" using v1:\n- .spec.y");
}

}  // namespace
}  // namespace cdom::sandbox::patch
