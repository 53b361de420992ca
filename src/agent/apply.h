// Apply: carries out what a NodePlan wants of the node itself, in order, up to the first intent
// that fails. A failure for one claim, or for the daemon, becomes a setback, and the next plan
// decides about the rest. The checkpoint that it wrote last is the one that counts. One thread.
#pragma once

#include <optional>
#include <string>

#include "agent/daemon_history.h"
#include "agent/refusals.h"
#include "agent/setbacks.h"
#include "compute_domain/agent/node_agent.h"
#include "compute_domain/core/node_plan.h"

namespace cdom::agent {

class Apply {
 public:
  Apply(NodePorts& ports, const core::NodeIdentity& self, core::Checkpoint& checkpoint,
        Mailbox& mailbox, Refusals& refusals, DaemonHistory& daemon, Setbacks& setbacks)
      : ports_(ports),
        self_(self),
        checkpoint_(checkpoint),
        mailbox_(mailbox),
        refusals_(refusals),
        daemon_(daemon),
        setbacks_(setbacks) {}

  // False: it stopped at a setback, and a new plan goes on without what that is of. An error is
  // the node's, and nothing can go on.
  base::Result<bool> on_the_node(const std::vector<core::NodeIntent>& intents);

 private:
  std::optional<base::Error> carry_out(const core::NodeIntent& intent);

  base::Result<void> act(const core::WriteCheckpoint& intent);
  base::Result<void> act(const core::WriteHosts& intent);
  base::Result<void> act(const core::ForgetImporters& intent);
  base::Result<void> act(const core::StartDaemon& intent);
  base::Result<void> act(const core::SignalDaemon& intent);
  base::Result<void> act(const core::StopDaemon& intent);
  base::Result<void> act(const core::PauseDriver& intent);
  base::Result<void> act(const core::WriteCdi& intent);
  base::Result<void> act(const core::RemoveCdi& intent);
  base::Result<void> act(const core::AnswerPrepared& intent);
  base::Result<void> act(const core::AnswerFailed& intent);
  base::Result<void> act(const core::AnswerUnprepared& intent);

  NodePorts& ports_;
  const core::NodeIdentity& self_;
  core::Checkpoint& checkpoint_;
  Mailbox& mailbox_;
  Refusals& refusals_;
  DaemonHistory& daemon_;
  Setbacks& setbacks_;
};

}  // namespace cdom::agent
