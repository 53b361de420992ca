// A domain's ResourceClaimTemplate as the cache shows it: whether it is there, whose it is, and
// what the status says of it. Pure.
#pragma once

#include <string>

#include "compute_domain/core/status.h"
#include "compute_domain/core/world.h"

namespace cdom::core {

// By its owner: the domain itself.
bool owns(const World& world, const api::ResourceClaimTemplate& object);
// NVIDIA's DRA driver has made it for this domain, and the domain is to be taken over.
bool is_inherited(const World& world, const api::ResourceClaimTemplate& object);

// Null when the cache does not show it.
const api::ResourceClaimTemplate* find_template(const World& world, const api::ObjectName& name);

TemplateVerdict verdict_on_template(const World& world);
// The verdict once the template has been written.
TemplateVerdict template_is_there(const std::string& name);

}  // namespace cdom::core
