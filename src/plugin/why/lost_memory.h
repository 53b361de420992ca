// lost_memory: whether a pod that runs has lost the memory that it imported over NVLink. Pure.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "compute_domain/api/observed.h"
#include "plugin/facts.h"

namespace cdom::plugin {

// What says so, the pod's Event or the status of its domain, where a container that has a claim of
// the domain runs since before the IMEX daemon of its node ended: one that has started again since
// can import again. Nothing: none does.
std::optional<std::string> lost_memory(const Facts& facts, const DomainFacts& domain,
                                       const api::PodState& pod);

// Pods of the domain that have lost memory, in the order of the view.
std::vector<const api::PodState*> pods_without_memory(const Facts& facts,
                                                      const DomainFacts& domain);

// "kubectl delete pod train-0 -n team-a"; of very many, of the first ones.
std::string deletion_of(const std::vector<const api::PodState*>& pods);
// That the command is of the first ones, behind what is to be done; "" where it is of all.
std::string deletes_text(const std::vector<const api::PodState*>& pods);

}  // namespace cdom::plugin
