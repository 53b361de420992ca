// Who holds a TCP port.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "compute_domain/node_check/node_facts.h"

namespace cdom::node_check {

// Who listens on it in the network of `proc`'s reader; nullopt when no such process is in sight.
std::optional<Process> holder_of(const std::string& proc, std::int64_t port);

// Whether somebody listens on it at all addresses of a family, in the network of `proc`'s reader.
bool is_taken_everywhere(const std::string& proc, std::int64_t port);

}  // namespace cdom::node_check
