// EventCorrelator: keeps a talkative object from flooding the API server with Events.
//
// The rules of client-go's tools/record: ten different messages of one (object, type, reason), each
// within ten minutes of the one before, become one combined event; one object may cause 25 writes
// at once, and one more per five minutes. Pure but for what it remembers. One thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <set>
#include <string>

#include "compute_domain/api/core.h"
#include "compute_domain/base/clock.h"
#include "compute_domain/base/recent_map.h"

namespace cdom::kube {

// What makes two occurrences one event with a count.
struct EventKey {
  api::ObjectReference involved;
  std::string type, reason;
  std::string message;  // of a combined event only its prefix

  friend auto operator<=>(const EventKey&, const EventKey&) = default;
};
// In one piece, as thousands are remembered: other texts for another key.
std::string text_of(const EventKey& key);

class EventCorrelator {
 public:
  // `remembered`: for how many objects, and how many kinds of event, it remembers the last ones.
  explicit EventCorrelator(std::size_t remembered) : similar_(remembered), budgets_(remembered) {}

  // The same key, or that of the combined event. `now` is Clock::elapsed(), here and below.
  EventKey combined(EventKey occurrence, base::Duration now);
  static bool is_combined(const EventKey& key);
  // Whether the object may cause one more write, which is then counted.
  bool take_write(const api::ObjectReference& involved, base::Duration now);

 private:
  struct Similar {
    std::set<std::uint64_t> messages;  // hashes
    base::Duration last{};
  };
  struct Budget {
    double writes = 0;
    base::Duration as_of{};
  };
  base::RecentMap<std::string, Similar> similar_;  // by text_of() a key without its message
  base::RecentMap<std::string, Budget> budgets_;   // of one that has nothing but the object
};

}  // namespace cdom::kube
