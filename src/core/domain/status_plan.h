// When a domain's status is written, and with which Events. Pure.
#pragma once

#include "compute_domain/core/plan.h"
#include "compute_domain/core/readiness.h"
#include "compute_domain/core/status.h"
#include "compute_domain/core/world.h"

namespace cdom::core {

// Whether something that is written for the domain does not succeed. Its status says so before that
// is tried again, which would end the plan.
bool is_held_up(const World& world);

// What the status says of the members: nothing while NVIDIA's DRA driver serves the domain, as
// nobody here sees what that driver's daemons do.
Readiness readiness_now(const World& world);

// Adds the status to the plan, if it differs and has waited long enough; else when to look again.
void add_status(const World& world, const Readiness& readiness, const TemplateVerdict& verdict,
                const WaitsFor& waits_for, Plan& plan);

}  // namespace cdom::core
