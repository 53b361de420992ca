// Driver: the port through which kubelet's calls reach what prepares claims on this node.
//
// A call is posted and answered later: no thread waits for it. Kubelet itself gives up after 45 s.
// The order in which calls for one claim are carried out is the driver's to keep.
#pragma once

#include <functional>
#include <stop_token>
#include <string>
#include <vector>

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

enum class Operation { Prepare, Unprepare };

struct ClaimAnswer {
  // What people read in an Event of the pod; kubelet tries again. Empty: it is done.
  std::string error;
  std::vector<PreparedDevice> devices;  // of a prepare

  friend bool operator==(const ClaimAnswer&, const ClaimAnswer&) = default;
};

struct ClaimCall {
  // A claim that was prepared is asked for again: the answer is then the same. An unprepare
  // succeeds for a claim that this node does not know; its ns and name may be empty.
  Operation operation = Operation::Prepare;
  Claim claim;
  // The driver calls it once, on any thread, also from within post().
  std::function<void(ClaimAnswer)> reply;
  // Stopped when nobody waits for the answer any more (kubelet is gone, its deadline has passed,
  // the plugin ends): the reply is then to come at once, whatever it is.
  std::stop_token stop;
};

class Driver {
 public:
  virtual ~Driver() = default;
  // Returns at once, and does not throw. Any thread.
  virtual void post(ClaimCall call) = 0;
};

}  // namespace cdom::dra
