// Triggers: which keys a change of an object concerns, and what is remembered of the change.
//
// The informers' threads call it after their store has the change. A change that no decision
// depends on (a Node's heartbeat) gives no key. It also updates Memory and Workloads: keys depend
// on what these knew before and know after the change.
#pragma once

#include <functional>
#include <set>
#include <string>

#include "compute_domain/controller/gather.h"

namespace cdom::controller {

class Triggers {
 public:
  using Add = std::function<void(const Key&)>;
  Triggers(const Sources& from, Memory& memory, Workloads& workloads, Add add);

  // Null `before`: added; null `after`: deleted.
  void on_change(const api::ComputeDomain* before, const api::ComputeDomain* after) const;
  void on_change(const api::ResourceClaim* before, const api::ResourceClaim* after) const;
  void on_change(const api::ResourceClaimTemplate* before,
                 const api::ResourceClaimTemplate* after) const;
  void on_change(const core::StoredList* before, const core::StoredList* after) const;
  void on_change(const api::ComputeDomainNode* before, const api::ComputeDomainNode* after) const;
  void on_change(const api::Node* before, const api::Node* after) const;
  void on_change(const api::ResourceSlice* before, const api::ResourceSlice* after) const;
  void on_change(const api::Pod* before, const api::Pod* after) const;
  void on_change(const api::ComputeDomainClique* before,
                 const api::ComputeDomainClique* after) const;
  // The pods of a namespace have been read: claims may have found their domain.
  void on_pods_read(const std::string& ns) const;
  // An object has got its Event, and is remembered for that; it may have gone meanwhile.
  void on_recorded(const core::RecordEvent& event) const;

 private:
  // These domains have a member.
  void note_formation(const std::set<std::string>& uids) const;
  // Every domain with a claim on the node or with the node in one of its lists.
  void add_domains_of_node(const std::string& node) const;
  // If its members have changed.
  void add_clique_objects(const api::ComputeDomain* before, const api::ComputeDomain* after) const;
  void add_automatic_domains(const std::string& ns) const;
  // UIDs of the domain that an automatic claim is known to be of.
  std::set<std::string> domains_of_claim(const api::ResourceClaim& claim) const;
  // And of any other, as far as it is known.
  std::set<std::string> domains_named_by(const api::ResourceClaim& claim) const;
  // Those with a claim on the node, and with a shared one that a pod there names: whether that can
  // use it may be what has changed.
  std::set<std::string> domains_with_pods_on(const std::string& node) const;
  // Where pods that share it run, as far as that is known.
  std::set<std::string> nodes_of_shared(const api::ResourceClaim& claim) const;
  void note_consumers(const api::ResourceClaim* before, const api::ResourceClaim* after) const;
  void add_shared_slices_of_label(const api::Node* before, const api::Node* after) const;
  void add_shared_slices(const api::ResourceSlice* before, const api::ResourceSlice* after) const;
  // Its label depends on what is in use there, unless it has GPUs and has the label.
  void add_agent_label(const std::string& name) const;
  // Whether it can be believed may have changed.
  void add_report(const std::string& node) const;
  // What its agent has to know of its Node is not on its report.
  void add_pause(const std::string& name) const;
  // Nodes on which a claim begins or ends to be in use.
  void add_agent_labels(const api::ResourceClaim* before, const api::ResourceClaim* after) const;
  void on_automatic_claim(const api::ResourceClaim* before, const api::ResourceClaim* after) const;
  void note_admissions(const core::StoredList* before, const core::StoredList* after) const;
  // Notes which claims a clique's list admits for an automatic domain, and which it admits no more.
  void note_share(const std::string& domain_uid, const std::set<std::string>& before,
                  const std::set<std::string>& after) const;
  void add_deletions_with_slots_in(const std::string& clique) const;
  void add_domains_on_nodes_in(const core::StoredList& stored) const;
  void add_domains_of_clique(const core::StoredList* before, const core::StoredList* after) const;
  // The clique that the node says it is of, if it isolates by channel.
  void add_clique_of(const api::ComputeDomainNode& report) const;
  // Seats have become free or are gone.
  void add_placement() const;
  void add_waiting() const;  // domains whose status says how many seats are in use
  // Reports of nodes that are gone and have left the list.
  void add_reports_left(const core::StoredList& before, const core::StoredList* after) const;
  // Those for which something else is reserved than before.
  void add_domains_of_reservations(const core::StoredList* before,
                                   const core::StoredList* after) const;

  const Sources from_;
  Memory& memory_;
  Workloads& workloads_;
  const Add add_;
};

}  // namespace cdom::controller
