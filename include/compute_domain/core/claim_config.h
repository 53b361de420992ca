// Claim configurations: what the agent that has to prepare such a claim would refuse. Pure.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "compute_domain/api/resource.h"

namespace cdom::core {

// What cannot be used in a configuration of this driver, as the agent's decoder says it; "" when
// nothing, and for another driver's.
std::string config_mistake(const api::OpaqueConfig& config);
// The first such mistake among several, and that they contradict each other.
std::string config_mistake(const std::vector<api::OpaqueConfig>& configs);

// Where the claim's user corrects a mistake in this one of its configurations, and what next: a
// claim keeps what it was made of.
std::string_view config_remedy(const api::OpaqueConfig& config, const api::ResourceClaim& claim);
// The same of the first mistake in what the claim has been allocated with, or asks for.
std::string_view config_remedy(const api::ResourceClaim& claim);

// Whether a claim or a template asks for a device of this driver, or configures one.
bool asks_for_domain(const api::ResourceClaimSpec& spec);

}  // namespace cdom::core
