#include "compute_domain/base/pause.h"

#include <condition_variable>
#include <mutex>

namespace cdom::base {

bool pause(const std::stop_token& stop, Duration time) {
  std::mutex mutex;
  std::condition_variable_any never;
  std::unique_lock lock(mutex);
  never.wait_for(lock, stop, time, [] { return false; });
  return !stop.stop_requested();
}

}  // namespace cdom::base
