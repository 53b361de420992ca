// SpareMemory: gives what the allocator keeps for later back to the kernel.
//
// glibc keeps all that is freed below something that is still used: after a burst (thousands of
// calls or connections, an answer of megabytes) a process stays as large as it has ever been. One
// thread.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>

#include "compute_domain/base/clock.h"

namespace cdom::cli {

// In bytes.
struct MemoryUse {
  std::size_t resident = 0;   // but for files
  std::size_t allocated = 0;  // of it, what the program has asked for
};
// This process's.
MemoryUse memory_use();

class SpareMemory {
 public:
  SpareMemory(const base::Clock& clock, std::function<MemoryUse()> use,
              std::function<void()> give_back);
  // malloc_trim() for this process.
  explicit SpareMemory(const base::Clock& clock);

  // Looks whether there is much, unless it has looked a moment ago: call it often.
  void look();

 private:
  const base::Clock& clock_;
  const std::function<MemoryUse()> use_;
  const std::function<void()> give_back_;
  std::optional<base::Duration> next_;
  std::size_t left_ = 0;             // spare after the last time, at most
  base::Duration again_{}, wait_{};  // the next time even where little is new
};

}  // namespace cdom::cli
