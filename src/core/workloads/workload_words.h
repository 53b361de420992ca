// How pods are named and ended by what has made them, for people. Pure.
#pragma once

#include <string>

#include "compute_domain/api/compute_domain.h"

namespace cdom::core {

// What to do so that the pods of a workload end, for example "kubectl delete job train -n team-a".
// `api_version` is that of its kind; "" when it is not known. Kind and name are written by users
// and read by people who may do more: "" where the kind is not known to be a workload's in a
// namespace, or the text is not one that a command can have.
std::string how_to_end(const api::Workload& workload, const std::string& api_version,
                       const std::string& ns);

}  // namespace cdom::core
