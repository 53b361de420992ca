// Dry run: what the controller would do with the objects of some files, and why, without a cluster.
#pragma once

#include <string>
#include <vector>

#include "compute_domain/base/clock.h"
#include "compute_domain/base/result.h"
#include "compute_domain/core/world.h"

namespace cdom::controller {

struct ObjectFile {
  std::string name;
  std::string text;  // YAML or JSON, as from `kubectl get … -o yaml`
};

// A page of text: per ComputeDomain its members with their state, the condition of the domain, and
// the plan of each of its keys. Objects of kinds that the controller does not read are left out;
// what lies in a namespace other than the operator's is no node list. Invalid: names the file, the
// line or the object, and what is wrong.
base::Result<std::string> dry_run(const std::vector<ObjectFile>& files,
                                  const core::Settings& settings, const base::Clock& clock);

}  // namespace cdom::controller
