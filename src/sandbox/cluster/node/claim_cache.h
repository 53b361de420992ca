// ClaimCache: kubelet's own record of ResourceClaims on a node, and its calls of the DRA driver.
//
// As kubelet's dra_manager_state: a pod's reference is recorded before the driver is called; the
// driver hears of a claim once, however many pods share it, and again only after a restart; it is
// told of the end when the last pod has gone. The record survives a reboot, the knowledge of what
// is prepared does not. (dra-kubelet-plugin, prepare and unprepare.) One thread.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "compute_domain/base/clock.h"
#include "compute_domain/sandbox/node_plugin.h"

namespace cdom::sandbox {

class ClaimCache {
 public:
  // kubelet's deadline of NodePrepareResources and NodeUnprepareResources.
  static constexpr base::Duration kCallTimeout = std::chrono::seconds(45);

  explicit ClaimCache(const base::Clock& clock) : clock_(clock) {}

  // One step of preparing all claims of a pod; Failed when one failed or time is up, with the text
  // of kubelet's Event. The next call after Failed begins anew. `plugin` null: no driver.
  PrepareStep prepare(const std::string& pod_uid, const std::vector<ClaimRef>& claims,
                      NodePlugin* plugin);
  // One step of dropping the pod's references. Done when it has none left.
  PrepareStep unprepare(const std::string& pod_uid, NodePlugin* plugin);

  // When a call in progress will have timed out.
  [[nodiscard]] std::optional<base::Duration> next_due() const;
  [[nodiscard]] std::vector<ClaimRef> claims() const;
  // UIDs of the pods that hold references.
  [[nodiscard]] std::set<std::string> pods() const;
  // What the pod's containers get: all of them together, or one that uses these claims.
  [[nodiscard]] std::vector<std::string> devices_of(const std::string& pod_uid) const;
  [[nodiscard]] std::vector<std::string> devices_of(const std::string& pod_uid,
                                                    const std::set<std::string>& claims) const;
  // kubelet has restarted, or the node has.
  void forget_prepared();

 private:
  struct Entry {
    ClaimRef claim;
    std::set<std::string> pods;
    bool is_prepared = false;
    std::vector<std::string> devices;
    std::optional<PrepareStep> answer;  // of the driver, in the call in progress
  };
  using Key = std::pair<std::string, std::string>;  // namespace, name

  std::optional<std::string> add_reference(const std::string& pod_uid, const ClaimRef& claim);
  // Starts the clock of a call if it does not run; whether its time is up.
  bool is_overdue(const std::string& pod_uid);
  PrepareStep fail(const std::string& pod_uid, std::string reason);
  void end_call(const std::string& pod_uid);

  const base::Clock& clock_;
  std::map<Key, Entry> entries_;
  std::map<std::string, base::Duration> call_ends_;  // by pod UID
};

}  // namespace cdom::sandbox
