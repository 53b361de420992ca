#include "compute_domain/core/listed_domain.h"

#include "compute_domain/base/text.h"
#include "compute_domain/core/status.h"

namespace cdom::core {

namespace {

std::string message_of_predecessor(const api::ComputeDomain& domain) {
  if (!domain.status) return "";
  const auto* ready = api::find_condition(domain.status->conditions, kConditionReady);
  const bool is_served = ready != nullptr && ready->reason == kServedByPredecessor.name();
  return is_served ? base::shortened(ready->message, ListedDomain::kLongestText) : "";
}

}  // namespace

ListedDomain listed_domain(const api::ComputeDomain& domain) {
  return {.uid = domain.meta.uid,
          .name = domain.meta.name,
          .is_deleting = domain.meta.is_deleting(),
          .is_automatic = domain.spec.workload.has_value(),
          .predecessor = message_of_predecessor(domain)};
}

}  // namespace cdom::core
