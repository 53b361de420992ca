// What several parts read off a pod. Pure functions of its JSON.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "compute_domain/sandbox/node_plugin.h"
#include "sandbox/text/json.h"

namespace cdom::sandbox {

inline constexpr char kPodClaimNameAnnotation[] = "resource.kubernetes.io/pod-claim-name";
inline constexpr char kClaimFinalizer[] = "resource.kubernetes.io/delete-protection";

// Phase Succeeded or Failed.
bool is_terminal(const json& pod);
std::string node_of(const json& pod);

// One entry of spec.resourceClaims.
struct PodClaim {
  std::string entry;          // its name inside the pod
  std::string template_name;  // "": the pod names a claim
  // The claim's name: given, or as status.resourceClaimStatuses tells. nullopt: none made yet.
  std::optional<std::string> claim;
  bool is_deliberately_absent = false;  // the status names the entry, but no claim
};
std::vector<PodClaim> pod_claims(const json& pod);

// The name of the claim that the scheduler made for the pod's extended resources, or "".
std::string extended_claim_name(const json& pod);
// The names of the claims whose devices a container gets, known so far.
std::set<std::string> claims_of_container(const json& pod, const json& container);

// The UID of the controlling owner reference of that kind, or "".
std::string controller_uid(const json& object, std::string_view kind);
bool is_reserved_for(const json& claim, const std::string& pod_uid);
// Whether a device of that driver is allocated to the claim.
bool has_device_of(const json& claim, std::string_view driver);
bool has_finalizer(const json& object, std::string_view finalizer);

// Whether any status condition of that type has this status.
bool has_condition(const json& object, std::string_view type, std::string_view status);

}  // namespace cdom::sandbox
