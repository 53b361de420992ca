// QueuedKey: a Key as it waits in a queue.
//
// After a start some keys wait for each node of the cluster: such a one takes a third of the memory
// that a Key takes.
#pragma once

#include <compare>
#include <string>
#include <string_view>

#include "compute_domain/base/shared_bytes.h"
#include "compute_domain/controller/key.h"

namespace cdom::controller {

class QueuedKey {
 public:
  QueuedKey(const Key& key);  // NOLINT(google-explicit-constructor): the same key

  [[nodiscard]] Key key() const;

  // In any order, but always in this one.
  friend std::strong_ordering operator<=>(const QueuedKey& a, const QueuedKey& b) {
    return a.bytes_.view() <=> b.bytes_.view();
  }
  friend bool operator==(const QueuedKey& a, const QueuedKey& b) {
    return a.bytes_.view() == b.bytes_.view();
  }

 private:
  base::SharedBytes bytes_;  // kind, id, clique; and how long the id is
};

}  // namespace cdom::controller
