// Templates: who owns a ResourceClaimTemplate.
//
// A user who may write templates in a namespace may give them any label, so no label proves
// anything. Ours is the one that the domain's own UID owns, under the name and in the namespace
// that the domain wants. A template of NVIDIA's DRA driver is believed only in a namespace that an
// administrator has named (Settings::adopt_from), and only with all of its marks. Pure.
#pragma once

#include <string>

#include "compute_domain/core/world.h"

namespace cdom::core {

// Whether an owner is a ComputeDomain, in any version of it: other groups may have a kind of that
// name.
bool is_domain(const api::OwnerReference& owner);
// Has an owner reference to the ComputeDomain of this UID.
bool is_owned_by(const api::ObjectMeta& meta, const std::string& domain_uid);
// All that we make bear it, and the controller may delete no other template.
bool bears_label_of(const api::ObjectMeta& meta, const std::string& domain_uid);

// The users' template as the reference driver makes it: its labels and its finalizer, no owner.
bool is_predecessors_template(const api::ObjectMeta& meta, const std::string& domain_uid);

// The template of the reference driver's own daemons, the sign that these are there.
bool is_predecessors_sign(const api::ObjectMeta& meta, const std::string& domain_uid,
                          const Settings& settings);
std::string predecessors_name(const std::string& domain_uid);

}  // namespace cdom::core
