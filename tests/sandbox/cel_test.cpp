#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "compute_domain/base/text.h"
#include "sandbox/cel/program.h"

namespace cdom::sandbox::cel {
namespace {

using nlohmann::json;

const json kSelf = {{"name", "train"},
                    {"n", 3},
                    {"big", 9007199254740993},
                    {"half", 0.5},
                    {"on", true},
                    {"tags", json::array({"a", "b"})},
                    {"none", nullptr},
                    {"spec", {{"x", 1}}},
                    {"empty", json::object()}};

base::Result<Value> evaluate(std::string_view expression) {
  const auto program = compile(expression, {"self", "oldSelf"});
  if (!program) return program.error();
  return program->evaluate({{"self", Value::from_json(kSelf)}});
}

// The value of an expression, or its error, as text to compare with.
std::string outcome(std::string_view expression) {
  const auto value = evaluate(expression);
  if (!value) return value.error().message;
  if (const bool* flag = value->get_if<bool>()) return *flag ? "true" : "false";
  if (const auto* number = value->get_if<std::int64_t>()) return std::to_string(*number);
  if (const std::string* text = value->text()) return *text;
  return std::string(value->type_name());
}

void expect_true(std::initializer_list<const char*> expressions) {
  for (const char* expression : expressions) EXPECT_EQ(outcome(expression), "true") << expression;
}

TEST(Cel, ReadsLiterals) {
  expect_true({"1 == 1u", "1 == 1.0", "0x1F == 31", "-0x10 == -16", "1.5e3 == 1500.0",
               "-9223372036854775808 < 0", "'a' == \"a\"", "null == self.none", "[1, 2][1] == 2",
               "{'a': 1}.a == 1", "{'a': 1}['a'] == 1", "[1, 2,] == [1, 2]"});
}

TEST(Cel, ReadsStringsWithEscapesAndRaw) {
  EXPECT_EQ(outcome(R"('a\'b\n\x41\u00e9\101')"),
            "a'b\nA\xC3\xA9"
            "A");
  EXPECT_EQ(outcome(R"(r'a\d')"), "a\\d");
  EXPECT_EQ(outcome("'''a\n'b'''"), "a\n'b");
}

TEST(Cel, FollowsOperatorRanks) {
  expect_true({"1 + 2 * 3 == 7", "(1 + 2) * 3 == 9", "10 - 2 - 3 == 5", "7 % 4 / 3 == 1",
               "!false && true", "false || true && true", "1 < 2 == true", "true ? true : false",
               "false ? 1 : true ? true : 2", "!!true", "- self.n == -3", "'a' + 'b' == 'ab'",
               "[1] + [2] == [1, 2]", "1 in [1, 2]", "!('x' in self)", "'name' in self"});
}

TEST(Cel, ComparesLargeNumbersExactly) {
  expect_true({"self.big == 9007199254740993", "self.big != 9007199254740992.0",
               "18446744073709551615u > 9223372036854775807", "-1 < 0u", "0.5 < 1", "'a' < 'b'",
               "[1.0] == [1]", "{'a': 1} == {'a': 1u}", "'1' != 1"});
}

TEST(Cel, SelectsAndAsksForFields) {
  expect_true({"self.spec.x == 1", "self['spec']['x'] == 1", "has(self.spec)", "!has(self.gone)",
               "has(self.none)", "!has(self.spec.gone)", "size(self.tags) == 2",
               "self.tags.size() == 2", "size('\xC3\xA9') == 1"});
}

TEST(Cel, ReportsRuntimeErrorsInsteadOfFalse) {
  EXPECT_EQ(outcome("self.gone == 1"), "no such key: gone");
  EXPECT_EQ(outcome("self.tags[2]"), "index out of bounds: 2");
  EXPECT_EQ(outcome("1 / 0"), "division by zero");
  EXPECT_EQ(outcome("9223372036854775807 + 1"), "integer overflow");
  EXPECT_EQ(outcome("1 + 1.0"), "no such overload: +(int, double)");
  EXPECT_EQ(outcome("self.n.x"), "no such overload: field or index 'x'(int)");
  EXPECT_EQ(outcome("int('x')"), "type conversion error from 'x' to int");
  EXPECT_EQ(outcome("'1' < 1"), "no such overload: <(string, int)");
}

TEST(Cel, ADecisiveSideWinsOverTheOthersError) {
  for (const char* expression : {"false && self.gone", "self.gone && false", "!(true || self.gone)",
                                 "!(self.gone || true)"}) {
    EXPECT_EQ(outcome(expression), "false") << expression;
  }
  EXPECT_EQ(outcome("true && self.gone"), "no such key: gone");
  EXPECT_EQ(outcome("self.gone || false"), "no such key: gone");
  EXPECT_EQ(outcome("false ? self.gone : 'fine'"), "fine");
}

TEST(Cel, GoesOverListsAndMapsWithMacros) {
  expect_true({"self.tags.all(t, t < 'c')", "self.tags.exists(t, t == 'b')",
               "self.tags.exists_one(t, t == 'b')", "!self.tags.exists_one(t, t != 'x')",
               "self.tags.map(t, t + '!') == ['a!', 'b!']", "[1, 2, 3].filter(i, i > 1) == [2, 3]",
               "[1, 2, 3].map(i, i > 1, i * 2) == [4, 6]", "{'a': 1}.all(k, k == 'a')",
               "[[1], [2]].all(x, x.all(y, y < 3))", "[].all(x, self.gone)",
               "self.tags.exists(t, t == 'a' || self.gone)"});
  EXPECT_EQ(outcome("self.tags.all(t, self.gone)"), "no such key: gone");
}

TEST(Cel, MacroVariablesShadowAndEnd) {
  expect_true({"[1].all(self, self == 1) && self.n == 3", "cel.bind(x, self.n + 1, x * x) == 16",
               "cel.bind(x, self.gone, true)"});
  EXPECT_FALSE(compile("[1].all(x, true) && x == 1", {"self"}));
}

TEST(Cel, OptionalsChainAndFallBack) {
  expect_true(
      {"self.?spec.?x.orValue(0) == 1", "self.?spec.x.orValue(0) == 1",
       "self.?gone.x.y.orValue(7) == 7", "!self.?gone.hasValue()", "self[?'spec'].hasValue()",
       "self.tags[?5].orValue('none') == 'none'", "self.?n.optMap(v, v + 1).orValue(0) == 4",
       "self.?gone.optMap(v, v + 1).orValue(0) == 0", "self.?gone.or(self.?n).value() == 3",
       "self.?n.orValue(self.gone) == 3", "self.?spec.optFlatMap(s, s.?x).hasValue()",
       "!optional.none().hasValue()", "optional.of(1) == optional.of(1)", "has(self.?spec.x)"});
  EXPECT_EQ(outcome("self.?gone.value()"), "optional.none() dereference");
}

TEST(Cel, KnowsTheStringFunctions) {
  expect_true({"'abc'.startsWith('ab')", "'abc'.endsWith('bc')", "'abc'.contains('b')",
               "'n-17'.matches('^n-[0-9]+$')", "matches('xay', 'a')", "!'b'.matches('^a')",
               "'a,b'.split(',') == ['a', 'b']", "'a,b,c'.split(',', 2) == ['a', 'b,c']",
               "'AbC'.lowerAscii() == 'abc'", "'AbC'.upperAscii() == 'ABC'", "' a '.trim() == 'a'",
               "'aXbX'.replace('X', '-') == 'a-b-'", "'abc'.substring(1) == 'bc'",
               "'abc'.substring(1, 2) == 'b'", "'abc'.indexOf('c') == 2",
               "self.tags.join('+') == 'a+b'"});
}

TEST(Cel, ConvertsBetweenTypes) {
  expect_true({"string(3) == '3'", "string(0.5) == '0.5'", "int('-3') == -3", "int(2.9) == 2",
               "uint(3) == 3u", "double('1.5') == 1.5", "bool('true')", "dyn(1) == 1"});
}

TEST(Cel, ComparesQuantitiesAndVersions) {
  expect_true(
      {"quantity('1Gi') == quantity('1024Mi')", "quantity('400G').compareTo(quantity('200G')) > 0",
       "quantity('1').isLessThan(quantity('1500m'))", "isQuantity('5k')",
       "quantity('1').add(2).asInteger() == 3", "semver('1.2.3').compareTo(semver('1.10.0')) < 0",
       "!isSemver('1.0')", "semver('1.0.0-rc.2').isLessThan(semver('1.0.0-rc.10'))",
       "semver('1.0.0-rc.1').isLessThan(semver('1.0.0'))", "semver('4.5.6').minor() == 5"});
}

TEST(Cel, RefusesByNameWhatItDoesNotUnderstand) {
  const auto refusal = [](std::string_view expression) {
    const auto program = compile(expression, {"self"});
    return program ? "compiled" : program.error().message;
  };
  const std::pair<const char*, const char*> cases[] = {
      {"foo == 1", "undeclared reference to 'foo'"},
      {"timestamp('x')", "function 'timestamp' is not supported"},
      {"self.duration()", "function 'duration' is not supported"},
      {"size()", "function 'size' does not take 0 arguments"},
      {"b'x'", "bytes literals"},
      {"self{a: 1}", "message construction"},
      {"{1: 2}", "map keys other than strings"},
      {"[?self.x]", "expected a value"},
      {"has(self)", "has() takes"},
      {"self.matches('(?i)a')", "(? is not supported"},
      {"self ==", "found the end"},
      {"'abc", "no closing quote"},
      {"self # 1", "'#' is not part of CEL"},
      {"99999999999999999999", "beyond the range"},
      {"self.all(1, true)", "a variable's name"},
  };
  for (const auto& [expression, expected] : cases) {
    EXPECT_NE(refusal(expression).find(expected), std::string::npos)
        << expression << ": " << refusal(expression);
  }
}

TEST(Cel, BoundsDepthAndSteps) {
  EXPECT_FALSE(compile(std::string(5000, '(') + "1" + std::string(5000, ')'), {}));
  EXPECT_FALSE(compile(std::string(5000, '!') + "true", {}));
  std::string list = "[0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20]";
  std::string nested = "true";
  for (const char* name : {"a", "b", "c", "d", "e"}) {
    nested = base::cat(list, ".all(", name, ", ", nested, ")");
  }
  EXPECT_EQ(outcome(nested), "the expression takes too many steps");
}

TEST(Cel, TellsWhichVariablesAnExpressionReads) {
  const auto program =
      compile("self.n > oldSelf.n && [1].all(x, x == 1)", {"self", "oldSelf", "y"});
  ASSERT_TRUE(program);
  EXPECT_TRUE(program->reads("oldSelf"));
  EXPECT_FALSE(program->reads("y"));
  EXPECT_FALSE(program->reads("x"));
}

TEST(Cel, AnErrorInAVariableIsSeenOnlyByWhoReadsIt) {
  Map variables;
  variables.entries.emplace("bad", Value::failure({base::ErrorKind::Invalid, "no such key: k"}));
  const Bindings bindings{{"variables", Value(std::move(variables))}};
  EXPECT_TRUE(
      *compile("has(variables.bad) || variables.bad", {"variables"})->evaluate_bool(bindings));
  EXPECT_EQ(compile("variables.bad", {"variables"})->evaluate(bindings).error().message,
            "no such key: k");
}

}  // namespace
}  // namespace cdom::sandbox::cel
