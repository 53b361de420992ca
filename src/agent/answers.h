// Answers: what the API server said when it was asked about claims and domains.
//
// An error is an answer. Only what somebody still asks for is kept. One thread; while look_up()
// waits for the API server another may call the rest.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "compute_domain/core/node_plan.h"
#include "compute_domain/core/node_world.h"
#include "compute_domain/kube/client.h"

namespace cdom::agent {

class Answers {
 public:
  Answers(const kube::Client& client, const base::Clock& clock, std::string node,
          std::string operator_namespace)
      : client_(client),
        clock_(clock),
        node_(std::move(node)),
        operator_namespace_(std::move(operator_namespace)) {}

  void look_up(const core::LookUpClaim& question);
  void look_up(const core::LookUpPeer& question);
  void look_up(const core::LookUpList& question);
  void look_up(const core::LookUpDomains& question);
  // Drops what is about none of these. Peers are asked about while the daemon recovers; this node
  // itself is not one of them.
  void keep_only(const core::Checkpoint& checkpoint, const std::vector<core::WantedClaim>& wanted,
                 bool is_recovering);

  void show(core::NodeWorld& world) const;

 private:
  const kube::Client& client_;
  const base::Clock& clock_;
  const std::string node_, operator_namespace_;
  std::map<std::string, core::ClaimReading> claims_;     // by UID
  std::map<std::string, core::PeerReading> peers_;       // by node
  std::map<std::string, core::ListReading> lists_;       // by group
  std::map<std::string, core::DomainsReading> domains_;  // by namespace
};

}  // namespace cdom::agent
