// What the peer of a TCP connection has taken so far, as its kernel acknowledges it.
#pragma once

#include <cstdint>

namespace cdom::http {

// Bytes, which only ever grow; 0 where the kernel does not tell. `socket` is a descriptor.
std::uint64_t acknowledged_bytes(int socket);

}  // namespace cdom::http
