// CommandLine: all that a program reads of its arguments and its environment, as a table of flags.
//
// A flag that is not given comes from its environment variable, under the names of the reference
// driver. What does not parse ends the program with one line and kWrongUsage.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "cli/flag.h"

namespace cdom::cli {

// Has a help of its own, with the flags whose rows name it.
struct SubCommand {
  std::string name, usage;
  bool takes_arguments = false;
};

struct CommandLine {
  std::string program, usage;
  std::vector<SubCommand> sub_commands;
  std::vector<Flag> flags;  // of its own
  // What is wrong with the values together, "" when nothing is; for a sub-command, "" for none.
  std::function<std::string(const std::string& sub_command)> mistake;
  // A flag that the sub-command does not read is a mistake. A container's program is given those of
  // its service for whatever it does.
  bool refuses_unread_flags = false;
};

// Those that every program of ours has.
struct CommonFlags {
  bool wants_help = false, wants_version = false;
  std::string log_level = "info", log_format = "text";
};
std::vector<Flag> rows_of(CommonFlags& flags);

struct Parsed {
  std::optional<int> exit_code;  // the program has nothing more to do
  std::string sub_command;       // "" for none
  std::vector<std::string> arguments;
};

// Fills the fields of the rows, sets up the log, and answers --help and --version. Before any
// thread.
Parsed parse(int argc, char** argv, const CommandLine& line);

// Exit codes beside 0. A sub-command that judges (`check`, `plan`) ends with kFoundWrong only when
// it has looked: a pipeline can tell a broken node from a token that has expired.
inline constexpr int kFailed = 1, kWrongUsage = 2, kFoundWrong = 3;

// One line on standard error; gives `exit_code`.
int failure(const std::string& program, const std::string& what, int exit_code = kFailed);
// Writes to standard output, to the end: gives `exit_code`, or failure() where that takes no more.
int print(const std::string& program, const std::string& text, int exit_code = 0);
// As failure(), of what the user can put right as --help tells; gives kWrongUsage.
int usage_error(const std::string& program, const std::string& what);

}  // namespace cdom::cli
