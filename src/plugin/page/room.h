// Room: which of many things a page shows in full, which with one line, and which it only counts.
// Pure.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <vector>

#include "plugin/page/html.h"

namespace cdom::plugin::page {

struct Fitted {
  std::map<std::size_t, Html> pieces;  // by place; of those that are on the page
  std::size_t whole = 0;               // how many of them are more than a line
};

// At most `room` bytes. `order` has the places of all things, those first that get room first; a
// quarter is kept for lines, while there are things that may have to do with one.
Fitted fitted(const std::vector<std::size_t>& order, std::size_t room,
              const std::function<Html(std::size_t place)>& line,
              const std::function<Html(std::size_t place)>& whole);

}  // namespace cdom::plugin::page
