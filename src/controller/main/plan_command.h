// The sub-command `plan` of compute-domain-controller: what it would do with the objects of files.
#pragma once

#include <string>
#include <vector>

#include "controller/main/controller_flags.h"

namespace cdom::program {

// Prints the plan; gives the exit code: 1 when the objects have a problem, 2 when they cannot be
// read. "-" is standard input.
int run_plan(const ControllerFlags& flags, const std::vector<std::string>& paths);

}  // namespace cdom::program
