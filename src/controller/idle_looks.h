// IdleLooks: finds keys that wake themselves up for nothing.
//
// A plan may ask to be looked at again. One that does so within 100 ms, finds nothing to do, and
// asks for the same once more has been gathered from something that never comes: its key would burn
// a core until somebody else changes the cluster. Thread-safe.
#pragma once

#include <map>
#include <mutex>
#include <optional>

#include "compute_domain/base/clock.h"
#include "compute_domain/controller/key.h"

namespace cdom::controller {

class IdleLooks {
 public:
  static constexpr base::Duration kSoon = std::chrono::milliseconds(100);

  // A reconcile of `key` has ended at `now`. Gives whether the key has now come back twice in a row
  // by its own wish, each time within kSoon and for nothing, and wishes it again.
  bool note(const Key& key, bool acted, std::optional<base::Duration> look_again,
            base::Duration now);

 private:
  struct Wish {
    base::Duration due{};
    int in_vain = 0;  // looks in a row that were wished for and found nothing
  };
  std::mutex mutex_;
  std::map<Key, Wish> wishes_;
};

}  // namespace cdom::controller
