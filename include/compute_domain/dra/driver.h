// Driver: the port through which kubelet's calls reach what prepares claims on this node.
//
// Each call has a thread of its own and may wait there for as long as it needs; kubelet itself
// gives up after 45 s. Calls for different claims run side by side. Of one claim (by UID) there is
// one call at a time, in the order of their arrival: a call that comes while another runs waits
// until that one has returned. The token is stopped when nobody waits for the answer any more
// (kubelet is gone, its deadline has passed, the plugin ends): the call then returns soon, whatever
// it returns.
#pragma once

#include <stop_token>
#include <string>
#include <vector>

#include "compute_domain/base/result.h"

namespace cdom::dra {

// All that kubelet tells. The UID holds letters, digits, '-', '_' and '.', and begins with neither
// dot nor dash: it may be part of a file's name.
struct Claim {
  std::string ns, name, uid;

  friend bool operator==(const Claim&, const Claim&) = default;
};

struct PreparedDevice {
  std::vector<std::string> requests;  // main names ("r", not "r/sub"); none: every request
  std::string pool, device;
  std::vector<std::string> cdi_ids;  // "vendor/class=name"; may be empty

  friend bool operator==(const PreparedDevice&, const PreparedDevice&) = default;
};

class Driver {
 public:
  virtual ~Driver() = default;
  // Asked again also for claims that were prepared: the answer is then the same. The message of an
  // error is what people read in an Event of the pod; kubelet tries again, whatever its kind.
  virtual base::Result<std::vector<PreparedDevice>> prepare(const Claim& claim,
                                                            std::stop_token stop) = 0;
  // Succeeds for a claim that this node does not know; its ns and name may be empty.
  virtual base::Result<void> unprepare(const Claim& claim, std::stop_token stop) = 0;
};

}  // namespace cdom::dra
