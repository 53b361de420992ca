#include "controller/main/ending.h"

#include <utility>

#include "compute_domain/base/text.h"

namespace cdom::program {

Ending::Ending(std::stop_token signals)
    : on_signal_(std::move(signals), [this] { leave_.request_stop(); }) {}

void Ending::leadership_lost() {
  leave("another process may lead now; this one ends, to start afresh");
}

void Ending::predecessor_found(const std::string& predecessor) { leave(at_work(predecessor)); }

std::string Ending::fault() const {
  const std::lock_guard lock(mutex_);
  return fault_;
}

void Ending::leave(std::string fault) {
  {
    const std::lock_guard lock(mutex_);
    if (fault_.empty()) fault_ = std::move(fault);
  }
  leave_.request_stop();
}

std::string at_work(const std::string& predecessor) {
  return base::cat(
      "another ComputeDomain controller is at work (", predecessor,
      "), and two would undo each other's work: scale it to zero or uninstall it, then start "
      "this one again");
}

}  // namespace cdom::program
