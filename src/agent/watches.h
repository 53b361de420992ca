// Watches: the three that an agent holds: the node lists of the clique that it serves, its own
// slices, and its own report.
//
// step() may wait for the API server; meanwhile another thread may call everything else.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "agent/flight.h"
#include "agent/list_history.h"
#include "compute_domain/agent/node_agent.h"
#include "compute_domain/core/node_plan.h"
#include "compute_domain/core/node_world.h"
#include "compute_domain/kube/informer.h"

namespace cdom::agent {

class Watches {
 public:
  Watches(const kube::Client& client, const base::Clock& clock, const NodeAgentOptions& options,
          base::Registry* metrics);

  // The lists of this clique are watched from the next step on.
  void follow(const std::string& clique) { wanted_ = clique; }
  // One unit of work of one of them; whether there was any.
  bool step();
  [[nodiscard]] std::optional<base::Duration> next_due() const;
  // When a write that the watches have not shown is not waited for any more.
  [[nodiscard]] std::optional<base::Duration> flights_end() const;

  void show(core::NodeWorld& world) const;

  // What became of writes.
  void wrote_report(const std::string& resource_version);
  void report_was_cut(const core::PublishReport& write);
  void wrote_slice(const std::string& resource_version);
  void removed_slice();
  void failed_report(const base::Error& error);
  void failed_slice(const base::Error& error);

 private:
  template <class T>
  using Watch = kube::Informer<T>;

  void watch_lists_of(const std::string& clique);

  const kube::Client& client_;
  const base::Clock& clock_;
  const NodeAgentOptions options_;
  base::Registry* const metrics_;
  std::optional<std::string> wanted_, clique_;  // asked for; watched
  ListHistory history_;
  std::unique_ptr<Watch<api::ConfigMap>> lists_;  // none before a clique is known
  Watch<api::ResourceSlice> slices_;
  Watch<api::ComputeDomainNode> report_;
  Flight slice_flight_, report_flight_;
  std::optional<core::CutReport> cut_report_;
};

}  // namespace cdom::agent
