// Paths of a host whose root this container sees in another place. Reads links, keeps nothing.
#pragma once

#include <string>

namespace cdom::base {

// What `path` of the host is here: an absolute link below the root means a path of the host.
std::string path_below(const std::string& root, const std::string& path);

}  // namespace cdom::base
