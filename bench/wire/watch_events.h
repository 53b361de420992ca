// Watch events as a real API server gives them, in a line of JSON each, without its newline.
#pragma once

#include <string>

namespace cdom::bench {

// An allocated claim, with the managed fields that make up most of a real one: 2.3 KB.
std::string claim_event();
// A GPU node as kubelet, its runtime and node feature discovery fill it: 7.4 KB.
std::string node_event();

}  // namespace cdom::bench
