// CPU time that this process has used: user and system, of all its threads.
#pragma once

namespace cdom::bench {

double own_cpu_seconds();

}  // namespace cdom::bench
