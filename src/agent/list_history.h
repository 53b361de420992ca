// ListHistory: since when each node list has been as it is, and its members in it. One thread.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "compute_domain/base/clock.h"
#include "compute_domain/core/node_world.h"
#include "compute_domain/kube/store.h"

namespace cdom::agent {

class ListHistory {
 public:
  explicit ListHistory(const base::Clock& clock) : clock_(clock) {}

  // What an informer tells: null `after` means that it is gone.
  void see(const api::ConfigMap* before, const api::ConfigMap* after);
  void forget_all() { lists_.clear(); }

  [[nodiscard]] std::vector<core::SeenList> all() const;

 private:
  const base::Clock& clock_;
  std::map<api::ObjectName, core::SeenList> lists_;
};

}  // namespace cdom::agent
