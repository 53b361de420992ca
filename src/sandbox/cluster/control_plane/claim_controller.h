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

#include "sandbox/cluster/agenda.h"
#include "sandbox/cluster/mirrors.h"
#include "sandbox/cluster/node/pod_facts.h"
#include "sandbox/cluster/objects.h"
#include "sandbox/cluster/recorder.h"

namespace cdom::sandbox {

class ClaimController : public Part {
 public:
  // Needs mirrors of pods, claims and templates.
  ClaimController(http::Client& client, const Mirrors& mirrors, const base::Clock& clock,
                  base::Random random);

  bool step() override;
  [[nodiscard]] std::optional<base::Duration> next_due() const override;

 private:
  enum class Outcome { Settled, Retry };

  void see_pod(const Change& change);
  void see_claim(const Change& change);
  void add_claims_of(const json& pod);

  Outcome sync_pod(const ObjectKey& key);
  Outcome ensure_generated(const json& pod);
  base::Result<std::string> generate(const json& pod, const PodClaim& wanted);
  Outcome tell_names(const json& pod, const std::map<std::string, std::string>& names);
  Outcome reserve_for_bound(const json& pod);
  [[nodiscard]] std::optional<std::string> generated_claim(const json& pod,
                                                           const std::string& entry) const;

  Outcome sync_claim(const ObjectKey& key);
  Outcome release(json claim, json still_reserved);
  Outcome remove_finalizer(json claim);
  // Whether the pod may still use what is reserved for it; asks the API server when the mirror does
  // not show it, as absence there proves nothing.
  base::Result<bool> is_valid_consumer(const std::string& ns, const json& consumer);

  Objects objects_;
  const Mirror& pods_;
  const Mirror& claims_;
  const Mirror& templates_;
  Recorder recorder_;
  OwnWrites writes_;
  Agenda<ObjectKey> pod_agenda_, claim_agenda_;
  std::map<std::string, std::set<ObjectKey>> claims_by_owner_;      // by pod UID
  std::map<ObjectKey, std::set<ObjectKey>> pods_without_template_;  // by template
};

}  // namespace cdom::sandbox
