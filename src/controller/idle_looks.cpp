#include "idle_looks.h"

namespace cdom::controller {

bool IdleLooks::note(const Key& key, bool acted, std::optional<base::Duration> look_again,
                     base::Duration now) {
  const std::scoped_lock lock(mutex_);
  const auto it = wishes_.find(key);
  if (acted || !look_again || *look_again > kSoon) {
    if (it != wishes_.end()) wishes_.erase(it);
    return false;
  }
  // What comes before its time was brought by a change, which may be what it waited for.
  const bool is_wished = it != wishes_.end() && now >= it->second.due;
  const int in_vain = is_wished ? it->second.in_vain + 1 : 0;
  wishes_[key] = {now + *look_again, in_vain};
  return in_vain >= 2;
}

}  // namespace cdom::controller
