// Dry run: what the controller would do with the objects of some files, and why, without a cluster.
#pragma once

#include <string>
#include <vector>

#include "compute_domain/api/plan_report.h"
#include "compute_domain/base/clock.h"
#include "compute_domain/core/world.h"

namespace cdom::controller {

struct ObjectFile {
  std::string name;
  std::string text;  // YAML or JSON, as from `kubectl get … -o yaml`
  // Its objects are in the cluster already, as those of a bundle: what is wrong with them alone is
  // an earlier problem.
  bool is_there = false;
  bool may_be_empty = false;  // it is one of several of a folder; else it has an object
};

// Per ComputeDomain its members with their state, the condition of the domain, and the plan of each
// of its keys, each step with its reason. Problems are what an API server would refuse (an
// unknown field or kind), and what would leave pods waiting: a template that nothing here makes,
// a claim that no container uses, fewer pods or seats than the domain wants nodes. Objects of kinds
// that the controller does not read are left out; what lies in a namespace other than the
// operator's is no node list. An object that cannot be read, or a file, is a problem, which names
// the line or the object; the rest goes on without it.
// Objects without a namespace are in `ns`. Files of what is there come first: a ComputeDomain of
// the others changes the one that is there under its name.
api::PlanReport dry_run(const std::vector<ObjectFile>& files, const core::Settings& settings,
                        const base::Clock& clock, const std::string& ns = "");

// The report as a page of text.
std::string page_of(const api::PlanReport& report);

}  // namespace cdom::controller
