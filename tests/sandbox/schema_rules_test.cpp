#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "sandbox/schema/schema.h"
#include "sandbox/schema/validate.h"

namespace cdom::sandbox::schema {
namespace {

using nlohmann::json;

// The schema of a resource whose spec has the rule, a name, a number and a list of nodes.
std::shared_ptr<const Schema> schema_with(const json& rule) {
  json root = json::parse(R"({"type": "object", "properties": {"spec": {"type": "object",
    "properties": {"n": {"type": "integer"}, "ratio": {"type": "number"},
      "mode": {"type": "string", "maxLength": 9}, "a-b": {"type": "integer"},
      "nodes": {"type": "array", "x-kubernetes-list-type": "map",
        "x-kubernetes-list-map-keys": ["name"], "items": {"type": "object", "required": ["name"],
          "properties": {"name": {"type": "string"}, "index": {"type": "integer",
            "x-kubernetes-validations": [{"rule": "self == oldSelf", "message": "stays"}]}}}}}}}})");
  root["properties"]["spec"]["x-kubernetes-validations"] = json::array({rule});
  return parse(root).value();
}

std::string refused(const json& rule, const json& spec, const json* old_spec = nullptr) {
  const json object = {{"spec", spec}};
  const json old_object = {{"spec", old_spec != nullptr ? *old_spec : json()}};
  const auto causes =
      validate(object, old_spec != nullptr ? &old_object : nullptr, *schema_with(rule));
  return causes.empty() ? "" : causes.front().field + ": " + causes.front().message;
}

const json kImmutable = {{"rule", "self == oldSelf"}, {"message", "spec is immutable"}};

TEST(Rules, TransitionRulesHoldOnUpdatesOnly) {
  const json before = {{"n", 1}};
  EXPECT_EQ(refused(kImmutable, {{"n", 1}}), "");
  EXPECT_EQ(refused(kImmutable, {{"n", 1}}, &before), "");
  EXPECT_EQ(refused(kImmutable, {{"n", 2}}, &before), "spec: Invalid value: spec is immutable");
}

TEST(Rules, MessagesFallBackToTheRule) {
  EXPECT_EQ(refused({{"rule", "self.n > 1"}}, {{"n", 1}}),
            "spec: Invalid value: failed rule: self.n > 1");
  const json expression = {{"rule", "self.n > 1"},
                           {"message", "fixed"},
                           {"messageExpression", "'n is ' + string(self.n)"}};
  EXPECT_EQ(refused(expression, {{"n", 1}}), "spec: Invalid value: n is 1");
  json failing = expression;
  failing["messageExpression"] = "self.gone";
  EXPECT_EQ(refused(failing, {{"n", 1}}), "spec: Invalid value: fixed");
}

TEST(Rules, ReasonAndFieldPathAreTheRules) {
  const json rule = {{"rule", "self.n > 1"},
                     {"message", "no"},
                     {"reason", "FieldValueForbidden"},
                     {"fieldPath", ".n"}};
  EXPECT_EQ(refused(rule, {{"n", 1}}), "spec.n: Forbidden: no");
}

TEST(Rules, ARuntimeErrorIsACause) {
  EXPECT_EQ(refused({{"rule", "self.n > 1"}, {"message", "n > 1"}}, json::object()),
            "spec: Invalid value: \"object\": no such key: n evaluating rule: n > 1");
}

TEST(Rules, SeeValuesAsTheSchemaTypesThem) {
  EXPECT_EQ(refused({{"rule", "self.ratio * 2.0 == 4.0"}}, {{"ratio", 2}}), "");
  EXPECT_EQ(refused({{"rule", "self.a__dash__b == 1"}}, {{"a-b", 1}}), "");
}

TEST(Rules, OptionalOldSelfIsCheckedOnCreateToo) {
  const json rule = {{"rule", "oldSelf.hasValue() || self.n == 0"}, {"optionalOldSelf", true}};
  const json before = {{"n", 0}};
  EXPECT_NE(refused(rule, {{"n", 1}}), "");
  EXPECT_EQ(refused(rule, {{"n", 1}}, &before), "");
}

TEST(Rules, ItemsOfMapListsAreComparedByKey) {
  const json before = json::parse(R"({"nodes": [{"name": "a", "index": 1}]})");
  const json moved =
      json::parse(R"({"nodes": [{"name": "b", "index": 2}, {"name": "a", "index": 1}]})");
  const json changed = json::parse(R"({"nodes": [{"name": "a", "index": 3}]})");
  EXPECT_EQ(refused({{"rule", "true"}}, moved, &before), "");
  EXPECT_EQ(refused({{"rule", "true"}}, changed, &before),
            "spec.nodes[0].index: Invalid value: 3: stays");
}

TEST(Rules, AreNotCheckedWhenTypesAreWrong) {
  const auto causes = validate({{"spec", {{"n", "x"}}}}, nullptr, *schema_with(kImmutable));
  ASSERT_EQ(causes.size(), 2U);
  EXPECT_EQ(causes[1].field, "<nil>");
}

TEST(Rules, RootRulesSeeTheName) {
  const auto schema =
      parse({{"type", "object"},
             {"x-kubernetes-validations", {{{"rule", "self.metadata.name == 'default'"}}}}});
  ASSERT_TRUE(schema);
  EXPECT_TRUE(validate({{"metadata", {{"name", "default"}}}}, nullptr, **schema).empty());
  const auto causes = validate({{"metadata", {{"name", "x"}}}}, nullptr, **schema);
  ASSERT_EQ(causes.size(), 1U);
  EXPECT_EQ(causes[0].field, "<nil>");
}

}  // namespace
}  // namespace cdom::sandbox::schema
