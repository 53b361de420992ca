// BigCluster: an API server with thousands of nodes, and agents that answer at once.
//
// Racks of 18 nodes, each with a Node object of more than 4 KB. As in a cluster where the operator
// is installed, the controller labels them first, and only then they have agents: a seat, a report
// and a pod that is ready, without which the controller takes an agent for dead after a while. The
// agents are one thread: when a node list is complete, each of its nodes reports READY, connected
// to all.
#pragma once

#include <functional>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <thread>

#include "compute_domain/base/clock.h"
#include "compute_domain/sandbox/api_front.h"
#include "compute_domain/sandbox/api_server.h"

namespace cdom::bench {

class BigCluster {
 public:
  static constexpr int kNodesPerRack = 18;

  BigCluster(const base::Clock& clock, int racks);
  ~BigCluster();

  [[nodiscard]] int racks() const { return racks_; }
  [[nodiscard]] int nodes() const { return racks_ * kNodesPerRack; }

  // Of the administrator, for processes outside.
  [[nodiscard]] const std::string& kubeconfig() const { return kubeconfig_; }
  // Of a Node object, as the API server gives it.
  [[nodiscard]] std::size_t node_size() const { return node_size_; }

  // An agent on each node.
  void create_agents();
  // One domain for each rack.
  void create_domains();
  // A claim on each node, allocated and reserved, of the domain of its rack.
  void create_claims();
  // As kubelets do: each node's status every five minutes, for `span`. Goes on where it ended
  // before.
  void heartbeat(base::Duration span);

  // Waits until all Nodes have the label of those that have an agent, or all domains their
  // template, or all are Ready; the moment at which a watch showed it. Throws after two minutes, or
  // a fifth of a second for each domain where that is longer.
  base::Time wait_for_labels();
  base::Time wait_for_templates();
  base::Time wait_until_ready();

 private:
  std::string send(const std::string& method, const std::string& target, const std::string& body);
  void create_node(int rack, int place);
  void create_agent(int rack, int place);
  // Reports each node that a complete list admits as READY, once.
  void answer_lists(const std::stop_token& stop);
  void answer(std::string_view line, std::set<std::string>& answered);
  // The moment at which the watch of `target` brought the last line that is waited for.
  using IsLast = std::function<bool(std::string_view line)>;
  base::Time read_until(const std::string& target, const IsLast& is_last);
  // The name of the domain of which a line of the watch brings what is waited for; "" for others.
  using Bringing = std::function<std::string(std::string_view line)>;
  base::Time wait_for_all(const std::string& collection, const Bringing& domain_in);

  const base::Clock& clock_;
  const int racks_;
  sandbox::ApiServer server_;
  std::unique_ptr<http::Client> user_;
  std::unique_ptr<sandbox::ApiFront> front_;
  std::string kubeconfig_;
  std::size_t node_size_ = 0;
  int beats_ = 0;
  std::jthread agents_;
};

}  // namespace cdom::bench
