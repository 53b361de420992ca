// Setbacks: what could not be done for one claim, or for the IMEX daemon, and when it is tried
// again. The others go on meanwhile. One thread.
#pragma once

#include <map>
#include <string>

#include "compute_domain/base/clock.h"
#include "compute_domain/core/node_world.h"

namespace cdom::agent {

class Setbacks {
 public:
  explicit Setbacks(const base::Clock& clock) : clock_(clock) {}

  // `of` is a claim's UID or core::kDaemonSetback. Tells people of an error once.
  void failed(const std::string& of, const std::string& error);
  void succeeded(const std::string& of);
  // Drops those of claims that neither the checkpoint nor kubelet names.
  void keep_only(const core::NodeWorld& world);

  [[nodiscard]] std::map<std::string, core::Setback> all() const;

 private:
  struct Row {
    core::Setback last;
    int failures = 0;
  };

  const base::Clock& clock_;
  std::map<std::string, Row> rows_;
};

}  // namespace cdom::agent
