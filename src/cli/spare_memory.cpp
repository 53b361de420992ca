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
// Where nothing changes it asks the allocator ever more seldom, up to this.
constexpr base::Duration kLongestRest = std::chrono::minutes(1);
constexpr std::size_t kLittle = std::size_t{128} << 10U;

bool is_about(std::size_t a, std::size_t b) { return std::max(a, b) - std::min(a, b) <= kLittle; }

std::size_t resident_memory() {
  std::size_t size = 0, resident = 0, of_files = 0;  // in pages
  std::ifstream("/proc/self/statm") >> size >> resident >> of_files;
  return (resident - of_files) * static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
}

std::size_t allocated_memory() {
  const struct mallinfo2 heap = mallinfo2();
  return heap.uordblks + heap.hblkhd;
}

}  // namespace

MemoryUse own_memory_use() { return {resident_memory, allocated_memory}; }

SpareMemory::SpareMemory(const base::Clock& clock, MemoryUse use, std::function<void()> give_back)
    : clock_(clock), use_(std::move(use)), give_back_(std::move(give_back)) {}

SpareMemory::SpareMemory(const base::Clock& clock)
    : SpareMemory(clock, own_memory_use(), [] { malloc_trim(0); }) {}

void SpareMemory::look() {
  const base::Duration now = clock_.elapsed();
  if (next_ && now < *next_) return;
  next_ = now + kBetweenLooks;
  const std::size_t resident = use_.resident();
  const bool has_changed = !is_about(resident, resident_);
  if (!has_changed && now < rests_until_) return;
  const std::size_t allocated = use_.allocated();
  const bool is_at_rest = !has_changed && is_about(allocated, allocated_);
  rest_ = is_at_rest ? std::clamp(2 * rest_, kBetweenLooks, kLongestRest) : base::Duration::zero();
  rests_until_ = now + rest_;
  resident_ = resident;
  allocated_ = allocated;
  const std::size_t spare = resident - std::min(resident, allocated);
  left_ = std::min(left_, spare);
  if (spare < kMuch || (spare < left_ + kMoreThanLeft && now < again_)) return;
  give_back_();
  resident_ = use_.resident();
  left_ = resident_ - std::min(resident_, allocated);
  const bool was_worth_it = spare >= left_ + std::max(kWorthIt, spare / 16);
  wait_ = was_worth_it ? kBetweenLooks : std::clamp(2 * wait_, kBetweenLooks, kLongestWait);
  again_ = now + wait_;
}

}  // namespace cdom::cli
