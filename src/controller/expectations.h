// Expectations: what a key has written and not yet seen in the stores.
//
// Only an informer writes its store; what the API server answered to a write does not go in. A key
// that was reconciled again before the informer has seen its own write would decide on a stale
// snapshot and run into a conflict, so it waits. Thread-safe.
#pragma once

#include <cstddef>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <vector>

#include "compute_domain/base/clock.h"
#include "compute_domain/controller/apply.h"
#include "compute_domain/controller/key.h"
#include "compute_domain/controller/stores.h"

namespace cdom::controller {

class Expectations {
 public:
  // An informer that has not shown a write for this long is behind; preconditions still protect.
  static constexpr base::Duration kPatience = std::chrono::seconds(5);

  void expect(const Key& key, const Written& written, base::Duration now);
  // nullopt: the key may be reconciled. Else how long to wait at most, unless fulfilled() gives it
  // before.
  std::optional<base::Duration> wait_for(const Key& key, const Stores& stores, base::Duration now);
  // Keys that were told to wait, and need not any more.
  std::vector<Key> fulfilled(const Stores& stores);
  // Keys that are remembered: those that have not seen what they wrote, and as many others at
  // most, or a few.
  [[nodiscard]] std::size_t size() const;

 private:
  struct Expected {
    Written written;
    base::Duration until{};
  };
  static constexpr std::size_t kFew = 64;

  mutable std::mutex mutex_;
  std::map<Key, Expected> expected_;
  std::set<Key> waiting_;        // of these
  std::size_t too_many_ = kFew;  // of them: then it is looked which have been seen
};

}  // namespace cdom::controller
