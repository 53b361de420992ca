// KubeletCalls: the calls that module dra has from kubelet, put into the agent's mailbox, and the
// agent's answers in dra's words. It keeps nothing. Thread-safe.
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
