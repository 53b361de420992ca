// NaturalLess: names in the order in which people count, "rack.2" before "rack.10".
#pragma once

#include <cstring>
#include <string>

namespace cdom::plugin {

struct NaturalLess {
  bool operator()(const std::string& a, const std::string& b) const {
    return strverscmp(a.c_str(), b.c_str()) < 0;
  }
};

}  // namespace cdom::plugin
