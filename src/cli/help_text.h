// What --help prints.
#pragma once

#include <string>

#include "cli/command_line.h"

namespace cdom::cli {

// The usage, then each flag with what stands for its value, its range and its default, its text and
// its environment variable below it, wrapped between words. Of a sub-command its own usage and
// flags; null: of the program.
std::string help_text(const CommandLine& line, const SubCommand* sub_command);

}  // namespace cdom::cli
