// Refusals: why kubelet got no claim when it last asked, for the node's report. One thread.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "compute_domain/base/clock.h"
#include "compute_domain/core/node_world.h"

namespace cdom::agent {

class Refusals {
 public:
  explicit Refusals(const base::Clock& clock) : clock_(clock) {}

  // Stands until the claim is prepared, is to be unprepared, or is not asked for any more.
  void add(const std::string& uid, const std::string& reason);
  void was_prepared(const std::string& uid) { by_uid_.erase(uid); }
  // What kubelet asks for now.
  void see(const std::vector<core::WantedClaim>& prepares,
           const std::vector<core::WantedClaim>& unprepares);

  // The reasons, by claim UID.
  [[nodiscard]] std::map<std::string, std::string> all() const;

 private:
  struct Refusal {
    std::string reason;
    base::Duration added{};
  };

  const base::Clock& clock_;
  std::map<std::string, Refusal> by_uid_;
};

}  // namespace cdom::agent
