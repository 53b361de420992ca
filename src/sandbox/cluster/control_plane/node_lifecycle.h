// NodeLifecycle: the node controllers of kube-controller-manager.
//
// A node whose Lease and status nobody renews for 50 s gets Ready Unknown; Ready Unknown or False
// puts the taints unreachable or not-ready on it and makes its pods not ready. Pods leave a node
// under a NoExecute taint when their toleration ends (300 s for those two, as admission gives
// every pod). Pods of nodes that are gone, and terminating pods of nodes that an administrator
// declared out of service, are removed by force. One thread.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "compute_domain/kube/events.h"
#include "sandbox/cluster/informers.h"
#include "sandbox/cluster/json_client.h"
#include "sandbox/cluster/own_writes.h"
#include "sandbox/cluster/sync_next.h"

namespace cdom::sandbox {

class NodeLifecycle : public Part {
 public:
  // kube-controller-manager's --node-monitor-grace-period, since 1.32.
  static constexpr base::Duration kGracePeriod = std::chrono::seconds(50);
  // How long the pod garbage collector doubts that a Node is gone.
  static constexpr base::Duration kQuarantine = std::chrono::seconds(40);

  // Needs informers of nodes, pods and leases.
  NodeLifecycle(const kube::Client& client, const Informers& informers, const base::Clock& clock,
                base::Random random);

  bool step() override;
  [[nodiscard]] std::optional<base::Duration> next_due() const override;

 private:
  void hear_from(const std::string& node);
  Synced sync_node(const std::string& name);
  bool become_unknown(const json& node);
  bool keep_taints(const json& node, const std::string& ready);
  bool keep_pods_not_ready(const json& node);
  Synced sync_pod(const api::ObjectName& key);
  Synced evict(const json& pod, const json& node);
  bool remove_by_force(const json& pod);
  void look_at_pods_of(const std::string& node);

  JsonClient objects_;
  const base::Clock& clock_;
  const JsonInformer& nodes_;
  const JsonInformer& pods_;
  const JsonInformer& leases_;
  kube::EventRecorder recorder_;
  OwnWrites writes_;
  kube::WorkQueue<std::string> node_queue_;
  kube::WorkQueue<api::ObjectName> pod_queue_;
  std::map<std::string, base::Duration> heard_;          // when a node last gave a sign of life
  std::map<std::string, base::Duration> missing_since_;  // nodes that pods name and that are absent
};

}  // namespace cdom::sandbox
