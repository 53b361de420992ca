// AgentLoop: steps the two sides of a node's agent as soon as there is something new, each on a
// thread of its own: one answers kubelet and does what the node itself can do, the other uses the
// API server.
//
// Both sleep until they are woken or something is due; the first one also until a port has news, or
// it is to look at what tells nobody that it has changed. An exception of the agent
// ends the loop; the process must then end too, as a new agent may take its place at any point.
#pragma once

#include <functional>
#include <string>
#include <thread>

#include "agent/main/wakeup.h"
#include "compute_domain/agent/mailbox.h"
#include "compute_domain/agent/node_agent.h"
#include "compute_domain/agent/server_agent.h"
#include "compute_domain/base/clock.h"
#include "compute_domain/base/pulses.h"

namespace cdom::program {

class AgentLoop {
 public:
  struct Parts {
    agent::NodeAgent& node;
    agent::ServerAgent& server;
    agent::Mailbox& mailbox;
    // Readable when a port has news, as it is now; -1: none can tell.
    std::function<int()> descriptor;
    const Wakeup& wakeup;         // of the mailbox and of the results
    const Wakeup& server_wakeup;  // of the orders and of the watches
    const base::Clock& clock;
    base::Pulses& pulses;
    // In the first thread.
    std::function<void()> after_round;  // when there is nothing left to do
    // In any thread: what the agent has thrown.
    std::function<void(const std::string&)> broken;
  };
  explicit AgentLoop(Parts parts);
  // Ends after the steps in progress.
  ~AgentLoop();
  AgentLoop(const AgentLoop&) = delete;
  AgentLoop& operator=(const AgentLoop&) = delete;

 private:
  using Round = base::Duration (AgentLoop::*)(const std::stop_token& stop);

  void run(const std::stop_token& stop, const Wakeup& wakeup, base::Pulses::Pulse& pulse,
           Round round, bool has_ports);
  // Both give how long to sleep.
  base::Duration node_round(const std::stop_token& stop);
  base::Duration server_round(const std::stop_token& stop);
  void sleep(const Wakeup& wakeup, bool has_ports, base::Duration nap);

  const Parts parts_;
  base::Pulses::Pulse &node_pulse_, &server_pulse_;
  std::jthread node_, server_;
};

}  // namespace cdom::program
