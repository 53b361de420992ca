// sync_next(): one unit of work of a part that has a queue of keys.
#pragma once

#include <optional>

#include "compute_domain/base/clock.h"
#include "compute_domain/kube/work_queue.h"

namespace cdom::sandbox {

// How the sync of a key ended.
struct Synced {
  bool is_done = true;  // false: again after the queue's backoff
  // Of what is done: how long until it has to be looked at again, if nothing happens before.
  std::optional<base::Duration> again_after = {};
};

// Takes the next key that is due, if there is one, and calls `sync` with it.
template <class Key, class Sync>
bool sync_next(kube::WorkQueue<Key>& queue, const Sync& sync) {
  const std::optional<Key> key = queue.try_pop();
  if (!key) return false;
  const Synced synced = sync(*key);
  if (synced.is_done) {
    queue.forget(*key);
    if (synced.again_after) queue.add_after(*key, *synced.again_after);
  } else {
    queue.retry(*key);
  }
  queue.done(*key);
  return true;
}

}  // namespace cdom::sandbox
