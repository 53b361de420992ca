// Taints and tolerations, of nodes and of devices. Pure functions of their JSON.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "sandbox/text/json.h"

namespace cdom::sandbox {

// Operator Exists or Equal (the default), an empty key with Exists for all, an empty effect for
// every effect.
bool tolerates(const json& toleration, const json& taint);

// The first taint with effect NoSchedule or NoExecute that no toleration covers; null when none.
const json& untolerated_taint(const json& taints, const json& tolerations);
bool tolerates_device_taints(const json& taints, const json& tolerations);

// How long a pod may stay under a NoExecute taint: nullopt for ever, zero when it is not tolerated.
std::optional<std::int64_t> tolerated_seconds(const json& taint, const json& tolerations);

}  // namespace cdom::sandbox
