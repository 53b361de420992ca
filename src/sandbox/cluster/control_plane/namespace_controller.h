// NamespaceController: makes the namespaces that every cluster has, empties those that are being
// deleted and lets them go, and gives every other its ServiceAccount `default`.
//
// Which resources a namespace may hold is asked of the API server's discovery each time, so that
// custom resources go too. One thread.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sandbox/cluster/informers.h"
#include "sandbox/cluster/json_client.h"
#include "sandbox/cluster/sync_next.h"

namespace cdom::sandbox {

class NamespaceController : public Part {
 public:
  // Needs an informer of namespaces.
  NamespaceController(const kube::Client& client, const Informers& informers,
                      const base::Clock& clock);

  bool step() override;
  [[nodiscard]] std::optional<base::Duration> next_due() const override;

 private:
  bool sync(const std::string& name);
  bool ensure_namespace(const std::string& name);
  bool ensure_service_account(const std::string& ns);
  // How many objects are still there; Unavailable when one could not be asked for.
  base::Result<std::size_t> remove_contents(const std::string& ns);
  base::Result<std::size_t> remove_all(const api::Kind& kind, const std::string& ns);

  JsonClient objects_;
  const JsonInformer& namespaces_;
  kube::WorkQueue<std::string> queue_;
};

}  // namespace cdom::sandbox
