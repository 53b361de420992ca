// The processes below a /proc, and who holds a port or listens on a socket there.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "compute_domain/node_check/node_facts.h"

namespace cdom::node_check {

// Whether `proc` shows all processes of a machine, and not those of a container.
bool shows_whole_machine(const std::string& proc);
// nullopt when it is out of sight.
std::optional<Process> process_of(const std::string& proc, int pid);
// Those whose program file has this name, by pid; of a `comm` the first 15 characters count.
std::vector<Process> processes_named(const std::string& proc, const std::string& name);
// Who listens on this TCP port in the network of `proc`'s reader.
std::optional<Process> holder_of(const std::string& proc, std::int64_t port);

}  // namespace cdom::node_check
