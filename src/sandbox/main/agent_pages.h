// AgentPages: the metrics of the agents that run now, each at a path of its own, at one address.
//
// GET /nodes/NODE/metrics is what a real agent has at /metrics; GET /targets names them all, as
// Prometheus' http_sd_configs wants it. An agent that is gone has no page. Thread-safe.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "compute_domain/base/metrics.h"
#include "compute_domain/base/result.h"
#include "compute_domain/http/server.h"

namespace cdom::program {

class AgentPages {
 public:
  // The registry must stay until remove(); a node has one agent at a time.
  void add(const std::string& node, const base::Registry& registry);
  void remove(const std::string& node);

  // What a GET of that path is answered by a server at `address`.
  [[nodiscard]] http::Response page(const std::string& path, const std::string& address) const;

 private:
  [[nodiscard]] std::string targets(const std::string& address) const;

  mutable std::mutex mutex_;
  std::map<std::string, const base::Registry*> by_node_;
};

// Serves the pages, which must outlive the server. Invalid: the address cannot be used.
base::Result<std::unique_ptr<http::Server>> serve_agent_pages(const std::string& listen,
                                                              const AgentPages& pages);

}  // namespace cdom::program
