#include "compute_domain/base/descriptor_limit.h"

#include <sys/resource.h>

namespace cdom::base {

void raise_descriptor_limit() {
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur == limit.rlim_max) return;
  limit.rlim_cur = limit.rlim_max;
  setrlimit(RLIMIT_NOFILE, &limit);  // the old limit does as well
}

}  // namespace cdom::base
