// What the command lines of controller and agent say about the cluster that they work on.
#pragma once

#include <string>
#include <vector>

#include "cli/flag.h"

namespace cdom::cli {

struct ClusterFlags {
  std::string kubeconfig;
  std::string ns = "compute-domain-operator";  // the operator's own
};

// They write into `flags`, which must outlive them. `namespace_is_read_by`: as Flag::read_by.
std::vector<Flag> rows_of(ClusterFlags& flags, const std::string& namespace_is_read_by = "");

}  // namespace cdom::cli
