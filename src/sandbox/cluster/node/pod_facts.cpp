#include "sandbox/cluster/node/pod_facts.h"

#include <nlohmann/json.hpp>

#include "sandbox/cluster/objects.h"

namespace cdom::sandbox {

bool is_terminal(const json& pod) {
  const std::string phase = text_at(pod, "/status/phase");
  return phase == "Succeeded" || phase == "Failed";
}

std::string node_of(const json& pod) { return text_at(pod, "/spec/nodeName"); }

std::vector<PodClaim> pod_claims(const json& pod) {
  std::vector<PodClaim> claims;
  for (const json& entry : at(pod, "/spec/resourceClaims")) {
    PodClaim claim{
        text_at(entry, "/name"), text_at(entry, "/resourceClaimTemplateName"), {}, false};
    if (claim.template_name.empty()) {
      claim.claim = text_at(entry, "/resourceClaimName");
    } else {
      for (const json& status : at(pod, "/status/resourceClaimStatuses")) {
        if (text_at(status, "/name") != claim.entry) continue;
        const std::string name = text_at(status, "/resourceClaimName");
        claim.is_deliberately_absent = name.empty();
        if (!name.empty()) claim.claim = name;
      }
    }
    claims.push_back(std::move(claim));
  }
  return claims;
}

std::string extended_claim_name(const json& pod) {
  return text_at(pod, "/status/extendedResourceClaimStatus/resourceClaimName");
}

std::set<std::string> claims_of_container(const json& pod, const json& container) {
  std::set<std::string> names;
  const std::vector<PodClaim> claims = pod_claims(pod);
  for (const json& used : at(container, "/resources/claims")) {
    const std::string entry = text_at(used, "/name");
    for (const PodClaim& claim : claims) {
      if (claim.entry == entry && claim.claim) names.insert(*claim.claim);
    }
  }
  for (const json& mapping : at(pod, "/status/extendedResourceClaimStatus/requestMappings")) {
    if (text_at(mapping, "/containerName") != text_at(container, "/name")) continue;
    names.insert(extended_claim_name(pod));
  }
  return names;
}

std::string controller_uid(const json& object, std::string_view kind) {
  for (const json& owner : at(object, "/metadata/ownerReferences")) {
    if (text_at(owner, "/kind") == kind && at(owner, "/controller") == true) {
      return text_at(owner, "/uid");
    }
  }
  return {};
}

bool is_reserved_for(const json& claim, const std::string& pod_uid) {
  for (const json& consumer : at(claim, "/status/reservedFor")) {
    if (text_at(consumer, "/uid") == pod_uid) return true;
  }
  return false;
}

bool has_device_of(const json& claim, std::string_view driver) {
  for (const json& device : at(claim, "/status/allocation/devices/results")) {
    if (text_at(device, "/driver") == driver) return true;
  }
  return false;
}

bool has_finalizer(const json& object, std::string_view finalizer) {
  for (const json& known : at(object, "/metadata/finalizers")) {
    if (known == finalizer) return true;
  }
  return false;
}

bool has_condition(const json& object, std::string_view type, std::string_view status) {
  for (const json& condition : at(object, "/status/conditions")) {
    if (text_at(condition, "/type") == type) return text_at(condition, "/status") == status;
  }
  return false;
}

}  // namespace cdom::sandbox
