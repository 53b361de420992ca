// Sockets of a node, tried for a moment.
#pragma once

#include <cstdint>
#include <string>

#include "compute_domain/node_check/node_facts.h"

namespace cdom::node_check {

// Connects without a word; the listener as `proc` shows it.
RegistrationSocket try_registration(const std::string& path, const std::string& proc);
// Binds it on all addresses, of both families where there are both, and lets it go.
Port try_port(std::int64_t number, const std::string& proc);
// Touches nothing: it is taken when somebody listens on it at every address.
Port look_at_port(std::int64_t number, const std::string& proc);

}  // namespace cdom::node_check
