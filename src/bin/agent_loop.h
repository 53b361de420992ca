// AgentLoop: steps a node's agent on a thread of its own, as soon as there is something new.
//
// It sleeps until somebody rings, a port has news, something is due, or a second has passed: some
// ports tell nobody when they come back. An exception of the agent ends the loop; the process is
// then to end too, as a new agent may take its place at any point.
#pragma once

#include <array>
#include <functional>
#include <string>
#include <thread>

#include "bin/bell.h"
#include "bin/claim_desk.h"
#include "compute_domain/agent/node_agent.h"
#include "compute_domain/base/clock.h"

namespace cdom::bin {

class AgentLoop {
 public:
  struct Parts {
    agent::NodeAgent& agent;
    ClaimDesk& desk;
    // Readable when a port has news, as they are now; -1 for one that cannot tell.
    std::function<std::array<int, 2>()> descriptors;
    const Bell& bell;
    const base::Clock& clock;
    // In the loop's thread.
    std::function<void()> after_round;               // when there is nothing left to do
    std::function<void(const std::string&)> broken;  // once: what the agent has thrown
  };
  explicit AgentLoop(Parts parts);
  // Ends after the step in progress.
  ~AgentLoop();
  AgentLoop(const AgentLoop&) = delete;
  AgentLoop& operator=(const AgentLoop&) = delete;

 private:
  void run(const std::stop_token& stop);
  void round(const std::stop_token& stop);
  void sleep();

  const Parts parts_;
  std::jthread thread_;
};

}  // namespace cdom::bin
