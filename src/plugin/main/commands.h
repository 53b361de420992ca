// The sub-commands of kubectl compute-domain: each reads, asks the module, prints, and gives the
// exit code: cli::kFailed when it could not be done, cli::kFoundWrong when `check` or `plan` found
// something.
#pragma once

#include <string>
#include <vector>

#include "plugin/main/plugin_flags.h"

namespace cdom::program {

int run_command(const PluginFlags& flags, const std::string& command,
                const std::vector<std::string>& arguments);

}  // namespace cdom::program
