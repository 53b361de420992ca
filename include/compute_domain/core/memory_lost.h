// What the end of an IMEX daemon means for pods that used it: agents write this text into their
// reports, and the controller and the kubectl plugin find it there and name the pods.
#pragma once

#include <chrono>
#include <optional>
#include <string_view>

#include "compute_domain/api/compute_domain.h"

namespace cdom::core {

inline constexpr char kMemoryLost[] =
    "pods there have lost the memory that they imported and have to start again";

inline bool tells_of_loss(std::string_view text) {
  return text.find(kMemoryLost) != std::string_view::npos;
}

// The last loss of a report or of a member's status: of a writer of before 0.2, which keeps none
// apart, the last failure where that was one.
template <class Record>
const std::optional<api::DaemonFailure>& loss_of(const Record& record) {
  const auto& failure = record.last_failure;
  return !record.last_loss && failure && tells_of_loss(failure->message) ? failure
                                                                         : record.last_loss;
}

// A time that is well ahead is of a clock that was set back since.
inline bool is_to_come(base::Time time, base::Time now) {
  return time > now + std::chrono::minutes(1);
}

// Whether a loss at `time` came after the one at `known`.
inline bool is_later_loss(base::Time time, base::Time known, base::Time now) {
  return known < time || (known != time && is_to_come(known, now));
}

// Whether such a record does not have a loss at `time` yet.
template <class Record>
bool lacks_loss(const Record& record, base::Time time, base::Time now) {
  if (const auto& known = loss_of(record)) return is_later_loss(time, known->time, now);
  // Where its definition or its writer is of before 0.2 it keeps none apart: a failure since then
  // has taken the loss's place.
  const auto& failure = record.last_failure;
  return !failure || failure->time <= time || is_to_come(failure->time, now);
}

}  // namespace cdom::core
