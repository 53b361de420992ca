// Election: leader election beside the work of a program, on a thread and a connection of its own,
// as a slow answer to the work must not keep a renewal waiting.
#pragma once

#include <functional>
#include <memory>
#include <thread>

#include "compute_domain/base/clock.h"
#include "compute_domain/base/metrics.h"
#include "compute_domain/base/pulses.h"
#include "compute_domain/http/client.h"
#include "compute_domain/kube/client.h"
#include "compute_domain/kube/leader_election.h"

namespace cdom::program {

class Election {
 public:
  // Starts at once. `on_lost` is called on the election's thread when leadership has ended; the
  // process has to end then. `clock`, `metrics` and `pulses` must outlive this.
  Election(http::ClientConfig config, const base::Clock& clock, kube::LeaderElectionOptions options,
           base::Registry& metrics, base::Pulses& pulses, std::function<void()> on_lost);
  // Gives the Lease up if it is held: only after the last write of this process.
  ~Election();
  Election(const Election&) = delete;
  Election& operator=(const Election&) = delete;

  // Thread-safe.
  [[nodiscard]] bool is_leading() const { return election_.is_leading(); }

 private:
  const std::unique_ptr<http::Client> transport_;
  const kube::Client client_;
  kube::LeaderElection election_;
  std::jthread thread_;
};

}  // namespace cdom::program
