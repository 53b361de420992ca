#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "sandbox/schema/schema.h"
#include "sandbox/schema/validate.h"

namespace cdom::sandbox::schema {
namespace {

using nlohmann::json;

// What is wrong with {"x": value} when x has the schema `schema`; "" when nothing is.
std::string wrong(const json& schema, const json& value, const json* old_value = nullptr) {
  const auto root = parse({{"type", "object"}, {"properties", {{"x", schema}}}});
  if (!root) return root.error().message;
  const json object = {{"x", value}};
  const json old_object = {{"x", old_value != nullptr ? *old_value : json()}};
  std::string out;
  for (const Cause& cause :
       validate(object, old_value != nullptr ? &old_object : nullptr, **root)) {
    out += cause.reason + " " + cause.field + ": " + cause.message + "\n";
  }
  return out;
}

TEST(Validate, ChecksTypes) {
  EXPECT_EQ(wrong({{"type", "integer"}}, "a"),
            "FieldValueTypeInvalid x: Invalid value: \"string\": x in body must be of type "
            "integer: \"string\"\n");
  EXPECT_EQ(wrong({{"type", "string"}}, nullptr),
            "FieldValueTypeInvalid x: Invalid value: \"null\": x in body must be of type string: "
            "\"null\"\n");
  EXPECT_EQ(wrong({{"type", "string"}, {"nullable", true}}, nullptr), "");
  EXPECT_EQ(wrong({{"type", "number"}}, 3), "");
  EXPECT_EQ(wrong({{"type", "integer"}}, 3.0), "");
  EXPECT_NE(wrong({{"type", "integer"}}, 3.5), "");
  EXPECT_EQ(wrong({{"x-kubernetes-int-or-string", true}}, "50%"), "");
  EXPECT_NE(wrong({{"x-kubernetes-int-or-string", true}}, true), "");
}

TEST(Validate, ChecksEnumsAndRequiredFields) {
  EXPECT_EQ(wrong({{"type", "string"}, {"enum", {"red", "blue"}}}, "pink"),
            "FieldValueNotSupported x: Unsupported value: \"pink\": supported values: \"red\", "
            "\"blue\"\n");
  EXPECT_EQ(wrong({{"type", "object"}, {"required", {"a"}}}, json::object()),
            "FieldValueRequired x.a: Required value\n");
}

TEST(Validate, ChecksNumbers) {
  EXPECT_EQ(wrong({{"type", "integer"}, {"minimum", 0}}, -1),
            "FieldValueInvalid x: Invalid value: -1: x in body should be greater than or equal to "
            "0\n");
  EXPECT_NE(wrong({{"type", "integer"}, {"minimum", 0}, {"exclusiveMinimum", true}}, 0), "");
  EXPECT_NE(wrong({{"type", "integer"}, {"maximum", 5}}, 6), "");
  EXPECT_EQ(wrong({{"type", "integer"}, {"maximum", 5}}, 5), "");
  EXPECT_NE(wrong({{"type", "integer"}, {"multipleOf", 2}}, 3), "");
  EXPECT_EQ(wrong({{"type", "integer"}, {"format", "int32"}}, 3000000000),
            "FieldValueInvalid <nil>: Invalid value: \"\": Checked value must be of type integer "
            "with format int32 in x\n");
}

TEST(Validate, ChecksStrings) {
  EXPECT_EQ(wrong({{"type", "string"}, {"minLength", 1}}, ""),
            "FieldValueInvalid x: Invalid value: \"\": x in body should be at least 1 chars "
            "long\n");
  EXPECT_EQ(wrong({{"type", "string"}, {"maxLength", 2}}, "abc"),
            "FieldValueTooLong x: Too long: may not be more than 2 bytes\n");
  EXPECT_EQ(wrong({{"type", "string"}, {"maxLength", 1}}, "\xC3\xA9"), "");
  EXPECT_EQ(wrong({{"type", "string"}, {"pattern", "^a+$"}}, "ab"),
            "FieldValueInvalid x: Invalid value: \"ab\": x in body should match '^a+$'\n");
}

TEST(Validate, ChecksFormats) {
  const auto fits = [](const char* format, const char* text) {
    return wrong({{"type", "string"}, {"format", format}}, text).empty();
  };
  EXPECT_TRUE(fits("date-time", "2026-01-02T03:04:05Z"));
  EXPECT_TRUE(fits("date-time", "2026-01-02T03:04:05.25+01:00"));
  EXPECT_TRUE(fits("date-time", "2026-01-02T03:04:05x25+99:99"));
  EXPECT_FALSE(fits("date-time", "2016-12-31T23:59:60Z"));
  EXPECT_FALSE(fits("date-time", "2026-13-02T03:04:05Z"));
  EXPECT_FALSE(fits("date-time", "yesterday"));
  EXPECT_TRUE(fits("ipv4", "10.0.0.1"));
  EXPECT_FALSE(fits("ipv4", "10.0.0.256"));
  EXPECT_TRUE(fits("ipv6", "fd00::1"));
  EXPECT_TRUE(fits("uuid", "6f0a1b2c-0000-4000-8000-000000000001"));
  EXPECT_FALSE(fits("uuid", "6f0a"));
}

TEST(Validate, AValueWithoutItsFormatIsOfAnotherType) {
  EXPECT_EQ(wrong({{"type", "string"}, {"format", "date-time"}}, "yesterday"),
            "FieldValueTypeInvalid x: Invalid value: \"yesterday\": x in body must be of type "
            "date-time: \"yesterday\"\n");
}

TEST(Validate, ChecksListsAndTheirUniqueness) {
  const json strings = {{"type", "array"}, {"items", {{"type", "string"}}}};
  json most_one = strings;
  most_one["maxItems"] = 1;
  EXPECT_EQ(wrong(most_one, json::array({"a", "b"})),
            "FieldValueTooMany x: Too many: 2: must have at most 1 items\n");
  json set = strings;
  set["x-kubernetes-list-type"] = "set";
  EXPECT_EQ(wrong(set, json::array({"a", "b", "a", "b"})),
            "FieldValueDuplicate x[2]: Duplicate value: \"a\"\n"
            "FieldValueDuplicate x[3]: Duplicate value: \"b\"\n");
  EXPECT_EQ(wrong(strings, json::array({"a", "a"})), "");
  EXPECT_NE(wrong(strings, json::array({"a", 1})).find("x[1]"), std::string::npos);
}

TEST(Validate, MapListsAreUniqueByTheirKeys) {
  const json nodes = {
      {"type", "array"},
      {"x-kubernetes-list-type", "map"},
      {"x-kubernetes-list-map-keys", {"name"}},
      {"items",
       {{"type", "object"},
        {"required", {"name"}},
        {"properties", {{"name", {{"type", "string"}}}, {"n", {{"type", "integer"}}}}}}}};
  EXPECT_EQ(wrong(nodes, json::parse(R"([{"name": "a", "n": 1}, {"name": "a", "n": 2}])")),
            "FieldValueDuplicate x[1]: Duplicate value: {\"name\":\"a\"}\n");
}

TEST(Validate, ChecksJunctors) {
  const json port = {{"x-kubernetes-int-or-string", true},
                     {"anyOf", {{{"type", "integer"}}, {{"type", "string"}}}}};
  EXPECT_EQ(wrong(port, 3), "");
  const json one = {{"type", "string"}, {"oneOf", {{{"pattern", "a"}}, {{"pattern", "b"}}}}};
  EXPECT_EQ(wrong(one, "a"), "");
  EXPECT_NE(wrong(one, "ab").find("Found 2 valid alternatives"), std::string::npos);
  EXPECT_EQ(wrong(one, "c"),
            "FieldValueInvalid <nil>: Invalid value: \"\": \"x\" must validate one and only one "
            "schema (oneOf). Found none valid\n"
            "FieldValueInvalid x: Invalid value: \"c\": x in body should match 'a'\n");
  EXPECT_NE(wrong({{"type", "string"}, {"not", {{"pattern", "a"}}}}, "a"), "");
}

TEST(Validate, LeavesAnUnchangedPartAsItIs) {
  const json schema = {
      {"type", "object"},
      {"properties",
       {{"old", {{"type", "string"}, {"maxLength", 1}}}, {"n", {{"type", "integer"}}}}}};
  const json before = {{"old", "too long"}, {"n", 1}};
  const json after = {{"old", "too long"}, {"n", 2}};
  EXPECT_EQ(wrong(schema, after, &before), "");
  EXPECT_NE(wrong(schema, after), "");
}

}  // namespace
}  // namespace cdom::sandbox::schema
