// FaultBoard: turns annotations on Nodes and Pods into faults of machines, and their removal into
// healing.
//
// Several faults are separated by commas; a name that is none is told by an Event, with those that
// are. A Pod's annotation means the node on which it runs, as soon as it runs. One thread.
#pragma once

#include <map>
#include <set>
#include <string>

#include "compute_domain/kube/events.h"
#include "compute_domain/sandbox/cluster.h"
#include "sandbox/cluster/informers.h"
#include "sandbox/cluster/node/machine.h"

namespace cdom::sandbox {

class FaultBoard : public Part {
 public:
  // Needs informers of nodes and pods. The machines must outlive the informers' next step.
  FaultBoard(Informers& informers, std::map<std::string, Machine*> machines,
             const kube::Client& client, const base::Clock& clock, base::Random random);

  // Sends an Event that is due.
  bool step() override { return recorder_.step(); }
  [[nodiscard]] std::optional<base::Duration> next_due() const override {
    return recorder_.next_due();
  }

 private:
  using Source = std::pair<std::string, api::ObjectName>;  // kind and key of the annotated object

  void see(const api::Kind& kind, const std::string& node, const Change& change);
  void tell_unknown(const api::Kind& kind, const Change& change);
  void see_clique(const Change& change);
  void set(const Source& source, const std::string& node, std::set<Fault> faults);
  [[nodiscard]] std::set<Fault> wanted(const std::string& node) const;

  std::map<std::string, Machine*> machines_;
  kube::EventRecorder recorder_;
  std::map<Source, std::pair<std::string, std::set<Fault>>> asked_;  // node and faults
};

}  // namespace cdom::sandbox
