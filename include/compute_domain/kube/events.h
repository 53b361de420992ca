// EventRecorder: tells people what happened to an object, without ever getting in the way.
//
// record() only queues; step() sends one event. The limits are those of client-go's recorder:
// identical events become a count, ten different messages of one reason within ten minutes become
// one event, and one object may cause 25 writes at once and then one per five minutes. Namespaces
// take turns: one whose events the server does not take for now waits alone, and one that floods
// the queue loses its own events, not those of others. An event that cannot be sent is counted and
// logged. record() is thread-safe; step() belongs to one thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>

#include "compute_domain/api/core.h"
#include "compute_domain/base/clock.h"
#include "compute_domain/base/metrics.h"
#include "compute_domain/kube/client.h"

namespace cdom::kube {

struct EventSource {
  std::string component;   // "compute-domain-controller"
  std::string instance;    // the pod or the host
  std::uint64_t seed = 0;  // of the names' endings: differs from process to process
  std::string host = {};   // the node, where it says on which this happened
  // Objects and events that are remembered, to combine and to pace what comes of them; as
  // client-go.
  std::size_t remembered = 4096;
};

class EventRecorder {
 public:
  // `metrics` may be null.
  EventRecorder(const Client& client, const base::Clock& clock, EventSource source,
                base::Registry* metrics = nullptr);
  ~EventRecorder();
  EventRecorder(const EventRecorder&) = delete;
  EventRecorder& operator=(const EventRecorder&) = delete;

  // `type` is Normal or Warning. An event of a cluster-scoped object goes to namespace default.
  // False: it was dropped, as there is no place for it, or the object has caused too many.
  bool record(const api::ObjectReference& involved, std::string_view type, std::string_view reason,
              std::string_view message);

  // Sends one; false when none is due.
  bool step();
  // When step() has something to send, on Clock::elapsed(); nullopt when the queue is empty.
  [[nodiscard]] std::optional<base::Duration> next_due() const;
  // Sends until `token` asks to stop, sleeping while there is nothing to do; calls `before_step` at
  // least once a minute while nothing is stuck.
  void run(const std::stop_token& token, const std::function<void()>& before_step = {});

 private:
  class Queue;
  const std::unique_ptr<Queue> queue_;
};

}  // namespace cdom::kube
