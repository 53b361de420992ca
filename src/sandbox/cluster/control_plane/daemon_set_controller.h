// DaemonSetController: of the one of kube-controller-manager the part that counts: it keeps the
// status of DaemonSets, by the pods that they own. It makes no pods: a Machine makes its agent's.
// One thread.
#pragma once

#include <optional>

#include "sandbox/cluster/informers.h"
#include "sandbox/cluster/json_client.h"
#include "sandbox/cluster/own_writes.h"
#include "sandbox/cluster/sync_next.h"

namespace cdom::sandbox {

class DaemonSetController : public Part {
 public:
  DaemonSetController(const kube::Client& client, JsonInformer& daemon_sets, JsonInformer& pods,
                      const base::Clock& clock);

  bool step() override;
  [[nodiscard]] std::optional<base::Duration> next_due() const override;

 private:
  void see_pod(const Change& change);
  Synced sync(const api::ObjectName& key);
  // What the status has to say, with null for what it must not have.
  [[nodiscard]] json count(const json& daemon_set) const;

  JsonClient objects_;
  const JsonInformer& daemon_sets_;
  const JsonInformer& pods_;
  OwnWrites writes_;
  kube::WorkQueue<api::ObjectName> queue_;
};

}  // namespace cdom::sandbox
