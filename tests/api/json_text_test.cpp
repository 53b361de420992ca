#include "api/json/json_text.h"

#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

namespace cdom::api {
namespace {

using ::testing::HasSubstr;

const Wanted kEverything{.everything = true};
// What "status.conditions[type=Ready].status" and "metadata" of an object come to.
const Wanted kSome{
    .everything = false,
    .members = {{"metadata", kEverything},
                {"status",
                 {.everything = false,
                  .members = {{"conditions",
                               {.everything = false,
                                .members = {{"type", kEverything}, {"status", kEverything}}}}}}}}};

std::string some_of(const std::string& text) {
  const auto json = parse_json(text, kSome);
  return json ? text_of(*json) : json.error().message;
}

TEST(JsonText, LeavesOutWhatIsNotWanted) {
  EXPECT_EQ(some_of(R"({"spec":{"a":[{"b":[]},[1,"x",null]]},"metadata":{"name":"n","x":[{}]},
                        "status":{"images":[{"names":["a","b"]}],"n":-1.5e3,"conditions":[
                          {"message":{"deep":[[{}]]},"type":"Ready","status":"True"},
                          {"type":"Other"}]},"last":true})"),
            R"({"metadata":{"name":"n","x":[{}]},"status":{"conditions":[)"
            R"({"status":"True","type":"Ready"},{"type":"Other"}]}})");
  EXPECT_EQ(some_of(R"({"spec":1})"), "{}");
  EXPECT_EQ(some_of("[1,[2]]"), "[1,[2]]");
}

TEST(JsonText, TakesTheLastOfMembersWithOneName) {
  EXPECT_EQ(some_of(R"({"metadata":{"a":1},"metadata":[{"b":2}],"spec":1,"spec":2})"),
            R"({"metadata":[{"b":2}]})");
}

TEST(JsonText, ChecksAlsoWhatItLeavesOut) {
  EXPECT_THAT(some_of(R"({"spec":{"a":tru}})"), HasSubstr("not JSON: parse error at line 1"));
  EXPECT_THAT(some_of(R"({"spec":[1,2})"), HasSubstr("not JSON"));
  EXPECT_THAT(some_of(R"({"spec":1)"), HasSubstr("not JSON"));
}

TEST(JsonText, BoundsTheDepthOfWhatItKeepsAndOfNothingElse) {
  const std::string deep = std::string(100'000, '[') + std::string(100'000, ']');
  EXPECT_EQ(some_of(R"({"spec":)" + deep + R"(,"metadata":1})"), R"({"metadata":1})");
  EXPECT_EQ(some_of(deep), "JSON is nested more than 1000 levels deep");
  EXPECT_EQ(some_of(R"({"metadata":)" + deep + "}"), "JSON is nested more than 1000 levels deep");
}

// What an API server has taken it hands on.
TEST(JsonText, TakesWhatGoTakes) {
  const auto text = [](const std::string& json) {
    const auto parsed = parse_json(json);
    return parsed ? text_of(*parsed) : parsed.error().message;
  };
  EXPECT_EQ(text(R"(["\ud800","\udc00x","\ud83d\ude00","\ud800\n","\ud800\u0041"])"),
            "[\"\uFFFD\",\"\uFFFDx\",\"\U0001F600\",\"\uFFFD\\n\",\"\uFFFDA\"]");
  EXPECT_EQ(text("\"a\xff\xc3(\xed\xa0\x80\""), "\"a\uFFFD\uFFFD(\uFFFD\uFFFD\uFFFD\"");
  EXPECT_EQ(text(R"("\u0000\/\b\f\n\r\t\\\"")"), R"("\u0000/\b\f\n\r\t\\\"")");
  EXPECT_EQ(text("[-1,18446744073709551615,1.5,1e-999,0]"), "[-1,18446744073709551615,1.5,0.0,0]");
  EXPECT_EQ(text("[1e999]"), "the number 1e999 is too large");
  EXPECT_EQ(some_of(R"({"spec":1e999,"metadata":0})"), R"({"metadata":0})");
}

TEST(JsonText, RefusesWhatGoRefuses) {
  for (const char* text : {"",
                           " ",
                           "[1,]",
                           "{\"a\":1,}",
                           "{\"a\"}",
                           "{a:1}",
                           "'a'",
                           "01",
                           "1.",
                           ".5",
                           "+1",
                           "-",
                           "1e",
                           "\"\t\"",
                           "\"\\x\"",
                           "\"\\u12g4\"",
                           "\"a",
                           "nul",
                           "truex",
                           "[1 2]",
                           "[1]]",
                           "1 2",
                           "\xEF\xBB\xBF 1",
                           "NaN",
                           "//\n1",
                           "{\"a\":1]",
                           "[}"}) {
    EXPECT_THAT(some_of(text), HasSubstr("not JSON: parse error at line ")) << text;
  }
}

TEST(JsonText, KeepsAsTextWhatIsWantedSo) {
  const Wanted wanted{.members = {{"a", {.as_text = true}}}};
  const auto json = parse_json("{\"a\": {\"x\":1, \"x\": [\"\xff\", 1e999]} ,\"b\":2}", wanted);
  ASSERT_TRUE(json);
  EXPECT_EQ((*json)["a"].get<std::string>(), "{\"x\":1, \"x\": [\"\xff\", 1e999]}");
  EXPECT_EQ(json->size(), 1U);
}

TEST(JsonText, LeavesOutManagedFieldsOfMetadataOnly) {
  const std::string text =
      R"({"metadata":{"managedFields":[{"a":{}}],"name":"n"},"managedFields":1})";
  const auto json = parse_json(text);
  ASSERT_TRUE(json);
  EXPECT_EQ(text_of(*json), R"({"managedFields":1,"metadata":{"name":"n"}})");
}

}  // namespace
}  // namespace cdom::api
