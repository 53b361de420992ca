#include "sandbox/cluster/faults/fault_board.h"

#include <nlohmann/json.hpp>

#include "compute_domain/base/text.h"
#include "sandbox/cluster/node/pod_facts.h"

namespace cdom::sandbox {
namespace {

struct Asked {
  std::set<Fault> faults;
  std::vector<std::string> unknown;
};

Asked asked_in(const json& object) {
  Asked asked;
  const std::string text = annotation_of(object, kFaultAnnotation);
  if (text.empty()) return asked;
  for (const std::string& part : base::split(text, ',')) {
    std::string name(base::trim(part));
    if (const auto fault = fault_named(name)) {
      asked.faults.insert(*fault);
    } else {
      asked.unknown.push_back(base::cat('"', name, '"'));
    }
  }
  return asked;
}

}  // namespace

FaultBoard::FaultBoard(Informers& informers, std::map<std::string, Machine*> machines,
                       const kube::Client& client, const base::Clock& clock, base::Random random)
    : machines_(std::move(machines)),
      recorder_(client, clock, {.component = "compute-domain-sandbox", .seed = random.next()}) {
  informers.of(kNodes).on_change([this](const Change& change) {
    see(kNodes, change.key.name, change);
    see_clique(change);
  });
  informers.of(kPods).on_change([this](const Change& change) {
    see(kPods, change.after ? node_of(*change.after) : "", change);
  });
}

void FaultBoard::see(const api::Kind& kind, const std::string& node, const Change& change) {
  // Deleting its Node object does not give a dark machine its power back.
  if (!change.after && kind.kind == kNodes.kind) return;
  tell_unknown(kind, change);
  set({std::string(kind.kind), change.key}, node,
      change.after ? asked_in(*change.after).faults : std::set<Fault>());
}

void FaultBoard::tell_unknown(const api::Kind& kind, const Change& change) {
  if (!change.after) return;
  const std::vector<std::string> unknown = asked_in(*change.after).unknown;
  if (unknown.empty() || (change.before && asked_in(*change.before).unknown == unknown)) return;
  recorder_.record(reference_to(kind, *change.after), "Warning", "UnknownFault",
                   base::cat("annotation ", kFaultAnnotation, ": there is no fault ",
                             base::join(unknown, ", "), "; the known ones are ", fault_names()));
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
  if (known != asked_.end() && !faults.empty() && known->second.first != node) {
    // A pod that has found its node only now, or another pod of that name.
    set(source, known->second.first, {});
    return set(source, node, std::move(faults));
  }
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
