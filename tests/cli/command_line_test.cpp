#include "cli/command_line.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/refusal.h"
#include "cli/variable.h"

namespace cdom::cli {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

struct Fields {
  std::string listen = ":8080", file, mode = "one";
  int seats = 8;
  std::int64_t slots = 18;
  base::Duration period = 90s;
  bool is_on = false, is_off = true;
  std::vector<std::string> folders;
  std::vector<std::uint32_t> users;
  std::set<std::string> namespaces;
};

CommandLine line_of(Fields& f) {
  const Rule short_name{[](const auto& text) { return text.size() < 4; }, "a short name"};
  return {.program = "program",
          .sub_commands = {{"look", "program look"}, {"read", "program read FILE…", true}},
          .flags = {{"listen", "TEST_LISTEN", text(f.listen, "ADDRESS:PORT"), ""},
                    {"file", "", path(f.file, "FILE"), "", "look"},
                    {"mode,m", "", choice(f.mode, "MODE", {"one", "two", ""}), ""},
                    {"seats", "TEST_SEATS", number(f.seats, 1, 128, ", as many as there are"), "",
                     "read"},
                    {"slots", "", number(f.slots), ""},
                    {"period", "", duration(f.period), ""},
                    {"on", "TEST_ON", on_off(f.is_on), ""},
                    {"off", "", boolean(f.is_off), ""},
                    {"folder", "", texts(f.folders, "DIR", absolute_path()), ""},
                    {"user", "", numbers(f.users, "ID"), ""},
                    {"namespaces", "", names(f.namespaces, "NAMESPACE,…", short_name), ""}},
          .mistake = [&f](const std::string& sub_command) -> std::string {
            return sub_command == "look" && f.file.empty() ? "--file: missing" : "";
          }};
}

Fields fields_of(const std::vector<std::string>& arguments) {
  Fields fields;
  EXPECT_EQ(refusal(arguments, line_of(fields)), "");
  return fields;
}

std::string refusal(const std::vector<std::string>& arguments) {
  Fields fields;
  return refusal(arguments, line_of(fields));
}

TEST(CommandLine, FillsTheFieldsOfItsRows) {
  const Fields fields =
      fields_of({"--seats=128", "-m", "two", "--period", "2h", "--on", "--off=no", "--folder=/a",
                 "--user=7", "--folder", "/b", "--user", "0", "--namespaces", "b, a,"});
  EXPECT_EQ(fields.seats, 128);
  EXPECT_EQ(fields.mode, "two");
  EXPECT_EQ(fields.period, 2h);
  EXPECT_TRUE(fields.is_on);
  EXPECT_FALSE(fields.is_off);
  EXPECT_THAT(fields.folders, ElementsAre("/a", "/b"));
  EXPECT_THAT(fields.users, ElementsAre(7, 0));
  EXPECT_THAT(fields.namespaces, ElementsAre("a", "b"));
}

TEST(CommandLine, TakesAnEmptyValueForOneThatIsEmpty) {
  EXPECT_EQ(fields_of({}).listen, ":8080");
  EXPECT_EQ(fields_of({"--listen=:1"}).listen, ":1");
  EXPECT_EQ(fields_of({"--listen="}).listen, "");
  EXPECT_EQ(fields_of({"--listen", ""}).listen, "");
  EXPECT_EQ(fields_of({"--mode="}).mode, "");
  EXPECT_EQ(fields_of({"--file="}).file, "");  // as it is by default
  EXPECT_THAT(refusal({"--listen"}), HasSubstr("'--listen'"));
}

TEST(CommandLine, ReadsDurations) {
  EXPECT_EQ(fields_of({"--period=250ms"}).period, 250ms);
  EXPECT_EQ(fields_of({"--period=0"}).period, 0s);
  EXPECT_EQ(fields_of({"--period=5m"}).period, 5min);
  for (const char* text : {"5", "s", "-1s", "1000001s", "1.5s", "5 s", ""}) {
    EXPECT_EQ(refusal({"--period", text}),
              base::cat("program: --period: \"", text,
                        "\" is not a duration such as 30s or 500ms (see program --help)\n"));
  }
  Fields fields;
  const auto shown = [&](base::Duration value) {
    fields.period = value;
    return duration(fields.period).by_default;
  };
  EXPECT_EQ(shown(0s), "0s");
  EXPECT_EQ(shown(90s), "90s");
  EXPECT_EQ(shown(120s), "2m");
  EXPECT_EQ(shown(1500ms), "1500ms");
}

TEST(CommandLine, SaysInOneLineWhatIsWrongWithWhichFlag) {
  const auto says = [](const std::string& argument, const std::string& what) {
    const std::string flag = argument.substr(0, argument.find('='));
    EXPECT_EQ(refusal({argument}),
              base::cat("program: ", flag, ": ", what, " (see program --help)\n"));
  };
  says("--seats=0", "0 is not from 1 to 128, as many as there are");
  says("--seats=129", "129 is not from 1 to 128, as many as there are");
  says("--seats=99999999999", "99999999999 is not from 1 to 128, as many as there are");
  says("--seats=x", "\"x\" is not a whole number from 1 to 128");
  says("--user=-1", "-1 is not from 0 to 4294967295");
  says("--user=-", "\"-\" is not a whole number from 0 to 4294967295");
  says("--mode=three", "\"three\" is neither one nor two");
  says("--log-level=loud", "\"loud\" is none of debug, info, warning, error, off");
  says("--log-format=xml", "\"xml\" is neither text nor json");
  says("--file=a", "\"a\" is not an absolute path");
  says("--folder=a", "\"a\" is not an absolute path");
  says("--on=maybe", "\"maybe\" is neither true nor false");
  says("--namespaces=a,long", "\"long\" is not a short name");
  EXPECT_THAT(refusal({"--colour"}), HasSubstr("'--colour'"));
  EXPECT_THAT(refusal({"--seats=1", "--seats=2"}), HasSubstr("more than once"));
}

TEST(CommandLine, ComesFromTheEnvironmentWhereAFlagIsNotGiven) {
  const Variable listen("TEST_LISTEN", ""), seats("TEST_SEATS", "129"), on("TEST_ON", "true");
  EXPECT_EQ(refusal({}),
            "program: TEST_SEATS: 129 is not from 1 to 128, as many as there are (see program "
            "--help)\n");
  const Fields fields = fields_of({"--seats=3", "--on=false"});
  EXPECT_EQ(fields.listen, "");
  EXPECT_EQ(fields.seats, 3);
  EXPECT_FALSE(fields.is_on);
}

TEST(CommandLine, ASwitchLeavesTheNextWordToTheSubCommand) {
  Fields fields;
  const Parsed parsed = parse({"read", "--on", "a", "--seats=3"}, line_of(fields));
  EXPECT_FALSE(parsed.exit_code);
  EXPECT_THAT(parsed.arguments, ElementsAre("a"));
  EXPECT_TRUE(fields.is_on);
  EXPECT_FALSE(fields_of({"--on", "false"}).is_on);
  EXPECT_TRUE(fields_of({"--on", "--seats=3"}).is_on);
}

TEST(CommandLine, AnEmptyVariableLeavesASwitchOff) {
  const Variable on("TEST_ON", "");
  EXPECT_FALSE(fields_of({}).is_on);
  EXPECT_TRUE(fields_of({"--on"}).is_on);
  EXPECT_THAT(refusal({"--on="}), HasSubstr("--on: \"\" is neither true nor false"));
}

TEST(CommandLine, KnowsItsSubCommands) {
  Fields fields;
  const Parsed parsed = parse({"read", "--seats=3", "a", "b"}, line_of(fields));
  EXPECT_EQ(parsed.sub_command, "read");
  EXPECT_THAT(parsed.arguments, ElementsAre("a", "b"));
  EXPECT_EQ(fields.seats, 3);
  EXPECT_EQ(refusal({"look", "--file=/a"}), "");
  EXPECT_EQ(refusal({"look", "--file=/a", "--seats=3"}), "");
  CommandLine strict = line_of(fields);
  strict.refuses_unread_flags = true;
  EXPECT_EQ(refusal({"look", "--file=/a", "--seats=3"}, strict),
            "program look: --seats is not a flag of `look`: leave it out (see program look "
            "--help)\n");
  const Variable seats("TEST_SEATS", "3");
  EXPECT_EQ(refusal({"look", "--file=/a"}, strict), "") << "which is there for all";
  EXPECT_EQ(refusal({"look"}), "program look: --file: missing (see program look --help)\n");
  EXPECT_EQ(refusal({"lok"}),
            "program: \"lok\" is not a sub-command; try `look` or `read` (see program --help)\n");
  EXPECT_EQ(refusal({"lok", "at"}),
            "program: \"lok\" is not a sub-command; try `look` or `read` (see program --help)\n");
  EXPECT_EQ(refusal({"look", "at", "this"}),
            "program look: it takes no argument: at this (see program look --help)\n");
}

}  // namespace
}  // namespace cdom::cli
