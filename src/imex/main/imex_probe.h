// The sub-command "probe": for kubelet, whether the supervisor of this container answers.
#pragma once

#include <string>

#include "compute_domain/base/clock.h"

namespace cdom::program {

// "" when whoever listens on the socket greets within `patience`; else what is wrong.
std::string probe_imex(const std::string& socket_path, base::Duration patience);

}  // namespace cdom::program
