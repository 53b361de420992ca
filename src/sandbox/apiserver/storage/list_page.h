// A page of a list: as many objects as fit, and where the next page begins. Pure.
//
// No object is looked at but those of the page and those before its end that are not selected.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "sandbox/apiserver/storage/snapshot.h"

namespace cdom::sandbox::server {

struct PageWish {
  std::string prefix;     // of the keys
  std::string start;      // the first key
  std::size_t limit = 0;  // 0: no limit
};

struct ListPage {
  std::vector<Object> objects;
  std::string next;        // the first key of the next page; "" on the last one
  std::size_t behind = 0;  // objects from there on, selected or not
};

ListPage page_of(const Snapshot& snapshot, const PageWish& wish,
                 const std::function<bool(const Object&)>& selects);

}  // namespace cdom::sandbox::server
