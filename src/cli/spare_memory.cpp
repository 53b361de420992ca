#include "cli/spare_memory.h"

#include <malloc.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <fstream>
#include <utility>

namespace cdom::cli {

namespace {

constexpr base::Duration kBetweenLooks = std::chrono::seconds(5);
constexpr std::size_t kMuch = std::size_t{1} << 20U;
constexpr std::size_t kMoreThanLeft = std::size_t{1} << 20U;
// Else what cannot be given back, as something used lies on each page, is asked for ever more
// seldom, and not never: a small thing that goes may free the page it lay on.
constexpr std::size_t kWorthIt = std::size_t{256} << 10U;  // or a sixteenth of what is spare
constexpr base::Duration kLongestWait = std::chrono::minutes(10);

std::size_t spare_of(const MemoryUse& use) {
  return use.resident - std::min(use.resident, use.allocated);
}

}  // namespace

MemoryUse memory_use() {
  std::size_t size = 0, resident = 0, of_files = 0;  // in pages
  std::ifstream("/proc/self/statm") >> size >> resident >> of_files;
  const struct mallinfo2 heap = mallinfo2();
  return {.resident = (resident - of_files) * static_cast<std::size_t>(sysconf(_SC_PAGESIZE)),
          .allocated = heap.uordblks + heap.hblkhd};
}

SpareMemory::SpareMemory(const base::Clock& clock, std::function<MemoryUse()> use,
                         std::function<void()> give_back)
    : clock_(clock), use_(std::move(use)), give_back_(std::move(give_back)) {}

SpareMemory::SpareMemory(const base::Clock& clock)
    : SpareMemory(clock, memory_use, [] { malloc_trim(0); }) {}

void SpareMemory::look() {
  const base::Duration now = clock_.elapsed();
  if (next_ && now < *next_) return;
  next_ = now + kBetweenLooks;
  const std::size_t spare = spare_of(use_());
  left_ = std::min(left_, spare);
  if (spare < kMuch || (spare < left_ + kMoreThanLeft && now < again_)) return;
  give_back_();
  left_ = spare_of(use_());
  const bool was_worth_it = spare >= left_ + std::max(kWorthIt, spare / 16);
  wait_ = was_worth_it ? kBetweenLooks : std::clamp(2 * wait_, kBetweenLooks, kLongestWait);
  again_ = now + wait_;
}

}  // namespace cdom::cli
