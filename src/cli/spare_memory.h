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

// What a process has, in bytes.
struct MemoryUse {
  std::function<std::size_t()> resident;   // but for files
  std::function<std::size_t()> allocated;  // of it, what the program has asked for
};
// This process's. The allocator counts what is allocated by looking at all that is free, which
// takes it a millisecond where there is much.
MemoryUse own_memory_use();

class SpareMemory {
 public:
  SpareMemory(const base::Clock& clock, MemoryUse use, std::function<void()> give_back);
  // malloc_trim() for this process.
  explicit SpareMemory(const base::Clock& clock);

  // Looks whether there is much, unless it has looked a moment ago: call it often.
  void look();

 private:
  const base::Clock& clock_;
  const MemoryUse use_;
  const std::function<void()> give_back_;
  std::optional<base::Duration> next_;
  std::size_t resident_ = 0, allocated_ = 0;  // when it last asked for both
  base::Duration rest_{}, rests_until_{};     // from asking for both where resident is as it was
  std::size_t left_ = 0;                      // spare after the last time, at most
  base::Duration again_{}, wait_{};           // the next time even where little is new
};

}  // namespace cdom::cli
