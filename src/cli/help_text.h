// What --help prints.
#pragma once

#include <boost/program_options/options_description.hpp>
#include <string>

#include "cli/flags.h"

namespace cdom::cli {

// The usage, then each flag with what stands for its value and its default, its description below
// it, wrapped between words. Of a sub-command its own usage and flags; null: of the program.
std::string help_text(const std::string& usage,
                      const boost::program_options::options_description& own,
                      const boost::program_options::options_description& common,
                      const SubCommand* sub_command);

}  // namespace cdom::cli
