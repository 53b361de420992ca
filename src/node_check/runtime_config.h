// What a node's container runtime is, and what its configuration says of CDI.
#pragma once

#include <string>

#include "compute_domain/node_check/node_facts.h"

namespace cdom::node_check {

// `host_root` is the node's root as seen here.
ContainerRuntime container_runtime_of(const std::string& host_root);

// Reads one file of TOML, whose values replace those of earlier files. It is not a parser: it looks
// for five names, each on a line of its own.
void read_runtime_config(const std::string& toml, ContainerRuntime& runtime);

}  // namespace cdom::node_check
