// What the system says about a call that failed, as an Error. Thread-safe.
#pragma once

#include <string>

#include "compute_domain/base/result.h"

namespace cdom::imex {

// "cannot write /etc/hosts: Read-only file system", of `number` or of errno.
base::Error system_error(const std::string& what, int number);
base::Error system_error(const std::string& what);

}  // namespace cdom::imex
