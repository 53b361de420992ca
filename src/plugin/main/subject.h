// Subject: the pod or ComputeDomain that a command line names. Pure.
#pragma once

#include <string>
#include <vector>

#include "compute_domain/base/result.h"

namespace cdom::program {

struct Subject {
  enum class Kind { Pod, Domain };
  Kind kind = Kind::Domain;
  std::string name;

  friend bool operator==(const Subject&, const Subject&) = default;
};

// Of "pod NAME", "cd NAME", "pod/NAME", "computedomain.resource.nvidia.com/NAME", which is what
// `kubectl get -o name` prints. Invalid: it is none, or more than one.
base::Result<Subject> subject_of(const std::vector<std::string>& arguments);
// The same of a ComputeDomain, also by its name alone.
base::Result<std::string> domain_of(const std::vector<std::string>& arguments);

}  // namespace cdom::program
