#include "core/domain/template_verdict.h"

#include <algorithm>
#include <optional>

#include "compute_domain/api/channel_config.h"
#include "compute_domain/api/names.h"
#include "compute_domain/base/text.h"
#include "compute_domain/core/placement.h"
#include "compute_domain/core/reconcile.h"
#include "compute_domain/core/templates.h"

namespace cdom::core {

namespace {

using base::cat;

std::string owner_of(const World& world, const api::ResourceClaimTemplate& object) {
  for (const api::OwnerReference& owner : object.meta.owners) {
    return cat(owner.kind, " ", owner.name, " with UID ", owner.uid);
  }
  if (is_predecessors_template(object.meta, world.view.uid)) {
    return "NVIDIA's DRA driver (--adopt-from names the namespaces whose domains are taken over)";
  }
  return "somebody else";
}

// No cache is so many choices behind: somebody else has written it.
constexpr std::int64_t kMostChoicesAhead = 1'000'000;

// The choice that a template was made for is older than the one that holds; a newer one than the
// reservation's is of a ConfigMap that this cache does not show yet.
bool is_outdated(const World& world, const api::ResourceClaimTemplate& found) {
  if (!api::wants_one_clique(*world.view.domain) || !world.reservation) return false;
  const auto made = placement_of(found);
  if (world.view.has_predecessor) return false;
  const std::int64_t chosen = world.reservation->generation;
  return !made || made->generation < chosen || made->generation > chosen + kMostChoicesAhead;
}

}  // namespace

bool owns(const World& world, const api::ResourceClaimTemplate& object) {
  return is_owned_by(object.meta, world.view.uid);
}

bool is_inherited(const World& world, const api::ResourceClaimTemplate& object) {
  return !world.settings.adopt_from.empty() &&
         is_predecessors_template(object.meta, world.view.uid);
}

const api::ResourceClaimTemplate* find_template(const World& world, const api::ObjectName& name) {
  const auto it = std::ranges::find_if(
      world.templates, [&](const auto& object) { return api::name_of(object.meta) == name; });
  return it == world.templates.end() ? nullptr : &*it;
}

TemplateVerdict template_is_there(const std::string& name) {
  return {TemplateVerdict::What::Ready, cat("pods can use ResourceClaimTemplate ", name)};
}

TemplateVerdict verdict_on_template(const World& world) {
  using What = TemplateVerdict::What;
  const api::ComputeDomain& domain = *world.view.domain;
  const auto wanted = wanted_template(domain, world.reservation);
  if (!wanted) return {What::NotWanted, ""};
  const std::string& name = wanted->meta.name;
  if (!base::is_dns_subdomain(name)) {
    return {What::NameInvalid,
            cat("spec.channel.resourceClaimTemplate.name: \"", name,
                "\" is not a DNS subdomain (lower-case letters, digits, '-' and '.'); delete the "
                "ComputeDomain and create it with a valid name")};
  }
  const api::ResourceClaimTemplate* found = find_template(world, api::name_of(wanted->meta));
  if (found == nullptr && api::wants_one_clique(domain) && !world.reservation) {
    return {What::NotPlaced,
            cat("ResourceClaimTemplate ", name, " is made once a clique is chosen: see Placed")};
  }
  if (found == nullptr)
    return {What::Missing, cat("ResourceClaimTemplate ", name, " is being made")};
  if (!owns(world, *found) && !is_inherited(world, *found)) {
    return {What::NameTaken,
            cat("ResourceClaimTemplate ", name, " belongs to ", owner_of(world, *found),
                " and is left alone; delete this ComputeDomain and create it with another "
                "template name")};
  }
  if (!owns(world, *found) && !world.view.has_predecessor) {
    return {What::Inherited, cat("ResourceClaimTemplate ", name, " is being taken over")};
  }
  if (found->meta.is_deleting()) {
    return {What::BeingDeleted, cat("ResourceClaimTemplate ", name,
                                    " is being deleted and will be "
                                    "made again")};
  }
  if (is_outdated(world, *found)) {
    return {What::Outdated, cat("ResourceClaimTemplate ", name,
                                " is being created again for clique ", world.reservation->clique)};
  }
  return template_is_there(name);
}

std::optional<api::ResourceClaimTemplate> wanted_template(
    const api::ComputeDomain& domain, const std::optional<Reservation>& reservation) {
  if (!domain.spec.channel) return std::nullopt;
  api::ResourceClaimTemplate object;
  object.meta.name = domain.spec.channel->template_name;
  object.meta.ns = domain.meta.ns;
  object.meta.labels = {{api::kDomainLabel, domain.meta.uid},
                        {api::kTargetLabel, api::kTargetWorkload}};
  object.meta.owners = {{.api_version = "resource.nvidia.com/v1beta1",
                         .kind = "ComputeDomain",
                         .name = domain.meta.name,
                         .uid = domain.meta.uid,
                         .controller = true}};
  object.spec.requests = {{.name = api::kChannelRequest,
                           .device_class = api::kChannelClass,
                           .selectors = {},
                           .admin_access = false}};
  object.spec.configs = {{.requests = {api::kChannelRequest},
                          .driver = api::kDriver,
                          .parameters = api::encode_channel_config(
                              {domain.meta.uid, domain.spec.channel->allocation_mode}),
                          .from_class = false}};
  if (reservation) ask_for(object, *reservation);
  return object;
}

}  // namespace cdom::core
