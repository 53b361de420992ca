// Admission: a claim is prepared exactly when a node list says so. Pure.
#pragma once

#include <optional>
#include <string>

#include "core/node/claims/claim_wish.h"
#include "core/node/draft.h"

namespace cdom::core {

struct AdmittedBy {
  const SeenList* list = nullptr;
  const api::NodeListEntry* entry = nullptr;
  std::int64_t channel = 0;
};
// An entry that was written for another boot of this node admits nothing.
std::optional<AdmittedBy> admission_of(const NodeWorld& world, const std::string& claim_uid);

struct NoAdmission {
  std::string reason;
  bool may_come = false;  // without a change of the claim or its domain
};
// Why nothing admits the claim, once the domains of its namespace have been looked up.
NoAdmission why_not_admitted(const NodeWorld& world, const ClaimRef& claim,
                             const std::string& domain_uid, const DomainsReading& domains);

}  // namespace cdom::core
