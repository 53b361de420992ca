#include "agent/node_lacks.h"

#include "compute_domain/base/text.h"
#include "compute_domain/core/reasons.h"

namespace cdom::agent {

std::vector<core::NodeFault> faults_by(const std::vector<base::NodeLack>& lacks) {
  std::vector<core::NodeFault> faults;
  for (const base::NodeLack& lack : lacks) {
    const auto reason = core::Reason::find(lack.reason);
    if (!reason || reason->row().subject != core::Subject::Node) {
      if (lack.is_blocking) faults.push_back({core::kFaultImex, "ImexCannotStart", lack.message});
      continue;
    }
    core::NodeFault fault{
        .reason = *reason, .message = lack.message, .is_blocking = lack.is_blocking};
    for (const std::string& part : base::split(reason->row().where, ',')) {
      const std::string_view condition = base::trim(part);
      if (condition == api::kConditionCanServe) {
        fault.is_blocking = true;
      } else {
        fault.type = condition;
      }
    }
    if (!fault.type.empty()) faults.push_back(std::move(fault));
  }
  return faults;
}

}  // namespace cdom::agent
