// KubeletCalls: puts kubelet's calls, which module dra gets, into the agent's mailbox, and gives
// the agent's answers back in dra's types. It keeps nothing. Thread-safe.
#pragma once

#include "compute_domain/agent/mailbox.h"
#include "compute_domain/dra/driver.h"

namespace cdom::program {

class KubeletCalls : public dra::Driver {
 public:
  // The mailbox outlives it.
  explicit KubeletCalls(agent::Mailbox& mailbox) : mailbox_(mailbox) {}
  void post(dra::ClaimCall call) override;

 private:
  agent::Mailbox& mailbox_;
};

}  // namespace cdom::program
