// Bell: wakes a thread that waits in poll(2). Thread-safe.
#pragma once

#include "compute_domain/base/descriptor.h"

namespace cdom::program {

class Bell {
 public:
  Bell();
  void ring() const;
  // What was rung until now has been heard.
  void hush() const;
  // Readable once it was rung.
  [[nodiscard]] int descriptor() const { return event_.get(); }

 private:
  const base::Descriptor event_;
};

}  // namespace cdom::program
