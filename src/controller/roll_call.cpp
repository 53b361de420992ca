#include "roll_call.h"

#include <algorithm>
#include <utility>

#include "compute_domain/base/text.h"

namespace cdom::controller {

using base::cat;
using base::Error;
using base::ErrorKind;
using base::Result;

namespace {

// From the end of one LIST to the next: a tenant may ask about thousands of domains that never
// were.
constexpr base::Duration kPace = std::chrono::seconds(5);

// Whoever has asked comes back sooner than that, or asks again. No longer: a backup of etcd that is
// restored brings back domains that were gone.
constexpr base::Duration kKept = std::chrono::minutes(1);

}  // namespace

Result<void> absence_in(const ListedDomains& domains, const std::string& uid) {
  const auto is_it = [&](const api::Unreadable& object) {
    return object.uid.empty() || object.uid == uid;
  };
  const auto& unreadable = domains.unreadable;
  if (const auto it = std::ranges::find_if(unreadable, is_it); it != unreadable.end()) {
    return base::invalid(it->problem);
  }
  if (const auto it = domains.by_uid.find(uid); it != domains.by_uid.end()) {
    return Error{ErrorKind::Conflict, cat("ComputeDomain ", api::to_string(it->second),
                                          " exists and is not in the cache yet")};
  }
  return {};
}

Result<void> RollCall::absence_of(const std::string& uid, const List& list) {
  std::set<std::string> uids;
  {
    const std::scoped_lock lock(mutex_);
    const base::Duration now = clock_.elapsed();
    auto known = answers_.extract(uid);
    if (known && now - known.mapped().since < kKept) {
      asked_.erase(uid);
      return std::move(known.mapped().absence);
    }
    asked_.insert(uid);
    if (is_listing_ || (last_ && now - *last_ < kPace)) {
      return Error{ErrorKind::Conflict, "waits for the next list of all ComputeDomains",
                   is_listing_ ? kPace : *last_ + kPace - now};
    }
    is_listing_ = true;
    uids.swap(asked_);
  }
  const Result<ListedDomains> domains = listed(list);
  const std::scoped_lock lock(mutex_);
  const base::Duration now = clock_.elapsed();
  // The others ask again.
  if (!domains) return domains.error();
  std::erase_if(answers_, [&](const auto& old) { return now - old.second.since >= kKept; });
  uids.erase(uid);
  for (const std::string& each : uids) {
    answers_.insert_or_assign(each, Answer{absence_in(*domains, each), now});
  }
  return absence_in(*domains, uid);
}

Result<ListedDomains> RollCall::listed(const List& list) {
  // Also where it throws: nobody would begin another one.
  struct Ending {
    RollCall& of;
    ~Ending() {
      const std::scoped_lock lock(of.mutex_);
      of.is_listing_ = false;
      of.last_ = of.clock_.elapsed();
    }
  };
  const Ending ending{*this};
  return list();
}

}  // namespace cdom::controller
