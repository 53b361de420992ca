// Workloads: what this process has read of pods: the workload of each claim that names no domain,
// and the nodes on which the pods of a shared claim are.
//
// All times are of Clock::elapsed(). A claim stays with the workload that was found first, also
// when its pod's labels change; a claim that a node list admits belongs to that list's domain, also
// after a restart. Thread-safe.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "compute_domain/core/workloads.h"

namespace cdom::controller {

// What one LIST of a namespace's pods gave.
struct PodsRead {
  std::map<std::string, core::PodFacts> pods;  // by UID
  base::Duration at{};

  // What has made these pods, by UID.
  [[nodiscard]] std::map<std::string, api::OwnerReference> makers_of(
      const std::set<std::string>& uids) const;
};

// A shared claim with pods whose nodes are not known.
struct UnreadClaim {
  std::string uid;
  api::ObjectName name;
  std::vector<base::Duration> pods_seen;  // when the watch first showed each of them
};

class Workloads {
 public:
  // A claim whose DomainRef is Automatic, as the watch shows it.
  void claim_seen(const api::ResourceClaim& claim, base::Duration now);
  void forget_claim(const std::string& uid);
  // A node list admits it for the workload of this id.
  void claim_admitted(const std::string& uid, const std::string& workload);
  // A claim as the watch shows it; nothing is kept of one that is not shared.
  void consumers_seen(const api::ResourceClaim& claim, base::Duration now);
  void forget_consumers(const std::string& claim_uid);
  void pods_read(const std::string& ns, std::vector<core::PodFacts> pods, bool with_specs,
                 base::Duration now);
  // The pods could not be read. They are read again ever more seldom, and not before `at_least`.
  void read_failed(const std::string& ns, base::Duration now, base::Duration at_least);
  void job_read(const std::string& ns, const std::string& uid, std::optional<api::Job> job);
  // Any domain. What has made its pods may be asked for while it is being deleted.
  void domain_seen(const api::ComputeDomain& domain, base::Duration now);
  // The API server did not take the domain of a workload, for this reason; `is_final` when only a
  // person can change that. It is tried again ever more seldom, and not before `at_least`.
  void domain_refused(const api::ComputeDomain& domain, const std::string& why, bool is_final,
                      base::Duration now, base::Duration at_least = {});
  void forget_domain(const api::ComputeDomain& domain);

  // The id of its workload; nullopt: not known yet.
  [[nodiscard]] std::optional<std::string> workload_of(const std::string& claim_uid) const;
  // UIDs.
  [[nodiscard]] std::set<std::string> claims_of(const std::string& workload) const;
  [[nodiscard]] bool has_unknown_claims(const std::string& ns) const;
  // Fills in the nodes of the pods that share it, and when its pods were made, as far as that is
  // known.
  void place_consumers(api::ResourceClaim& claim) const;
  // Shared claims with a pod on the node, and all of a namespace.
  [[nodiscard]] std::vector<api::ObjectName> shared_on(const std::string& node) const;
  [[nodiscard]] std::vector<api::ObjectName> shared_in(const std::string& ns) const;
  [[nodiscard]] bool has_nodeless_consumers(const std::string& ns) const;
  [[nodiscard]] std::vector<UnreadClaim> unread_claims() const;
  // How often a shared claim has come to a node or gone from one.
  [[nodiscard]] std::uint64_t moves() const;
  // The last read of the namespace, which nobody changes any more; null: there was none, or none is
  // kept, as no claim and no domain that is being deleted is there.
  [[nodiscard]] std::shared_ptr<const PodsRead> last_read(const std::string& ns) const;
  // `world` but for its claims' objects and its domains, which the stores have.
  void describe(core::WorkloadsWorld& world) const;

 private:
  struct Claim {
    std::string ns;
    std::optional<core::PodOfClaim> pod;
    base::Duration seen{};
    std::string id;  // of its workload; "" : not known yet
    std::optional<core::OwnedWorkload> workload;
    bool lacks_templates = false;
    std::optional<base::Duration> pod_seen;  // by a read, and not ending
  };
  struct Namespace {
    std::shared_ptr<const PodsRead> last_read;
    std::optional<base::Duration> read_at;  // the pods of that read may be gone
    bool specs_read = false;
    bool read_found_workload = false;
    int vain_reads = 0;
    int failed_reads = 0;                          // in a row
    std::optional<base::Duration> no_read_before;  // after those
    std::set<std::string> claims;                  // UIDs
    std::set<std::string> unknown;                 // those of them whose workload is not known yet
    std::set<std::string> shared;                  // UIDs of claims that are shared
    std::set<std::string> ending;                  // UIDs of domains that are being deleted

    [[nodiscard]] bool is_needed() const {
      return !claims.empty() || !shared.empty() || !ending.empty();
    }
  };
  struct Consumer {
    base::Duration seen{};
    std::string node;  // "" : not known yet
  };
  // An automatic one.
  struct Domain {
    std::string workload;          // by its label, which may change
    std::set<std::string> owners;  // UIDs of those that it has or had, of many not all
  };
  struct Refused {
    core::DomainRefusal refusal;
    int times = 0;
  };
  struct Shared {
    api::ObjectName name;
    std::map<std::string, Consumer> pods;  // by UID
  };
  void resolve(const std::string& uid, Claim& claim);
  bool resolve(const Namespace& ns, const std::string& claim_uid, Shared& shared);
  void leave_node(const std::string& node, const std::string& claim_uid);
  [[nodiscard]] bool has_claims(const std::string& ns, const std::string& workload) const;
  void leave_workload(const std::string& uid, const Claim& claim);
  void forget_workload(const std::string& ns, const std::string& workload);
  void note_owners(const api::ComputeDomain& domain, std::set<std::string>& owners) const;
  void let_go(const std::string& ns);
  void forget_old_reads(base::Duration now);

  mutable std::mutex mutex_;
  std::map<std::string, Claim> claims_;  // by UID
  std::map<std::string, Namespace> namespaces_;
  // Namespaces that were not needed any more, by when their pods were read.
  std::set<std::pair<base::Duration, std::string>> let_go_;
  std::map<std::string, Shared> shared_;                         // by UID of the claim
  std::map<std::string, std::multiset<std::string>> shared_on_;  // those, once a pod, by node
  std::uint64_t moves_ = 0;                                      // in it
  std::map<std::string, std::set<std::string>> claims_of_;       // by workload
  // By namespace and UID: what a pod of one says of its owner is nothing to another.
  std::map<std::pair<std::string, std::string>, std::optional<api::Job>> jobs_;
  std::map<std::string, Domain> domains_;               // by UID
  std::map<std::string, base::Duration> domains_seen_;  // by namespace and workload
  std::map<std::string, Refused> refused_;              // the same
};

}  // namespace cdom::controller
