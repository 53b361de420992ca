// NodeAgent: one node's agent, as a machine that is stepped: gather, reconcile_node, apply.
//
// How it goes: kubelet's calls lie in the mailbox until a plan answers them; step() does one unit
// of work at a time and never waits for news. What a plan asks of the API server goes by mail to
// the ServerAgent, and the result comes back by mail, so that work on the node does not wait for
// it. What survives a crash is in the ports and in the API server: an agent may be destroyed at any
// point and replaced by a new one. One thread.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "compute_domain/agent/channel_injector.h"
#include "compute_domain/agent/checkpoint_store.h"
#include "compute_domain/agent/fabric.h"
#include "compute_domain/agent/imex_supervisor.h"
#include "compute_domain/agent/kubelet_state.h"
#include "compute_domain/agent/mailbox.h"
#include "compute_domain/agent/running_pods.h"
#include "compute_domain/agent/server_mail.h"
#include "compute_domain/base/clock.h"
#include "compute_domain/base/metrics.h"
#include "compute_domain/core/device_health.h"
#include "compute_domain/core/node_plan.h"

namespace cdom::agent {

struct NodeAgentOptions {
  core::NodeIdentity self;  // without an address: the one that the IMEX supervisor tells
  core::NodeTimes times;
  core::NodeSettings settings;
  std::string operator_namespace = "compute-domain-operator";
  std::uint64_t seed = 0;  // of the jitter
};

struct NodePorts {
  Fabric& fabric;
  ImexSupervisor& imex;
  CheckpointStore& checkpoints;
  ChannelInjector& channels;
  KubeletState& kubelet;
  RunningPods* pods = nullptr;  // null: kubelet's word that a claim is not used is all there is
  // Has kubelet name its pods again, as it may have dropped an event.
  std::function<void()> renew_pods = {};
};

class NodeAgent {
 public:
  // `metrics` may be null. The ports, the mailbox and the mail outlive the agent.
  NodeAgent(NodePorts ports, Mailbox& mailbox, ServerMail& mail, const base::Clock& clock,
            NodeAgentOptions options, base::Registry* metrics = nullptr);
  ~NodeAgent();
  NodeAgent(const NodeAgent&) = delete;
  NodeAgent& operator=(const NodeAgent&) = delete;

  // One unit of work, if there is any; whether there was.
  bool step();
  // When step() is worth calling without other news, on Clock::elapsed(). News are kubelet's calls,
  // results and changes of the ports.
  [[nodiscard]] std::optional<base::Duration> next_due() const;
  // When it looks again at what tells nobody that it has changed: files, and what other agents of
  // the node have written.
  [[nodiscard]] base::Duration next_look() const;

  // After the last step of a process that ends in order: a checkpoint that no agent needs goes,
  // when no other agent of the node is there.
  void leave();

  // The health of the devices, as it was at the last decision.
  [[nodiscard]] std::vector<core::DeviceHealth> devices() const;
  // Whether the API server has a report of this node.
  [[nodiscard]] bool has_published() const;

 private:
  class Shell;
  const std::unique_ptr<Shell> shell_;
};

}  // namespace cdom::agent
