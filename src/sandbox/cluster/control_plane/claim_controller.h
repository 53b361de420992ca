// ClaimController: the resourceclaim controller of kube-controller-manager (KEP-4381).
//
// How it goes: makes a ResourceClaim for each template that a pod names and tells the pod its name;
// takes pods that are done out of reservedFor; clears the allocation of a claim that nobody
// reserves any more, then takes away the finalizer; deletes generated claims of pods that are done.
// It never acts on a state from before its own last write. One thread.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>

#include "compute_domain/kube/events.h"
#include "sandbox/cluster/informers.h"
#include "sandbox/cluster/json_client.h"
#include "sandbox/cluster/node/pod_facts.h"
#include "sandbox/cluster/own_writes.h"
#include "sandbox/cluster/sync_next.h"

namespace cdom::sandbox {

class ClaimController : public Part {
 public:
  // Needs informers of pods, claims and templates.
  ClaimController(const kube::Client& client, const Informers& informers, const base::Clock& clock,
                  base::Random random);

  bool step() override;
  [[nodiscard]] std::optional<base::Duration> next_due() const override;

 private:
  void see_pod(const Change& change);
  void see_claim(const Change& change);
  void add_claims_of(const json& pod);

  // Of these false means: try again.
  bool sync_pod(const api::ObjectName& key);
  bool ensure_generated(const json& pod);
  base::Result<std::string> generate(const json& pod, const PodClaim& wanted);
  bool tell_names(const json& pod, const std::map<std::string, std::string>& names);
  bool reserve_for_bound(const json& pod);
  [[nodiscard]] std::optional<std::string> generated_claim(const json& pod,
                                                           const std::string& entry) const;

  bool sync_claim(const api::ObjectName& key);
  bool release(json claim, json still_reserved);
  bool remove_finalizer(json claim);
  // Whether the pod may still use what is reserved for it; asks the API server when the informer
  // does not show it, as absence there proves nothing.
  base::Result<bool> is_valid_consumer(const std::string& ns, const json& consumer);

  JsonClient objects_;
  const JsonInformer& pods_;
  const JsonInformer& claims_;
  const JsonInformer& templates_;
  kube::EventRecorder recorder_;
  OwnWrites writes_;
  kube::WorkQueue<api::ObjectName> pod_queue_, claim_queue_;
  std::map<std::string, std::set<api::ObjectName>> claims_by_owner_;            // by pod UID
  std::map<api::ObjectName, std::set<api::ObjectName>> pods_without_template_;  // by template
};

}  // namespace cdom::sandbox
