// NamespaceController: makes the namespaces that every cluster has, empties those that are being
// deleted and lets them go, and gives every other its ServiceAccount `default`.
//
// Which resources a namespace may hold is asked of the API server's discovery each time, so that
// custom resources go too. One thread.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sandbox/cluster/agenda.h"
#include "sandbox/cluster/mirrors.h"
#include "sandbox/cluster/objects.h"

namespace cdom::sandbox {

class NamespaceController : public Part {
 public:
  // Needs a mirror of namespaces.
  NamespaceController(http::Client& client, const Mirrors& mirrors, const base::Clock& clock);

  bool step() override;
  [[nodiscard]] std::optional<base::Duration> next_due() const override;

 private:
  bool sync(const std::string& name);
  bool ensure_namespace(const std::string& name);
  bool ensure_service_account(const std::string& ns);
  // How many objects are still there; Unavailable when one could not be asked for.
  base::Result<std::size_t> remove_contents(const std::string& ns);
  base::Result<std::vector<std::string>> namespaced_collections(const std::string& ns);
  base::Result<json> get(const std::string& path);

  http::Client& client_;
  Objects objects_;
  const Mirror& namespaces_;
  Agenda<std::string> agenda_;
};

}  // namespace cdom::sandbox
