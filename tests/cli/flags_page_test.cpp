// The flags of all programs, and the page that is made from their rows.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>

#include "agent/main/agent_flags.h"
#include "cli/command_line.h"
#include "cli/refusal.h"
#include "compute_domain/base/text.h"
#include "controller/main/controller_flags.h"
#include "imex/main/imex_flags.h"
#include "plugin/main/plugin_flags.h"
#include "sandbox/main/sandbox_flags.h"
#include "source_tree/source_tree.h"

namespace cdom::cli {
namespace {

using base::cat;

constexpr char kPage[] = "docs/reference/flags.md";

// With the fields that the rows have their defaults from.
struct Programs {
  program::ControllerFlags controller;
  program::AgentFlags agent;
  program::ImexFlags imex;
  program::SandboxFlags sandbox;
  program::PluginFlags plugin;
  std::vector<CommandLine> lines{command_line_of(controller), command_line_of(agent),
                                 command_line_of(imex), command_line_of(sandbox),
                                 command_line_of(plugin)};
};

// For a cell of a table.
std::string escaped(const std::string& text) { return base::join(base::split(text, '|'), "\\|"); }

std::string code(const std::string& text) { return text.empty() ? "" : cat("`", text, "`"); }

std::string table_of(const std::vector<Flag>& flags) {
  std::string text =
      "| Flag | Variable | Value | Default | Meaning | Sub-commands |\n|---|---|---|---|---|---|\n";
  for (const Flag& flag : flags) {
    const Value& value = flag.value;
    const bool is_switch = value.form == Value::Form::Switch;
    const bool is_list = value.form == Value::Form::List;
    text +=
        cat("| `--", flag.long_name(), "` | ", code(flag.variable), " | ",
            is_switch             ? "switch"
            : value.range.empty() ? escaped(value.placeholder)
                                  : value.range,
            " | ", is_switch ? "" : code(value.by_default), " | ", escaped(flag.help),
            is_list ? "; may be repeated" : "", " | ", base::join(flag.readers(), ", "), " |\n");
  }
  return text;
}

std::string page() {
  std::string text =
      "# Flags\n\n"
      "Made from the rows in `src/*/main/*_flags.cpp` by `UPDATE=1 test_flags "
      "--gtest_filter=Flags.*`.\n\n"
      "A flag that is not given comes from its environment variable. A *switch* is off unless the "
      "flag is given; its variable is `true` or `false`, or empty, which is off. A duration is "
      "a whole number with its unit, such as `500ms`, `30s`, `5m` or `2h`. *Sub-commands* are "
      "those that read the "
      "flag; their `--help` lists no others.\n";
  Programs programs;
  for (const CommandLine& line : programs.lines) {
    text += cat("\n## ", line.program, "\n\n```\n", line.usage, "\n```\n\n", table_of(line.flags));
  }
  CommonFlags common;
  return cat(text, "\n## Every program\n\n", table_of(rows_of(common)));
}

TEST(Flags, HaveAPageThatIsUpToDate) {
  if (std::getenv("UPDATE") != nullptr) {  // NOLINT(concurrency-mt-unsafe): one thread
    std::ofstream(source_tree() / kPage) << page();
  }
  EXPECT_TRUE(source_text(kPage) == page()) << kPage << ": run test_flags with UPDATE=1";
}

TEST(Flags, AreThereOnceWithAHelpAndADefaultThatTheyTake) {
  Programs programs;
  for (const CommandLine& line : programs.lines) {
    std::set<std::string> names, variables;
    for (const Flag& flag : line.flags) {
      const std::string where = cat(line.program, " --", flag.long_name());
      EXPECT_TRUE(names.insert(flag.long_name()).second) << where;
      EXPECT_TRUE(flag.variable.empty() || variables.insert(flag.variable).second) << where;
      EXPECT_NE(flag.help, "") << where;
      if (flag.value.form != Value::Form::List) {
        EXPECT_EQ(flag.value.take(flag.value.by_default), "") << where;
      }
      if (flag.read_by.empty()) continue;
      for (const std::string& name : flag.readers()) {
        EXPECT_EQ(std::ranges::count(line.sub_commands, name, &SubCommand::name), 1)
            << where << " is read by " << name;
      }
    }
  }
}

// Nobody would serve them.
TEST(SandboxFlags, AskForNoMetricsOfAControllerThatDoesNotRun) {
  program::SandboxFlags flags;
  const CommandLine line = command_line_of(flags);
  EXPECT_EQ(refusal({"--metrics-listen=127.0.0.1:0"}, line), "");
  EXPECT_THAT(refusal({"--metrics-listen=127.0.0.1:0", "--run-controller=false"}, line),
              testing::HasSubstr("--metrics-listen"));
}

}  // namespace
}  // namespace cdom::cli
