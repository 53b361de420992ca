// Workloads: the automatic domains of a namespace.
//
// Pods whose claims name no ComputeDomain get one that the controller makes for their workload. A
// pod's workload is the first of these that it has: the label
// resource.nvidia.com/compute-domain-workload; its JobSet; its group of a LeaderWorkerSet; its
// controlling owner; its claim template; itself. Pure.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "compute_domain/core/membership.h"
#include "compute_domain/core/plan.h"
#include "compute_domain/core/world.h"

namespace cdom::core {

// What was read of a pod. `templates`: by the names in its spec.resourceClaims, the templates that
// they name; nullopt: only its metadata was read. `node`: "" also when it has none yet.
struct PodFacts {
  api::ObjectMeta meta;
  std::optional<std::map<std::string, std::string>> templates;
  std::string node = {};

  friend bool operator==(const PodFacts&, const PodFacts&) = default;
};

PodFacts facts_of(const api::Pod& pod);

// The pod that a claim was made for, by its owner reference; nullopt: a person has made it.
struct PodOfClaim {
  std::string name, uid;
  std::string claim_name;  // in the pod's spec.resourceClaims; "" when it was not made from there
};
std::optional<PodOfClaim> pod_of(const api::ResourceClaim& claim);

// A workload, and who owns its domain: nobody, when that shall end with its last claim.
struct OwnedWorkload {
  api::Workload workload;
  std::optional<api::OwnerReference> owner;
  // The Job that has to be owned by `owner`, which labels alone name: a pod that was copied has
  // these too, and a domain with an owner that is gone would be deleted as often as it is made.
  std::optional<api::OwnerReference> witness = {};

  friend bool operator==(const OwnedWorkload&, const OwnedWorkload&) = default;
};
// nullopt: that depends on the pod's templates, which have not been read.
std::optional<OwnedWorkload> workload_of(const PodFacts& pod, const std::string& claim_name);
// The workload of a claim that a person made: all pods that name the claim are one workload.
OwnedWorkload workload_of(const api::ResourceClaim& claim);

// What would make the pod again, and is deleted so that it ends: its JobSet, its LeaderWorkerSet or
// its controlling owner; nullopt: nothing.
std::optional<api::OwnerReference> maker_of(const PodFacts& pod);

// Sixteen hex digits; equal only for the same workload in the same namespace.
std::string workload_id(const std::string& ns, const api::Workload& workload);

// Takes out of a pod's metadata what no function here reads.
void trim_pod(api::ObjectMeta& meta);
// The API server bounds neither how many owners an object has, nor their texts. Cuts what is more
// than any workload has; has_all_owners() tells that nothing was cut, so that they may be written
// back.
void bound_owners(api::ObjectMeta& meta);
bool has_all_owners(const api::ObjectMeta& meta);

// The API server did not take a workload's domain.
struct DomainRefusal {
  std::string why;
  base::Duration next_try{};
  bool lasts = false;  // a person has to know

  friend bool operator==(const DomainRefusal&, const DomainRefusal&) = default;
};

// A claim of the namespace whose DomainRef is Automatic, Contradictory or Invalid.
struct AutomaticClaim {
  api::ResourceClaim object;
  base::Duration seen{};                  // first, by this process
  std::optional<OwnedWorkload> workload;  // once its pod has been read
  bool is_settled = false;                // it is known to be of some workload
  bool lacks_templates = false;           // of its pod, which has been read
  bool is_reported = false;               // has had its Event
  // When a read last showed its pod, and not ending; nullopt for a claim that a person made.
  std::optional<base::Duration> pod_seen;
};

// For a key of a namespace: decides which automatic domains there are. All times are of
// Clock::elapsed(), as nothing here is for people: a clock that is set back must not stop it.
struct WorkloadsWorld {
  base::Duration now{};
  std::string ns;
  std::vector<AutomaticClaim> claims;             // in any order
  std::vector<api::ComputeDomain> domains;        // of the namespace
  std::map<std::string, DomainRefusal> refusals;  // by the workload's id
  // The Jobs that were asked for, by UID; nullopt: there is no such Job any more.
  std::map<std::string, std::optional<api::Job>> jobs;
  // Owners that a domain has had at any time that this process knows of, by its UID.
  std::map<std::string, std::set<std::string>> owners;
  std::optional<base::Duration> pods_read;  // last
  bool specs_read = false;                  // by that read
  bool read_found_workload = false;  // that none before it had: the next one may follow at once
  // Since when pods that share a claim of several nodes have had no node that is known: each.
  std::vector<base::Duration> nodeless_since;
  // When a domain of a workload was last seen, by its id: if it is gone since, older reads say
  // nothing of whether the workload still needs one.
  std::map<std::string, base::Duration> domains_seen;
  int vain_reads = 0;  // reads in a row that showed no claim's pod
  // The last read failed, and the next one is not made before.
  std::optional<base::Duration> no_read_before = {};
};
Plan reconcile_workloads(const WorkloadsWorld& world);

}  // namespace cdom::core
