// What the system says about a call that failed, as an Error. Thread-safe.
#pragma once

#include <string>

#include "compute_domain/base/result.h"

namespace cdom::base {

// "cannot write /etc/hosts: Read-only file system; mount it writable", of `number` or of errno.
Error system_error(const std::string& what, int number);
Error system_error(const std::string& what);

}  // namespace cdom::base
