#include "agent/main/wakeup.h"

#include <sys/eventfd.h>

#include <stdexcept>

namespace cdom::program {

Wakeup::Wakeup() : event_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
  if (!event_) throw std::runtime_error("no eventfd: too many open files");
}

void Wakeup::wake() const { eventfd_write(event_.get(), 1); }

void Wakeup::clear() const {
  eventfd_t count = 0;
  eventfd_read(event_.get(), &count);
}

}  // namespace cdom::program
