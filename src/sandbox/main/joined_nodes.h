// JoinedNodes: simulated nodes (kubelets, IMEX and real node agents) in the cluster of somebody
// else's API server, on a thread of their own. Ends when destroyed.
#pragma once

#include <functional>
#include <memory>
#include <stop_token>

#include "compute_domain/base/clock.h"
#include "compute_domain/base/result.h"
#include "compute_domain/http/client.h"
#include "compute_domain/sandbox/cluster.h"
#include "sandbox/main/sandbox_flags.h"

namespace cdom::program {

class JoinedNodes {
 public:
  // `adjust` may put something between the nodes and their ports, to observe them.
  using Adjust = std::function<void(sandbox::ClusterPorts&)>;
  // `access`: of an administrator. Each agent has a token of its ServiceAccount that is bound to
  // its pod, so that permissions are real. A server that does not answer is waited for until
  // `stop`; NotFound when it serves no resource.k8s.io that we speak.
  static base::Result<std::unique_ptr<JoinedNodes>> join(const SandboxFlags& flags,
                                                         http::ClientConfig access,
                                                         const base::Clock& clock,
                                                         const std::stop_token& stop = {},
                                                         const Adjust& adjust = {});
  ~JoinedNodes();
  JoinedNodes(const JoinedNodes&) = delete;
  JoinedNodes& operator=(const JoinedNodes&) = delete;

  [[nodiscard]] std::size_t count() const;
  // Every node is registered and has its agent.
  [[nodiscard]] bool is_up() const;

 private:
  struct Parts;
  explicit JoinedNodes(std::unique_ptr<Parts> parts);
  const std::unique_ptr<Parts> parts_;
};

}  // namespace cdom::program
