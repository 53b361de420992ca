// Facts: a ClusterView as the controller would read it, and look-ups in it. What the core decides
// about it is the core's own: nothing of that is worked out here a second time.
//
// Points into the view, which must outlive it. One thread.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "compute_domain/base/result.h"
#include "compute_domain/controller/filled_cluster.h"
#include "compute_domain/core/placement.h"
#include "compute_domain/core/readiness.h"
#include "compute_domain/plugin/cluster_view.h"

namespace cdom::plugin {

// The clock stands at the moment at which the cluster was read.
class TakenClock : public base::Clock {
 public:
  explicit TakenClock(base::Time taken) : taken_(taken) {}
  [[nodiscard]] base::Time now() const override { return taken_; }
  // The uptime of a process that has run for long.
  [[nodiscard]] base::Duration elapsed() const override { return std::chrono::hours(24 * 365); }

 private:
  const base::Time taken_;
};

// A domain and what holds of it now.
struct DomainFacts {
  const api::ComputeDomain* object = nullptr;
  core::World world;
  core::Readiness readiness;
  // What the controller would write now, or has written; nullopt: it has not touched the domain.
  std::optional<api::ComputeDomainStatus> status;

  [[nodiscard]] const api::Condition* condition(std::string_view type) const;
  [[nodiscard]] const core::MemberView* member(const std::string& node) const;
};

// NotFound, with the names of those that the view has in that namespace.
base::Error no_such_domain(const ClusterView& view, const api::ObjectName& name);

// Whether the pod is an agent's.
bool is_agent(const ClusterView& view, const api::PodState& pod);

class Facts {
 public:
  explicit Facts(const ClusterView& view);

  [[nodiscard]] const ClusterView& view() const { return view_; }
  [[nodiscard]] base::Time now() const { return view_.taken; }

  // Null when there is none.
  [[nodiscard]] const api::ComputeDomain* domain(const api::ObjectName& name) const;
  [[nodiscard]] const api::ComputeDomain* domain_of_uid(const std::string& uid) const;
  // The domain whose template has this name, or would have it.
  [[nodiscard]] const api::ComputeDomain* maker_of(const api::ObjectName& template_name) const;
  [[nodiscard]] const api::ResourceClaimTemplate* claim_template(const api::ObjectName& name) const;
  [[nodiscard]] const api::PodState* pod(const api::ObjectName& name) const;
  [[nodiscard]] const api::ResourceClaim* claim(const api::ObjectName& name) const;
  [[nodiscard]] const api::ComputeDomainNode* report(const std::string& node) const;
  [[nodiscard]] const api::Node* node(const std::string& name) const;

  [[nodiscard]] DomainFacts facts_of(const api::ComputeDomain& domain) const;
  // The domain that a claim is for, whether it names it or is its workload's; null: none is here.
  [[nodiscard]] const api::ComputeDomain* domain_of(const api::ResourceClaim& claim) const;
  // Devices in the ResourceSlices of a node.
  [[nodiscard]] std::int64_t devices_on(const std::string& node) const;
  // Why what the node has reported may not be true any more, as the controller would say it.
  [[nodiscard]] std::optional<api::Staleness> doubt_of(const std::string& node) const;

  // Claims of this driver on a node that have one of its devices.
  [[nodiscard]] std::vector<const api::ResourceClaim*> claims_on(const std::string& node) const;
  // "team-a/train", of the domains with such claims.
  [[nodiscard]] std::vector<std::string> domains_on(const std::string& node) const;
  [[nodiscard]] std::vector<core::CliqueSeats> seats() const;
  [[nodiscard]] core::SeatCount seat_count() const;
  // Pods that have the claim, by its reservations and by their own claims.
  [[nodiscard]] std::vector<const api::PodState*> pods_of(const api::ResourceClaim& claim) const;
  // Claims for this driver that a pod has.
  [[nodiscard]] std::vector<const api::ResourceClaim*> claims_of(const api::PodState& pod) const;
  // All of a domain's claims.
  [[nodiscard]] std::vector<const api::ResourceClaim*> claims_of(
      const api::ComputeDomain& domain) const;
  // Whether an entry of a pod's spec names a claim or a template that exists and is for other
  // drivers alone.
  [[nodiscard]] bool is_for_another_driver(const api::PodState& pod,
                                           const api::PodClaimRef& ref) const;
  // Pods whose claims name the domain's template.
  [[nodiscard]] std::vector<const api::PodState*> pods_naming(
      const api::ObjectName& template_name) const;
  // Events on an object, the oldest first.
  [[nodiscard]] std::vector<const api::Occurrence*> events_on(const std::string& uid) const;

 private:
  using Name = std::pair<std::string, std::string>;  // namespace and name
  // Where an object of that name, or that UID, is; the first of several.
  template <class T>
  using ByName = std::map<Name, const T*>;
  // In the order of the view.
  template <class T>
  using ByUid = std::map<std::string, std::vector<const T*>>;

  void index();
  void put_into_stores();

  const ClusterView& view_;
  const TakenClock clock_;
  controller::FilledCluster cluster_;

  ByName<api::ComputeDomain> domains_;
  ByName<api::ResourceClaimTemplate> templates_;
  ByName<api::PodState> pods_;
  ByName<api::ResourceClaim> claims_;
  ByName<api::ComputeDomainNode> reports_;
  ByName<api::Node> nodes_;
  std::map<std::string, const api::ComputeDomain*> domains_by_uid_;
  std::map<Name, const api::ComputeDomain*> makers_;  // by the name of the template
  std::map<std::string, std::int64_t> devices_;       // by node
  ByUid<api::ResourceClaim> claims_by_owner_;
  ByUid<api::Occurrence> events_;
  std::map<Name, std::vector<const api::PodState*>> pods_by_template_;
  // By what the core says of each claim, so they come last.
  std::map<const api::ResourceClaim*, std::vector<const api::PodState*>> pods_of_claims_;
  std::map<const api::ComputeDomain*, std::vector<const api::ResourceClaim*>> claims_of_domains_;
};

// Whether an entry of the pod's spec leads to one of the claims.
bool leads_to_one_of(const api::PodState& pod, const api::PodClaimRef& ref,
                     const std::vector<const api::ResourceClaim*>& claims);

}  // namespace cdom::plugin
