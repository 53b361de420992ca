// FaultBoard: turns annotations on Nodes and Pods into faults of machines, and their removal into
// healing.
//
// Several faults are separated by commas; a name that is none is told by an Event, with those that
// are. A Pod's annotation means the node on which it runs, as soon as it runs. One thread.
#pragma once

#include <map>
#include <set>
#include <string>

#include "compute_domain/sandbox/cluster.h"
#include "sandbox/cluster/mirrors.h"
#include "sandbox/cluster/node/machine.h"
#include "sandbox/cluster/recorder.h"

namespace cdom::sandbox {

class FaultBoard {
 public:
  // Needs mirrors of nodes and pods. The machines must outlive the mirrors' next step.
  FaultBoard(Mirrors& mirrors, std::map<std::string, Machine*> machines, Recorder recorder);

 private:
  using Source = std::pair<std::string, ObjectKey>;  // kind and key of the annotated object

  void see(const Resource& resource, const std::string& node, const Change& change);
  void tell_unknown(const Resource& resource, const Change& change);
  void see_clique(const Change& change);
  void set(const Source& source, const std::string& node, std::set<Fault> faults);
  [[nodiscard]] std::set<Fault> wanted(const std::string& node) const;

  std::map<std::string, Machine*> machines_;
  Recorder recorder_;
  std::map<Source, std::pair<std::string, std::set<Fault>>> asked_;  // node and faults
};

}  // namespace cdom::sandbox
