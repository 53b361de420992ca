// FakeDriver: does for each claim what a test says.
#pragma once

#include <functional>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "compute_domain/dra/driver.h"

namespace cdom::dra {

inline Claim claim_named(const std::string& name) {
  return {.ns = "team-a", .name = name, .uid = "uid-of-" + name};
}

inline PreparedDevice channel_of(const Claim& claim) {
  return {.requests = {"channel"},
          .pool = "node-1",
          .device = "channel-0",
          .cdi_ids = {"k8s.compute-domain.nvidia.com/claim=" + claim.uid + "-channel-0"}};
}

class FakeDriver : public Driver {
 public:
  using Prepared = base::Result<std::vector<PreparedDevice>>;

  // Set before the first call.
  std::function<Prepared(const Claim&, const std::stop_token&)> on_prepare =
      [](const Claim& claim, const std::stop_token& /*stop*/) -> Prepared {
    return std::vector{channel_of(claim)};
  };
  std::function<base::Result<void>(const Claim&, const std::stop_token&)> on_unprepare =
      [](const Claim& /*claim*/, const std::stop_token& /*stop*/) -> base::Result<void> {
    return {};
  };

  Prepared prepare(const Claim& claim, std::stop_token stop) override {
    note("prepare " + claim.uid);
    return on_prepare(claim, stop);
  }
  base::Result<void> unprepare(const Claim& claim, std::stop_token stop) override {
    note("unprepare " + claim.uid);
    return on_unprepare(claim, stop);
  }

  void note(std::string what) {
    const std::lock_guard lock(mutex_);
    notes_.push_back(std::move(what));
  }
  [[nodiscard]] std::vector<std::string> notes() const {
    const std::lock_guard lock(mutex_);
    return notes_;
  }

 private:
  mutable std::mutex mutex_;
  std::vector<std::string> notes_;
};

}  // namespace cdom::dra
