// What is wrong with objects that are about to be applied, for people: each line names the object,
// the field and the remedy. Reads stores and the objects' own texts.
#pragma once

#include <cstddef>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "compute_domain/api/asked_pods.h"
#include "compute_domain/api/codec.h"
#include "compute_domain/controller/stores.h"

namespace cdom::controller {

// "" unless the kind or its group is one that this driver uses, and together with the version they
// are none, as after a slip.
std::string unknown_kind(const api::TypeMeta& type);
// Fields of a ComputeDomain that its CustomResourceDefinition does not have.
std::vector<std::string> unknown_fields(const std::string& json);
// Values that its CustomResourceDefinition does not allow, or that cannot work.
std::vector<std::string> faults_of(const api::ComputeDomain& domain);
// Configurations of a ResourceClaim or ResourceClaimTemplate that the agents would refuse.
std::vector<std::string> config_faults(const api::TypeMeta& type, const std::string& json);

// Pods that objects ask for, and the ComputeDomains among these.
struct AskedObjects {
  std::vector<api::AskedPods> planned, there;
  std::set<api::ObjectName> planned_domains;
  std::size_t planned_count = 0;  // objects of all kinds
  bool is_whole = true;           // as PlanReport has it
};

struct Mismatches {
  std::vector<std::string> planned;  // with what is planned
  std::vector<std::string> earlier;  // of what is there already, alone
};

// Templates that pods name and nobody makes; claims for ComputeDomains that no container uses;
// domains with fewer pods or seats than they want.
Mismatches mismatches(const Stores& stores, const AskedObjects& asked);

}  // namespace cdom::controller
