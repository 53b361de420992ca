// The sub-commands of kubectl compute-domain: each reads, asks the module, prints, and gives the
// exit code: 2 for a wrong command line, 1 when it could not be done.
#pragma once

#include <string>
#include <vector>

#include "plugin/main/plugin_flags.h"

namespace cdom::program {

int run_command(const PluginFlags& flags, const std::string& command,
                const std::vector<std::string>& arguments);

}  // namespace cdom::program
