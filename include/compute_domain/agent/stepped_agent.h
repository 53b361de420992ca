// SteppedAgent: both sides of an agent and the mail between them, for the sandbox and tests, which
// step them by hand and poll for each answer. One thread.
#pragma once

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include "compute_domain/agent/mailbox.h"
#include "compute_domain/agent/node_agent.h"
#include "compute_domain/agent/server_agent.h"

namespace cdom::agent {

// Where one claim stands.
struct ClaimStep {
  enum class State {
    Done,
    Waiting,  // `reason` says for what; ask again
    Failed,   // `reason` is the error
  };
  State state = State::Waiting;
  std::string reason;
  bool permanent = false;                     // Failed: no repetition can help
  std::vector<core::PreparedDevice> devices;  // Done, of a prepare
};

class SteppedAgent {
 public:
  SteppedAgent(const kube::Client& client, NodePorts ports, const base::Clock& clock,
               const NodeAgentOptions& options, base::Registry* metrics = nullptr)
      : clock_(clock),
        mailbox_(clock),
        node_(std::move(ports), mailbox_, mail_, clock, options, metrics),
        server_(client, mail_, clock, options, metrics) {}

  // Asked again until it is Done or Failed; that answer is given once, and the next call is a new
  // question, as is one after a long silence. Each ends an open question of the other kind about
  // the same claim.
  ClaimStep prepare(const core::ClaimRef& claim) { return ask(Operation::Prepare, claim); }
  ClaimStep unprepare(const core::ClaimRef& claim) { return ask(Operation::Unprepare, claim); }
  // Nobody asks about this claim any more: the next question is a new one.
  void withdraw(const std::string& claim_uid) { end(claim_uid); }

  bool step() { return server_.step() || node_.step(); }
  // One side alone.
  bool step_server() { return server_.step(); }
  bool step_node() { return node_.step(); }
  [[nodiscard]] std::optional<base::Duration> next_due() const {
    const auto node = node_.next_due(), server = server_.next_due();
    return node && server ? std::min(*node, *server) : node ? node : server;
  }
  [[nodiscard]] base::Duration next_look() const { return node_.next_look(); }
  void leave() { node_.leave(); }
  Mailbox& mailbox() { return mailbox_; }

 private:
  struct Question {
    Operation operation;
    base::Duration asked{};
    std::stop_source stop;
    std::shared_ptr<std::optional<CallAnswer>> answer;  // as the reply gives it
  };
  static constexpr base::Duration kForgottenAfter = std::chrono::seconds(60);

  ClaimStep ask(Operation operation, const core::ClaimRef& claim) {
    const base::Duration now = clock_.elapsed();
    const auto known = questions_.find(claim.uid);
    if (known != questions_.end() &&
        (known->second.operation != operation || known->second.asked + kForgottenAfter < now)) {
      end(claim.uid);
    }
    const auto [it, is_new] = questions_.try_emplace(claim.uid);
    Question& question = it->second;
    if (is_new) {
      question.operation = operation;
      question.answer = std::make_shared<std::optional<CallAnswer>>();
      mailbox_.post({operation, claim,
                     [answer = question.answer](const CallAnswer& given) { *answer = given; },
                     question.stop.get_token()});
    }
    question.asked = now;
    if (!*question.answer) return {.reason = mailbox_.reason_of(claim.uid), .devices = {}};
    CallAnswer given = **question.answer;
    questions_.erase(it);
    const auto state = given.error.empty() ? ClaimStep::State::Done : ClaimStep::State::Failed;
    return {state, std::move(given.error), given.permanent, std::move(given.devices)};
  }
  void end(const std::string& claim_uid) {
    const auto it = questions_.find(claim_uid);
    if (it == questions_.end()) return;
    it->second.stop.request_stop();
    questions_.erase(it);
  }

  const base::Clock& clock_;
  Mailbox mailbox_;
  ServerMail mail_;
  NodeAgent node_;
  ServerAgent server_;
  std::map<std::string, Question> questions_;  // by claim UID
};

}  // namespace cdom::agent
