#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "sandbox/schema/schema.h"
#include "sandbox/schema/validate.h"

namespace cdom::sandbox::schema {
namespace {

using nlohmann::json;

// A root schema whose spec is `spec`.
json with_spec(const json& spec) { return {{"type", "object"}, {"properties", {{"spec", spec}}}}; }

std::string refusal(const json& schema) {
  const auto parsed = parse(schema);
  return parsed ? "parsed" : parsed.error().message;
}

TEST(SchemaParse, RefusesWhatItDoesNotUnderstandByName) {
  EXPECT_EQ(refusal(with_spec({{"type", "object"}, {"$ref", "#/x"}})),
            "openAPIV3Schema.properties.spec: unknown keyword $ref");
  EXPECT_EQ(refusal(with_spec({{"type", "file"}})),
            "openAPIV3Schema.properties.spec: type \"file\" is not known");
  EXPECT_EQ(refusal(with_spec({{"type", "string"}, {"format", "hostname"}})),
            "openAPIV3Schema.properties.spec.format: format \"hostname\" is not supported");
  EXPECT_NE(refusal(with_spec({{"type", "string"}, {"pattern", "(?i)x"}})).find("not supported"),
            std::string::npos);
}

TEST(SchemaParse, RefusesSchemasThatAreNotStructural) {
  EXPECT_NE(refusal(with_spec(json::object())).find("type is required"), std::string::npos);
  EXPECT_NE(refusal({{"type", "string"}}).find("type must be object"), std::string::npos);
  EXPECT_NE(refusal(with_spec({{"type", "array"}})).find("an array needs items"),
            std::string::npos);
  EXPECT_NE(refusal(with_spec({{"type", "string"}, {"anyOf", {{{"type", "string"}}}}}))
                .find("type is forbidden"),
            std::string::npos);
  EXPECT_NE(refusal(with_spec({{"type", "string"}, {"allOf", {{{"default", "x"}}}}}))
                .find("default is forbidden"),
            std::string::npos);
  EXPECT_NE(refusal(with_spec({{"type", "object"},
                               {"properties", {{"a", {{"type", "string"}}}}},
                               {"additionalProperties", {{"type", "string"}}}}))
                .find("exclude each other"),
            std::string::npos);
}

TEST(SchemaParse, RefusesARuleThatDoesNotCompile) {
  const json spec = {{"type", "object"},
                     {"x-kubernetes-validations", {{{"rule", "self.a == timestamp(self.b)"}}}}};
  const std::string message = refusal(with_spec(spec));
  EXPECT_NE(message.find("spec.x-kubernetes-validations[0].rule"), std::string::npos) << message;
  EXPECT_NE(message.find("function 'timestamp' is not supported"), std::string::npos) << message;
}

TEST(SchemaParse, ListMapKeysMustBeSureToExist) {
  const json items = {{"type", "object"}, {"properties", {{"name", {{"type", "string"}}}}}};
  json list = {{"type", "array"}, {"items", items}, {"x-kubernetes-list-type", "map"}};
  EXPECT_NE(refusal(with_spec(list)).find("needs list-map-keys"), std::string::npos);
  list["x-kubernetes-list-map-keys"] = json::array({"name"});
  EXPECT_NE(refusal(with_spec(list)).find("must be required or have a default"), std::string::npos);
  list["items"]["required"] = json::array({"name"});
  EXPECT_EQ(refusal(with_spec(list)), "parsed");
}

TEST(SchemaParse, ADefaultMustFitItsSchema) {
  EXPECT_NE(refusal(with_spec({{"type", "integer"}, {"default", "x"}})).find("must be of type"),
            std::string::npos);
}

std::shared_ptr<const Schema> schema_of(const json& spec) { return parse(with_spec(spec)).value(); }

const json kSpec = {
    {"type", "object"},
    {"properties",
     {{"mode", {{"type", "string"}, {"default", "Single"}}},
      {"free", {{"type", "object"}, {"x-kubernetes-preserve-unknown-fields", true}}},
      {"labels", {{"type", "object"}, {"additionalProperties", {{"type", "string"}}}}},
      {"nested",
       {{"type", "object"}, {"properties", {{"n", {{"type", "integer"}, {"default", 3}}}}}}},
      {"items",
       {{"type", "array"},
        {"items",
         {{"type", "object"},
          {"properties", {{"state", {{"type", "string"}, {"default", "NotReady"}}}}}}}}}}}};

TEST(Defaults, FillWhatIsAbsentOrNull) {
  json object = {{"spec", {{"mode", nullptr}, {"items", {json::object(), {{"state", "Ready"}}}}}}};
  apply_defaults(object, *schema_of(kSpec));
  EXPECT_EQ(object, json::parse(R"({"spec": {"mode": "Single",
      "items": [{"state": "NotReady"}, {"state": "Ready"}]}})"));
}

TEST(Defaults, ANullWithoutDefaultGoesWhereNoneMayBe) {
  json object = {{"spec", {{"labels", nullptr}, {"nested", {{"n", nullptr}}}}}};
  apply_defaults(object, *schema_of(kSpec));
  EXPECT_EQ(object, json::parse(R"({"spec": {"mode": "Single", "nested": {"n": 3}}})"));
}

TEST(Defaults, DoNotCreateAnAbsentParent) {
  json object = {{"spec", {{"mode", "All"}}}};
  apply_defaults(object, *schema_of(kSpec));
  EXPECT_FALSE(object["spec"].contains("nested"));
  json none = json::object();
  apply_defaults(none, *schema_of(kSpec));
  EXPECT_EQ(none, json::object());
}

TEST(Prune, RemovesUnknownFieldsAndTellsTheirPaths) {
  json object = json::parse(R"({"apiVersion": "v1", "kind": "X", "metadata": {"labels": {"a": "b"}},
      "extra": 1, "spec": {"mode": "All", "x": 1, "free": {"any": 1}, "labels": {"a": "b"},
      "items": [{"state": "Ready", "y": 2}]}})");
  const auto removed = prune(object, *schema_of(kSpec));
  EXPECT_EQ(removed, (std::vector<std::string>{"extra", "spec.items[0].y", "spec.x"}));
  EXPECT_EQ(object, json::parse(R"({"apiVersion": "v1", "kind": "X",
      "metadata": {"labels": {"a": "b"}}, "spec": {"mode": "All", "free": {"any": 1},
      "labels": {"a": "b"}, "items": [{"state": "Ready"}]}})"));
}

}  // namespace
}  // namespace cdom::sandbox::schema
