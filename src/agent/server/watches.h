// Watches: the three that an agent holds: the node lists of the clique that it serves, its own
// slices, and its own report. What they show goes out as mail. One thread.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "compute_domain/agent/node_agent.h"
#include "compute_domain/agent/server_mail.h"
#include "compute_domain/kube/informer.h"

namespace cdom::agent {

class Watches {
 public:
  Watches(const kube::Client& client, const base::Clock& clock, Queue<ServerResult>& results,
          const NodeAgentOptions& options, base::Registry* metrics);

  // From now on the lists are this clique's.
  void follow(const std::string& clique);
  // One unit of work of one of them; whether there was any.
  bool step();
  [[nodiscard]] std::optional<base::Duration> next_due() const;
  [[nodiscard]] std::uint64_t seen_slices() const { return slices_.store().seen_version(); }

 private:
  template <class T>
  using Watch = kube::Informer<T>;

  bool step_lists();
  template <class T>
  bool step_own(Watch<T>& watch);

  const kube::Client& client_;
  const base::Clock& clock_;
  Queue<ServerResult>& results_;
  const NodeAgentOptions options_;
  base::Registry* const metrics_;
  std::unique_ptr<Watch<api::ConfigMap>> lists_;  // none before a clique is known
  bool have_synced_ = false;                      // as was said
  Watch<api::ResourceSlice> slices_;
  Watch<api::ComputeDomainNode> report_;
};

}  // namespace cdom::agent
