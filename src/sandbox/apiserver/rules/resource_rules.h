// The rules of extended resources ("example.com/port"): their names, their amounts in containers,
// and the name that a DeviceClass may give its devices (k8s.io/kubernetes, apis/core and
// apis/resource). Pure.
#pragma once

#include <string_view>
#include <vector>

#include "sandbox/apiserver/serving/status.h"
#include "sandbox/text/json.h"

namespace cdom::sandbox::server {

// In another domain than kubernetes.io, and valid with a quota's "requests." in front of it.
bool is_extended_resource_name(std::string_view name);

// In a pod, not in a template of one: what has a limit and no request requests that much. Amounts
// become texts.
void default_resource_requests(json& pod_spec);
// Of all containers of a pod spec that stands at `field`.
void check_resources(const json& pod_spec, std::string_view field, std::vector<Cause>& causes);

std::vector<Cause> class_causes(const json& device_class);

}  // namespace cdom::sandbox::server
