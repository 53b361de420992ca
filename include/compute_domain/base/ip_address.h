// Where a daemon on another machine can be reached. Pure.
#pragma once

#include <string>
#include <string_view>

namespace cdom::base {

// The IPv4 or IPv6 address in its one canonical spelling. "" when it is none, or one that no other
// machine answers at: unspecified, multicast, broadcast, link-local, IPv4 in IPv6, ::1, and
// 127.0.0.0/16, where node tables have their empty slots. The rest of 127.0.0.0/8 is for daemons
// that run on one machine.
std::string peer_address(std::string_view text);

}  // namespace cdom::base
