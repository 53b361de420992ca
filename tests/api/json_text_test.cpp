#include "api/json_text.h"

#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

namespace cdom::api {
namespace {

using ::testing::HasSubstr;

const Wanted kEverything{.everything = true, .members = {}};
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
  const std::string deep = std::string(300, '[') + std::string(300, ']');
  EXPECT_EQ(some_of(R"({"spec":)" + deep + "}"), "JSON is nested more than 200 levels deep");
  EXPECT_EQ(some_of(deep), "JSON is nested more than 200 levels deep");
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
