// ListReader: the node lists in ConfigMaps, each decoded once while it is in use: a reconcile looks
// at the lists of its domain several times, and a list of 18 nodes is 4 KB of JSON. Thread-safe.
#pragma once

#include <memory>
#include <mutex>

#include "compute_domain/base/recent_map.h"
#include "compute_domain/core/node_lists.h"

namespace cdom::controller {

class ListReader {
 public:
  using Map = std::shared_ptr<const api::ConfigMap>;  // a snapshot: never changes

  core::StoredList operator()(const Map& map);

 private:
  struct Entry {
    Map map;  // held, so that no other snapshot gets its address
    core::StoredList list;
  };
  std::mutex mutex_;
  base::RecentMap<const api::ConfigMap*, Entry> read_{64};
};

}  // namespace cdom::controller
