#include "sandbox/cluster/fault_board.h"

#include <nlohmann/json.hpp>

#include "compute_domain/base/log.h"
#include "compute_domain/base/text.h"
#include "sandbox/cluster/pod_facts.h"

namespace cdom::sandbox {
namespace {

std::set<Fault> faults_of(const json& object) {
  std::set<Fault> faults;
  const std::string text = annotation_of(object, kFaultAnnotation);
  if (text.empty()) return faults;
  for (const std::string& name : base::split(text, ',')) {
    const auto fault = fault_named(base::trim(name));
    if (fault) {
      faults.insert(*fault);
    } else {
      base::log_warning("unknown fault in an annotation",
                        {{"object", to_string(key_of(object))}, {"fault", name}});
    }
  }
  return faults;
}

}  // namespace

FaultBoard::FaultBoard(Mirrors& mirrors, std::map<std::string, Machine*> machines)
    : machines_(std::move(machines)) {
  mirrors.of(kNodes).on_change([this](const Change& change) {
    see("Node", change.key.name, change);
    see_clique(change);
  });
  mirrors.of(kPods).on_change([this](const Change& change) {
    see("Pod", change.after ? node_of(*change.after) : "", change);
  });
}

void FaultBoard::see(const std::string& kind, const std::string& node, const Change& change) {
  // Deleting its Node object does not give a dark machine its power back.
  if (!change.after && kind == kNodes.kind) return;
  set({kind, change.key}, node, change.after ? faults_of(*change.after) : std::set<Fault>());
}

void FaultBoard::see_clique(const Change& change) {
  const auto machine = machines_.find(change.key.name);
  if (machine == machines_.end() || !change.after) return;
  const std::string clique = annotation_of(*change.after, kCliqueAnnotation);
  const std::string before = change.before ? annotation_of(*change.before, kCliqueAnnotation) : "";
  if (clique != before && !clique.empty()) machine->second->set_clique(clique);
}

std::set<Fault> FaultBoard::wanted(const std::string& node) const {
  std::set<Fault> faults;
  for (const auto& [source, asked] : asked_) {
    if (asked.first == node) faults.insert(asked.second.begin(), asked.second.end());
  }
  return faults;
}

void FaultBoard::set(const Source& source, const std::string& node, std::set<Fault> faults) {
  const auto known = asked_.find(source);
  if (known == asked_.end() && faults.empty()) return;
  const std::string where = known == asked_.end() ? node : known->second.first;
  const auto machine = machines_.find(where);
  const std::set<Fault> before = wanted(where);
  if (faults.empty()) {
    asked_.erase(source);
  } else {
    asked_[source] = {where, std::move(faults)};
  }
  if (machine == machines_.end()) return;
  const std::set<Fault> after = wanted(where);
  for (const Fault fault : after) {
    if (!before.contains(fault)) machine->second->inject(fault);
  }
  for (const Fault fault : before) {
    if (!after.contains(fault)) machine->second->heal(fault);
  }
}

}  // namespace cdom::sandbox
