// Wakeup: wakes a thread that waits in poll(2). Thread-safe.
#pragma once

#include "compute_domain/base/descriptor.h"

namespace cdom::program {

class Wakeup {
 public:
  Wakeup();
  void wake() const;
  // Until the next wake().
  void clear() const;
  // Readable after wake().
  [[nodiscard]] int descriptor() const { return event_.get(); }

 private:
  const base::Descriptor event_;
};

}  // namespace cdom::program
