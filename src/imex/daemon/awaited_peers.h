// Which peers an IMEX daemon should be connected to. Pure.
#pragma once

#include <cstdint>
#include <set>
#include <string_view>

namespace cdom::imex {

// The indexes of the node table (a name per line) whose names the hosts file leads to a node, but
// for the daemon's own. A slot that nobody has leads to an address of 127.0.0.0/16, where no
// daemon listens (core::nobodys_address).
std::set<std::int64_t> awaited_peers(std::string_view table, std::string_view hosts,
                                     std::int64_t own_index);

}  // namespace cdom::imex
