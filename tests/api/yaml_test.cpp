#include <gmock/gmock.h>

#include "compute_domain/api/codec.h"
#include "compute_domain/base/text.h"

namespace cdom::api {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

// The JSON of the member `v` of an object, as `value` is written in YAML.
std::string resolved(std::string_view value) {
  const auto objects = objects_in_yaml(base::cat("apiVersion: v1\nkind: K\nv: ", value), "f");
  if (!objects) return objects.error().message;
  const std::string& whole = objects->front();
  const auto start = whole.find("\"v\":") + 4;
  return whole.substr(start, whole.size() - start - 1);
}

std::string yaml_error(std::string_view yaml) {
  const auto objects = objects_in_yaml(yaml, "f.yaml");
  return objects ? "no error" : objects.error().message;
}

TEST(Yaml, ResolvesPlainScalarsAsKubectlDoes) {
  EXPECT_EQ(resolved("yes"), "true");
  EXPECT_EQ(resolved("Off"), "false");
  EXPECT_EQ(resolved("~"), "null");
  EXPECT_EQ(resolved(""), "null");
  EXPECT_EQ(resolved("12"), "12");
  EXPECT_EQ(resolved("-7"), "-7");
  EXPECT_EQ(resolved("010"), "8");
  EXPECT_EQ(resolved("0x1F"), "31");
  EXPECT_EQ(resolved("1_000"), "1000");
  EXPECT_EQ(resolved("1.5"), "1.5");
  EXPECT_EQ(resolved("1e3"), "1000");
  EXPECT_EQ(resolved("9223372036854775807"), "9223372036854775807");
}

TEST(Yaml, LeavesTextText) {
  EXPECT_EQ(resolved("\"yes\""), "\"yes\"");
  EXPECT_EQ(resolved("'12'"), "\"12\"");
  EXPECT_EQ(resolved("!!str 12"), "\"12\"");
  EXPECT_EQ(resolved("400G"), "\"400G\"");
  EXPECT_EQ(resolved("1.2.3"), "\"1.2.3\"");
  EXPECT_EQ(resolved("2026-01-02"), "\"2026-01-02\"");
  EXPECT_EQ(resolved("10:30"), "\"10:30\"");
  EXPECT_EQ(resolved("tRUE"), "\"tRUE\"");
  EXPECT_EQ(resolved("|\n  a\n  b\n"), R"("a\nb\n")");
}

TEST(Yaml, GivesEachDocumentAndEachItemOfAList) {
  const auto objects = objects_in_yaml(R"(# a comment alone makes no object
---
apiVersion: v1
kind: Node
---
apiVersion: v1
kind: List
items:
- {apiVersion: v1, kind: Pod}
- {apiVersion: v1, kind: ConfigMap}
---
apiVersion: resource.nvidia.com/v1beta1
kind: ComputeDomainList
items:
- metadata: {name: a}
)",
                                       "f");
  ASSERT_TRUE(objects) << objects.error().message;
  EXPECT_THAT(
      *objects,
      ElementsAre(
          R"({"apiVersion":"v1","kind":"Node"})", R"({"apiVersion":"v1","kind":"Pod"})",
          R"({"apiVersion":"v1","kind":"ConfigMap"})",
          R"({"apiVersion":"resource.nvidia.com/v1beta1","kind":"ComputeDomain","metadata":{"name":"a"}})"));
}

TEST(Yaml, TakesJsonToo) {
  EXPECT_THAT(*objects_in_yaml(R"( {"apiVersion":"v1","kind":"Pod","n":1} )", "f"),
              ElementsAre(R"({"apiVersion":"v1","kind":"Pod","n":1})"));
}

TEST(Yaml, FindsNothingInAnEmptyFile) { EXPECT_THAT(*objects_in_yaml("", "f"), IsEmpty()); }

TEST(Yaml, ResolvesAliasesAndMergeKeys) {
  const auto objects = objects_in_yaml(R"(apiVersion: v1
kind: K
base: &base {a: 1, b: 2}
v: {<<: *base, b: 3}
)",
                                       "f");
  ASSERT_TRUE(objects) << objects.error().message;
  EXPECT_THAT(objects->front(), HasSubstr(R"("v":{"a":1,"b":3})"));
}

TEST(Yaml, NamesFileLineAndProblem) {
  EXPECT_THAT(yaml_error("apiVersion: v1\nkind: Pod\nspec: {a: [1}\n"), HasSubstr("f.yaml:3: "));
  EXPECT_EQ(yaml_error("apiVersion: v1\nkind: Pod\nkind: Node\n"),
            "f.yaml:3: duplicate key \"kind\"");
  EXPECT_EQ(yaml_error("---\napiVersion: v1\nkind: Pod\n---\nhello\n"),
            "f.yaml:5: apiVersion and kind are required: this is not a Kubernetes object");
  EXPECT_EQ(yaml_error("apiVersion: v1\nkind: Pod\nspec: .inf\n"),
            "f.yaml:3: .inf cannot be written in JSON");
}

TEST(Yaml, WeighsWhatAnAliasRepeatsByItsBytes) {
  std::string text = "kind: K\napiVersion: v1\na: &a \"" + std::string(20'000, 'x') + "\"\nb: [*a";
  for (int i = 0; i < 5'000; ++i) text += ",*a";
  EXPECT_THAT(yaml_error(text + "]"), HasSubstr("too large"));
}

TEST(Yaml, WeighsTheCopyThatEachOfManyAnchorsKeeps) {
  std::string text = "kind: K\napiVersion: v1\na: ";
  for (int i = 0; i < 150; ++i) text += "&a" + std::to_string(i) + " [";
  text += '"' + std::string(20'000, 'x') + '"' + std::string(150, ']');
  EXPECT_THAT(yaml_error(text), HasSubstr("too large"));
}

TEST(Yaml, BoundsWhatAliasesCanMean) {
  std::string bomb = "apiVersion: v1\nkind: K\na0: &a0 [x]\n";
  for (int i = 1; i < 30; ++i) {
    bomb += base::cat("a", i, ": &a", i, " [*a", i - 1, ", *a", i - 1, "]\n");
  }
  EXPECT_THAT(yaml_error(bomb), HasSubstr("too large"));
  EXPECT_THAT(yaml_error("apiVersion: v1\nkind: K\na: &a [*a]\n"), HasSubstr("f.yaml"));
}

TEST(Yaml, IsOneDocumentOfAnyShapeWhereThatIsAskedFor) {
  EXPECT_EQ(*json_in_yaml("a: [1, x]", "f"), R"({"a":[1,"x"]})");
  EXPECT_EQ(*json_in_yaml(R"( {"a": 1})", "f"), R"({"a":1})");
  EXPECT_THAT(json_in_yaml("a: 1\n---\nb: 2", "f.yaml").error().message,
              HasSubstr("one document is expected"));
  EXPECT_THAT(json_in_yaml("# nothing", "f.yaml").error().message,
              HasSubstr("f.yaml:1: it is empty"));
}

}  // namespace
}  // namespace cdom::api
