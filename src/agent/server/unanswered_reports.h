// UnansweredReports: what the API server may have stored of this node's report although no answer
// came. If a daemon started while "stopped" is stored for it, its peers would not expect it.
//
// A write is for one version of the report. Once another version is seen, or a later write is
// answered, it has been stored before that or it never will be. One thread.
#pragma once

#include <algorithm>
#include <cstdint>
#include <set>
#include <string>

#include "compute_domain/core/node_plan.h"
#include "compute_domain/kube/store.h"

namespace cdom::agent {

class UnansweredReports {
 public:
  // Leaves out what `base`, the report that the write was for, says already; null: not known.
  void add(const core::PublishReport& write, const api::ComputeDomainNode* base) {
    last_base_ = std::max(last_base_, kube::version_number(write.current.resource_version));
    const bool is_known =
        base != nullptr && base->meta.resource_version == write.current.resource_version;
    for (const api::ImexGroupReport& group : write.report.groups) {
      if (group.state != api::DaemonState::Stopped) continue;
      const auto* said = is_known ? api::find_group(base->status, group.group) : nullptr;
      const bool is_said =
          said != nullptr && said->state == group.state && said->term == group.term;
      if (!is_said) stopped_.insert({group.group, group.term});
    }
  }
  // The report is there in this version.
  void see(const std::string& resource_version) {
    if (kube::version_number(resource_version) > last_base_) clear();
  }
  // A later write was answered.
  void clear() {
    stopped_.clear();
    last_base_ = 0;
  }

  [[nodiscard]] const std::set<core::ImexGroupTerm>& stopped() const { return stopped_; }

 private:
  std::set<core::ImexGroupTerm> stopped_;
  std::uint64_t last_base_ = 0;
};

}  // namespace cdom::agent
