// The sub-command `plan` of compute-domain-controller: what it would do with the objects of files.
#pragma once

#include <string>
#include <vector>

#include "controller/main/controller_flags.h"

namespace cdom::program {

// Prints the plan; gives the exit code: cli::kFoundWrong when the objects have a problem,
// cli::kFailed when a file cannot be read or has no object. "-" is standard input.
int run_plan(const ControllerFlags& flags, const std::vector<std::string>& paths);

}  // namespace cdom::program
