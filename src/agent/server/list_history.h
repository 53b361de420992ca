// ListHistory: since when each node list has been as it is, and its members in it. One thread.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "compute_domain/base/clock.h"
#include "compute_domain/core/node_world.h"

namespace cdom::agent {

class ListHistory {
 public:
  explicit ListHistory(const base::Clock& clock) : clock_(clock) {}

  // What a watch shows of a list; nullopt: it is gone.
  void see(const api::ObjectName& name, const std::optional<api::ConfigMap>& list);
  void forget_all() { lists_.clear(); }

  [[nodiscard]] std::vector<core::SeenList> all() const;

 private:
  const base::Clock& clock_;
  std::map<api::ObjectName, core::SeenList> lists_;
};

}  // namespace cdom::agent
