// Names: what the things of the model are called, by number.
#pragma once

#include <string>

#include "compute_domain/base/text.h"
#include "compute_domain/core/membership.h"
#include "core/builders.h"
#include "core/model/state.h"

namespace cdom::core::model {

inline std::string node_name(int node) { return base::cat("n", node + 1); }
inline std::string domain_name(int domain) { return domain == 0 ? "train" : "serve"; }
inline std::string domain_uid(int domain) { return testing::uid_of(domain_name(domain)); }
inline std::string boot_name(Count boot) { return base::cat("boot-", int{boot}); }
inline std::string group_of(int domain) { return group_id({domain_uid(domain), testing::kClique}); }

inline std::string claim_uid(int domain, int node, Count generation) {
  return base::cat("claim-", domain, "-", node, "-", int{generation});
}

}  // namespace cdom::core::model
