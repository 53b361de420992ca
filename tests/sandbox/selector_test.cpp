#include "sandbox/text/selector.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace cdom::sandbox {
namespace {

using nlohmann::json;

bool selects(std::string_view selector, const json& labels) {
  return LabelSelector::parse(selector).value().matches(labels);
}

TEST(LabelSelector, EmptyMatchesEverything) {
  EXPECT_TRUE(selects("", nullptr));
  EXPECT_TRUE(selects(" ", {{"a", "b"}}));
}

TEST(LabelSelector, UnderstandsEveryForm) {
  const json labels = {{"app", "imex"}, {"tier", "node"}, {"n", "5"}};
  for (const char* text :
       {"app=imex", "app==imex", "app!=x", "app in (x, imex)", "app notin (x,y)", "app", "!gone",
        "gone!=x", "gone notin (x)", "n>4", "n<6", "app=imex,tier=node , n"}) {
    EXPECT_TRUE(selects(text, labels)) << text;
  }
  for (const char* text : {"app=x", "app!=imex", "app in (x)", "app notin (imex)", "gone", "!app",
                           "n>5", "gone>1", "app=imex,tier=x"}) {
    EXPECT_FALSE(selects(text, labels)) << text;
  }
}

TEST(LabelSelector, EmptyValueIsAValue) {
  EXPECT_TRUE(selects("clique=", {{"clique", ""}}));
  EXPECT_FALSE(selects("clique=", {{"clique", "a.1"}}));
  EXPECT_FALSE(selects("clique=", json::object()));
  EXPECT_TRUE(selects("clique in (,x)", {{"clique", ""}}));
}

TEST(LabelSelector, KeysMayHaveAPrefix) {
  EXPECT_TRUE(selects("resource.nvidia.com/computeDomain=u1",
                      {{"resource.nvidia.com/computeDomain", "u1"}}));
}

TEST(LabelSelector, RefusesWhatItCannotParse) {
  for (const char* text : {"a in x", "a in (x", "a=b,", "=b", "a b", "-a=b", "a=b$", "n>x", "!"}) {
    EXPECT_FALSE(LabelSelector::parse(text)) << text;
  }
}

TEST(LabelSelector, WordsItsRefusalsAsTheApiServerDoes) {
  const auto refusal = [](std::string_view text) {
    return LabelSelector::parse(text).error().message;
  };
  EXPECT_EQ(refusal("a in x"), "unable to parse requirement: found 'x' expected: '('");
  EXPECT_EQ(refusal("a=b,"), "found '', expected: identifier after ','");
  EXPECT_EQ(refusal("=b"), "found '=', expected: !, identifier, or 'end of string'");
  EXPECT_EQ(refusal("a=b=c"), "found '=', expected: ',' or 'end of string'");
  EXPECT_EQ(refusal("a b"),
            "unable to parse requirement: found 'b', expected: in, notin, =, ==, !=, gt, lt");
}

TEST(LabelSelector, ReadsTheObjectForm) {
  const auto selector = LabelSelector::from_object(
      {{"matchLabels", {{"app", "imex"}}},
       {"matchExpressions",
        {{{"key", "x"}, {"operator", "DoesNotExist"}},
         {{"key", "n"}, {"operator", "In"}, {"values", json::array({"1", "2"})}}}}});
  ASSERT_TRUE(selector) << selector.error().message;
  EXPECT_TRUE(selector->matches({{"app", "imex"}, {"n", "2"}}));
  EXPECT_FALSE(selector->matches({{"app", "imex"}, {"n", "2"}, {"x", ""}}));
  EXPECT_FALSE(selector->matches({{"n", "2"}}));
}

TEST(LabelSelector, RefusesObjectFormsThatContradictThemselves) {
  for (const json& expression :
       {json{{"key", "a"}, {"operator", "In"}}, json{{"key", "a"}, {"operator", "Near"}},
        json{{"key", "a"}, {"operator", "Exists"}, {"values", {"x"}}}}) {
    EXPECT_FALSE(LabelSelector::from_object({{"matchExpressions", {expression}}})) << expression;
  }
}

const std::vector<std::string> kAllowed{"metadata.name", "spec.nodeName", "spec.n"};

bool field_selects(std::string_view selector, const json& object) {
  return FieldSelector::parse(selector, kAllowed).value().matches(object);
}

TEST(FieldSelector, ComparesFieldsAsText) {
  const json pod = {{"metadata", {{"name", "p"}}}, {"spec", {{"n", 3}}}};
  EXPECT_TRUE(field_selects("", pod));
  EXPECT_TRUE(field_selects("metadata.name=p,spec.n==3", pod));
  EXPECT_TRUE(field_selects("spec.nodeName!=n1", pod));
  EXPECT_TRUE(field_selects("spec.nodeName=", pod));
  EXPECT_FALSE(field_selects("metadata.name!=p", pod));
}

TEST(FieldSelector, UnescapesValues) {
  EXPECT_TRUE(field_selects(R"(metadata.name=a\,b\=c\\)", {{"metadata", {{"name", "a,b=c\\"}}}}));
  EXPECT_FALSE(FieldSelector::parse(R"(metadata.name=a\x)", kAllowed));
}

TEST(FieldSelector, NamesAFieldThatIsNotSupported) {
  const auto selector = FieldSelector::parse("spec.x=1", kAllowed);
  ASSERT_FALSE(selector);
  EXPECT_EQ(selector.error().message, "field label not supported: spec.x");
  EXPECT_FALSE(FieldSelector::parse("metadata.name", kAllowed));
}

}  // namespace
}  // namespace cdom::sandbox
