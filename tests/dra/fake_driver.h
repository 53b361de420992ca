// FakeDriver: does for each claim what a test says, each in a thread of its own.
#pragma once

#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "compute_domain/base/result.h"
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

  void post(ClaimCall call) override {
    const std::lock_guard lock(mutex_);
    threads_.emplace_back([this, call = std::move(call)] {
      ClaimAnswer answer;
      if (call.operation == Operation::Prepare) {
        note("prepare " + call.claim.uid);
        Prepared prepared = current(prepare_)(call.claim, call.stop);
        if (prepared) {
          answer.devices = std::move(*prepared);
        } else {
          answer.error = prepared.error().message;
        }
      } else {
        note("unprepare " + call.claim.uid);
        const auto done = current(unprepare_)(call.claim, call.stop);
        if (!done) answer.error = done.error().message;
      }
      call.reply(std::move(answer));
    });
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
  std::vector<std::jthread> threads_;  // the last: they use the rest
};

}  // namespace cdom::dra
