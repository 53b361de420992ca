// ServerAgent: the side of a node's agent that uses the API server. It carries out what plans ask
// of that server, and holds the watches. It decides nothing.
//
// One thread, which may wait in the client for an answer: NodeAgent goes on meanwhile, and gets the
// result by mail.
#pragma once

#include <memory>
#include <optional>

#include "compute_domain/agent/node_agent.h"
#include "compute_domain/agent/server_mail.h"
#include "compute_domain/kube/client.h"

namespace cdom::agent {

class ServerAgent {
 public:
  // `metrics` may be null. The client and the mail outlive it.
  ServerAgent(const kube::Client& client, ServerMail& mail, const base::Clock& clock,
              const NodeAgentOptions& options, base::Registry* metrics = nullptr);
  ~ServerAgent();
  ServerAgent(const ServerAgent&) = delete;
  ServerAgent& operator=(const ServerAgent&) = delete;

  // One unit of work, if there is any; whether there was.
  bool step();
  // When step() is worth calling without other news, on Clock::elapsed(). News are orders and
  // events of the watches.
  [[nodiscard]] std::optional<base::Duration> next_due() const;

 private:
  class Shell;
  const std::unique_ptr<Shell> shell_;
};

}  // namespace cdom::agent
