// Apply: carries out a NodePlan, up to the first intent that does not succeed: in order what
// concerns this node alone; what asks or tells the API server is carried out one by one. What fails
// for one claim, or for the daemon, becomes a setback, and the rest is for the next plan to decide.
//
// One thread; while one_on_the_server() waits for the API server another may call the rest. The
// checkpoint that it was last able to write is the one that counts.
#pragma once

#include <optional>
#include <string>

#include "agent/agent_metrics.h"
#include "agent/answers.h"
#include "agent/daemon_history.h"
#include "agent/refusals.h"
#include "agent/setbacks.h"
#include "agent/watches.h"
#include "compute_domain/agent/node_agent.h"
#include "compute_domain/core/node_plan.h"

namespace cdom::agent {

class Apply {
 public:
  Apply(NodePorts& ports, const core::NodeIdentity& self, core::Checkpoint& checkpoint,
        Mailbox& mailbox, Refusals& refusals, Answers& answers, Watches& watches,
        DaemonHistory& daemon, Setbacks& setbacks, const AgentMetrics& metrics)
      : ports_(ports),
        self_(self),
        checkpoint_(checkpoint),
        mailbox_(mailbox),
        refusals_(refusals),
        answers_(answers),
        watches_(watches),
        daemon_(daemon),
        setbacks_(setbacks),
        metrics_(metrics) {}

  // False: it stopped at a setback, and a new plan goes on without what that is of. An error is
  // the node's, and nothing can go on.
  base::Result<bool> on_the_node(const std::vector<core::NodeIntent>& intents);
  // A write to the API server has a backoff of its own.
  std::optional<base::Error> one_on_the_server(const core::ServerIntent& intent);

 private:
  template <class Intent>
  std::optional<base::Error> carry_out(const Intent& intent);

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
  base::Result<void> act(const core::PublishReport& intent);
  base::Result<void> act(const core::PublishSlice& intent);
  base::Result<void> act(const core::RemoveSlice& intent);
  base::Result<void> act(const core::LookUpClaim& intent);
  base::Result<void> act(const core::LookUpPeer& intent);
  base::Result<void> act(const core::LookUpList& intent);
  base::Result<void> act(const core::LookUpDomains& intent);

  base::Result<std::string> write_report(const core::PublishReport& intent);
  base::Result<std::string> write_slice(const core::PublishSlice& intent);

  NodePorts& ports_;
  const core::NodeIdentity& self_;
  core::Checkpoint& checkpoint_;
  Mailbox& mailbox_;
  Refusals& refusals_;
  Answers& answers_;
  Watches& watches_;
  DaemonHistory& daemon_;
  Setbacks& setbacks_;
  const AgentMetrics& metrics_;
};

}  // namespace cdom::agent
