// EmbeddedSandbox: a whole cluster in this process: API server with its socket, control plane,
// nodes, and the operator itself, each on threads of its own. Ends when destroyed.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "compute_domain/base/clock.h"
#include "compute_domain/base/result.h"
#include "compute_domain/sandbox/api_server.h"
#include "compute_domain/sandbox/cluster.h"
#include "sandbox/main/sandbox_flags.h"

namespace cdom::program {

class EmbeddedSandbox {
 public:
  // `adjust` may put something between the cluster's parts and their ports, to observe them.
  using Adjust = std::function<void(sandbox::ClusterPorts&)>;
  // Invalid: names what cannot be started, and why.
  static base::Result<std::unique_ptr<EmbeddedSandbox>> start(const SandboxFlags& flags,
                                                              const base::Clock& clock,
                                                              const Adjust& adjust = {});
  ~EmbeddedSandbox();
  EmbeddedSandbox(const EmbeddedSandbox&) = delete;
  EmbeddedSandbox& operator=(const EmbeddedSandbox&) = delete;

  sandbox::ApiServer& server();
  // Of the API server's socket.
  [[nodiscard]] std::string address() const;
  // Every node is registered and has its agent.
  [[nodiscard]] bool is_up() const;

 private:
  struct Parts;
  explicit EmbeddedSandbox(std::unique_ptr<Parts> parts);
  const std::unique_ptr<Parts> parts_;
};

}  // namespace cdom::program
