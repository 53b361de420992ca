// ExtendedResources: devices that containers ask for in resources.requests alone, by the name that
// a DeviceClass gives them (KEP-5004, feature gate DRAExtendedResource).
//
// The scheduler makes one claim of all that a pod asks for in this way, and tells in the pod's
// status which request is whose. Requests and mappings are as kube-scheduler 1.36 makes them
// (plugins/dynamicresources/extendeddynamicresources.go). Pure functions.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "sandbox/cluster/json_informer.h"
#include "sandbox/cluster/scheduler/node_fit.h"
#include "sandbox/text/json.h"

namespace cdom::sandbox {

inline constexpr char kExtendedClaimAnnotation[] = "resource.kubernetes.io/extended-resource-claim";

// Names of resources to the DeviceClasses that have their devices.
using ClassesOfResources = std::map<std::string, std::string>;

// Of those in `requests`, the ones that a class has: by spec.extendedResourceName, where the newest
// class counts and then the first by name; or as "deviceclass.resource.kubernetes.io/<class>".
ClassesOfResources classes_of(const Amounts& requests, const JsonInformer& classes);
// Without what a device plugin offers on the node: that is none of a claim's business there.
ClassesOfResources without_offered(ClassesOfResources wanted, const Amounts& allocatable);
// What is left for the node itself to have.
Amounts without_devices(Amounts requests, const ClassesOfResources& wanted);

struct ExtendedRequests {
  std::vector<json> requests;  // spec.devices.requests of the claim
  std::vector<json> mappings;  // status.extendedResourceClaimStatus.requestMappings of the pod
};
// Of a pod that the API server has completed: what has a limit has a request.
ExtendedRequests extended_requests(const json& pod, const ClassesOfResources& wanted);

// The claim as it is created.
json extended_claim(const json& pod, const std::vector<json>& requests);
bool is_extended_claim_of(const json& pod, const json& claim);

}  // namespace cdom::sandbox
