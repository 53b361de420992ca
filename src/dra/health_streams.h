// HealthStreams: the health of the devices, and the streams that report it.
//
// Each stream gets the newest state at its start, at each change and at each repetition; one that
// is slow misses what is between. A stream does one thing at a time, and is used until it says that
// it is closed. Thread-safe; streams are called without a lock held.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "compute_domain/base/clock.h"
#include "compute_domain/dra/plugin.h"

namespace cdom::dra {

struct HealthMessage {
  std::vector<DeviceHealth> devices;
  base::Time as_of;
};

class HealthStream {
 public:
  virtual ~HealthStream() = default;
  // HealthStreams::written() is called at its end.
  virtual void write(const HealthMessage& message) = 0;
  // The last call; HealthStreams::closed() is called at its end.
  virtual void finish() = 0;
};

class HealthStreams {
 public:
  explicit HealthStreams(const base::Clock& clock) : clock_(clock) {}

  void set(std::vector<DeviceHealth> devices);
  // The same again, as of now.
  void repeat();
  // Every stream is finished, those that come later too.
  void end();

  void open(HealthStream& stream);
  void written(HealthStream& stream, bool is_ok);
  // Its reader is: it is finished when it is idle.
  void gone(HealthStream& stream);
  void closed(HealthStream& stream);

 private:
  // Whoever makes a stream busy makes the call, so it cannot be closed before.
  struct State {
    bool is_busy = false, is_gone = false;
    std::uint64_t seen = 0;
  };
  struct Step {
    HealthStream* stream;
    std::shared_ptr<const HealthMessage> message;  // null: finish
  };

  // Under the mutex.
  void add_step(HealthStream& stream, State& state, std::vector<Step>& steps) const;
  std::vector<Step> all_steps();
  // Changes the stream's state, then does what is next for it.
  template <class Change>
  void update(HealthStream& stream, const Change& change);
  static void make(const std::vector<Step>& steps);

  const base::Clock& clock_;
  std::mutex mutex_;
  std::map<HealthStream*, State> streams_;
  std::shared_ptr<const HealthMessage> newest_;  // null before the first set()
  std::uint64_t revision_ = 0;                   // of `newest_`
  bool is_over_ = false;
};

}  // namespace cdom::dra
