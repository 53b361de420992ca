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

  using Prepare = std::function<Prepared(const Claim&, const std::stop_token&)>;
  using Unprepare = std::function<base::Result<void>(const Claim&, const std::stop_token&)>;

  // Of the calls that come later.
  void on_prepare(Prepare prepare) {
    const std::lock_guard lock(mutex_);
    prepare_ = std::move(prepare);
  }
  void on_unprepare(Unprepare unprepare) {
    const std::lock_guard lock(mutex_);
    unprepare_ = std::move(unprepare);
  }

  Prepared prepare(const Claim& claim, std::stop_token stop) override {
    note("prepare " + claim.uid);
    return current(prepare_)(claim, stop);
  }
  base::Result<void> unprepare(const Claim& claim, std::stop_token stop) override {
    note("unprepare " + claim.uid);
    return current(unprepare_)(claim, stop);
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
  template <class Function>
  Function current(const Function& function) const {
    const std::lock_guard lock(mutex_);
    return function;
  }

  mutable std::mutex mutex_;
  Prepare prepare_ = [](const Claim& claim, const std::stop_token& /*stop*/) -> Prepared {
    return std::vector{channel_of(claim)};
  };
  Unprepare unprepare_ = [](const Claim& /*claim*/,
                            const std::stop_token& /*stop*/) -> base::Result<void> { return {}; };
  std::vector<std::string> notes_;
};

}  // namespace cdom::dra
