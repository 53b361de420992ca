// Moments: when the scheduler bound the pods of a formation, and when their claims were prepared.
//
// Taken where it happens, in nanoseconds: around the scheduler's POST of a binding, when its answer
// is there, and around the agent's answer to kubelet's NodePrepareResources. Nothing is read out of
// logs or from timestamps of objects, which have whole seconds. Thread-safe.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "compute_domain/base/clock.h"
#include "compute_domain/http/client.h"
#include "compute_domain/sandbox/cluster.h"

namespace cdom::bench {

class Moments {
 public:
  explicit Moments(const base::Clock& clock) : clock_(clock) {}

  // Puts itself between the cluster and its ports.
  void observe(sandbox::ClusterPorts& ports);

  void clear();
  void bound();
  void prepared(const std::string& claim_uid);

  struct Seen {
    std::size_t bound = 0, prepared = 0;
    base::Time last_bound{}, last_prepared{};
  };
  [[nodiscard]] Seen seen() const;

 private:
  const base::Clock& clock_;
  mutable std::mutex mutex_;
  std::size_t bound_ = 0;
  base::Time last_bound_{};
  std::map<std::string, base::Time> prepared_;  // by claim: the first answer counts
};

}  // namespace cdom::bench
