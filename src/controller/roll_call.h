// RollCall: one LIST of all ComputeDomains for all keys that ask whether theirs is gone.
//
// How it goes: each UID that a key asks about is noted. The first key that asks five seconds or
// more after the last LIST has ended reads one for all that are noted by then; the others come back
// for what it said of theirs. What it guarantees: an answer is of a LIST that began after its UID
// was asked for, so whatever bears the UID had been there before, and its domain before that. A
// LIST that is older could call a domain gone that lives. Thread-safe.
#pragma once

#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <string>

#include "compute_domain/base/clock.h"
#include "compute_domain/base/result.h"
#include "compute_domain/controller/apply.h"

namespace cdom::controller {

// Whether no domain of the list has this UID. Invalid: it may be one that cannot be read.
base::Result<void> absence_in(const ListedDomains& domains, const std::string& uid);

class RollCall {
 public:
  using List = std::function<base::Result<ListedDomains>()>;

  explicit RollCall(const base::Clock& clock) : clock_(clock) {}

  // Conflict also where it is not known yet: ask again after its retry_after.
  base::Result<void> absence_of(const std::string& uid, const List& list);

 private:
  base::Result<ListedDomains> listed(const List& list);

  const base::Clock& clock_;
  std::mutex mutex_;
  std::set<std::string> asked_;         // since the last LIST began
  bool is_listing_ = false;             // it is under way
  std::optional<base::Duration> last_;  // LIST: when it ended
  struct Answer {
    base::Result<void> absence;
    base::Duration since{};
  };
  std::map<std::string, Answer> answers_;  // nobody has come for them yet
};

}  // namespace cdom::controller
