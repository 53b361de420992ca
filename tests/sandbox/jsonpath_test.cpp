#include "sandbox/text/jsonpath.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace cdom::sandbox {
namespace {

using nlohmann::json;

const json kObject = json::parse(R"({"metadata": {"name": "a",
      "annotations": {"example.com/x": "dotted"}},
    "spec": {"ports": [{"n": 1, "name": "http"}, {"n": 2}]},
    "status": {"conditions": [{"type": "Valid", "status": "False"},
                              {"type": "Ready", "status": "True"}]}})");

std::string found(std::string_view path) {
  const auto parsed = JsonPath::parse(path);
  if (!parsed) return parsed.error().message;
  std::string out;
  for (const json* value : parsed->find(kObject)) out += value->dump() + ";";
  return out;
}

TEST(JsonPath, FollowsNamesAndIndexes) {
  EXPECT_EQ(found(".metadata.name"), "\"a\";");
  EXPECT_EQ(found("{.metadata.name}"), "\"a\";");
  EXPECT_EQ(found("$.metadata['name']"), "\"a\";");
  EXPECT_EQ(found(".spec.ports[1].n"), "2;");
  EXPECT_EQ(found(".spec.ports[-1].n"), "2;");
  EXPECT_EQ(found(".spec.ports[*].n"), "1;2;");
  EXPECT_EQ(found(R"(.metadata.annotations.example\.com/x)"), "\"dotted\";");
  EXPECT_EQ(found(R"(.metadata.annotations['example\.com/x'])"), "\"dotted\";");
}

// As k8s.io/client-go's util/jsonpath: a name in brackets is a path, and a union finds what each of
// its paths does, in their order.
TEST(JsonPath, FindsWhatEachPathOfAUnionFinds) {
  EXPECT_EQ(found(".metadata['nothing.here','name']"), "\"a\";");
  EXPECT_EQ(found("['metadata.name', 'spec.nothing','metadata.name']"), "\"a\";\"a\";");
  EXPECT_EQ(found(".metadata.annotations['example.com/x']"), "");
}

TEST(JsonPath, FiltersByOneComparison) {
  EXPECT_EQ(found(R"(.status.conditions[?(@.type=="Ready")].status)"), "\"True\";");
  EXPECT_EQ(found(".status.conditions[?(@.type == 'Ready')].status"), "\"True\";");
  EXPECT_EQ(found(".status.conditions[?(@.type!='Ready')].status"), "\"False\";");
  EXPECT_EQ(found(".spec.ports[?(@.n>1)].n"), "2;");
  EXPECT_EQ(found(".spec.ports[?(@.name)].n"), "1;");
  EXPECT_EQ(found(".status.conditions[?(@.type=='x]y')].status"), "");
}

TEST(JsonPath, FindsNothingWhereNothingIs) {
  EXPECT_EQ(found(".status.nodes[0].name"), "");
  EXPECT_EQ(found(".metadata.name.x"), "");
  EXPECT_EQ(found(".spec.ports[9]"), "");
}

TEST(JsonPath, RefusesWhatItDoesNotUnderstand) {
  for (const char* path : {"..name", ".spec.ports[0:1]", ".a[", ".a[?(type=='x')]", ".a[?(@.b==c)]",
                           ".a.", ".a['b]", ".a['b',1]", ".a[\"b\"]"}) {
    EXPECT_FALSE(JsonPath::parse(path)) << path;
  }
}

}  // namespace
}  // namespace cdom::sandbox
