// ServerRequests: carries out on the API server what a plan asks of it, and reports what came of
// it. One thread, which waits for the answers.
#pragma once

#include <optional>
#include <string>

#include "compute_domain/agent/server_mail.h"
#include "compute_domain/base/clock.h"
#include "compute_domain/kube/client.h"

namespace cdom::agent {

class ServerRequests {
 public:
  ServerRequests(const kube::Client& client, const base::Clock& clock, Queue<ServerResult>& results,
                 std::string node, std::string operator_namespace)
      : client_(client),
        clock_(clock),
        results_(results),
        node_(std::move(node)),
        operator_namespace_(std::move(operator_namespace)) {}

  // `seen_slices` is how far the watch of the slices has come. An error of a question is an answer.
  base::Result<void> run(const core::ServerIntent& intent, std::uint64_t seen_slices);

 private:
  // A report that is created gets its metadata in `write`.
  base::Result<api::ComputeDomainNode> write_report(core::PublishReport& write);
  base::Result<std::string> write_slice(const core::PublishSlice& intent);
  base::Result<void> remove_slice(const core::RemoveSlice& intent, std::uint64_t seen_slices);

  core::ClaimReading read(const core::LookUpClaim& question) const;
  core::PeerReading read(const core::LookUpPeer& question) const;
  core::ListReading read(const core::LookUpList& question) const;
  core::DomainsReading read(const core::LookUpDomains& question) const;

  const kube::Client& client_;
  const base::Clock& clock_;
  Queue<ServerResult>& results_;
  const std::string node_, operator_namespace_;
};

}  // namespace cdom::agent
