// ClaimDesk: where kubelet's calls, each in a thread of its own, meet the agent, which has one.
//
// A call lies here until the agent has its answer, nobody waits for it any more, or the patience is
// over: kubelet then gets an error that says what is still missing. serve() is for the agent's
// thread, all else for any.
#pragma once

#include <condition_variable>
#include <functional>
#include <list>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "compute_domain/agent/node_agent.h"
#include "compute_domain/base/clock.h"
#include "compute_domain/dra/driver.h"

namespace cdom::program {

class ClaimDesk : public dra::Driver {
 public:
  // `on_call` is called when there is a new call, or one was withdrawn. Kubelet's own deadline is
  // 45 s; the agent gives up a prepare after 40 s, with a better reason.
  explicit ClaimDesk(std::function<void()> on_call,
                     base::Duration patience = std::chrono::seconds(42));

  base::Result<std::vector<dra::PreparedDevice>> prepare(const dra::Claim& claim,
                                                         std::stop_token stop) override;
  base::Result<void> unprepare(const dra::Claim& claim, std::stop_token stop) override;

  // Asks the agent about each call, and hands out its answers.
  void serve(agent::NodeAgent& agent);

 private:
  enum class Operation { Prepare, Unprepare };
  struct Call {
    Operation operation;
    core::ClaimRef claim;
    agent::ClaimStep step;  // the last answer
    bool is_answered = false;
  };

  // The step is Done, or there is an error.
  base::Result<agent::ClaimStep> ask(Operation operation, const dra::Claim& claim,
                                     const std::stop_token& stop);

  const std::function<void()> on_call_;
  const base::Duration patience_;
  std::mutex mutex_;
  std::condition_variable_any answered_;
  std::list<Call> calls_;
  std::vector<std::string> withdrawn_;  // claim UIDs
};

}  // namespace cdom::program
