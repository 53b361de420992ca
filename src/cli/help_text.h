// What --help prints.
#pragma once

#include <string>

#include "cli/command_line.h"

namespace cdom::cli {

// The usage, then each flag with its value's name, range and default; below it the flag's text and
// its environment variable, wrapped between words. A sub-command has its own usage and flags; null
// is the program itself.
std::string help_text(const CommandLine& line, const SubCommand* sub_command);

}  // namespace cdom::cli
