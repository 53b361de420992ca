#include "core/node/claims/admission.h"

#include <algorithm>

#include "compute_domain/api/names.h"
#include "compute_domain/base/text.h"
#include "compute_domain/core/channels.h"
#include "compute_domain/core/membership.h"

namespace cdom::core {

namespace {

using base::cat;

const api::NodeList* list_of_domain(const NodeWorld& world, const std::string& domain_uid) {
  const std::string clique = world.checkpoint.clique.value_or("");
  const bool by_channel = world.checkpoint.by_channel && !clique.empty();
  const std::string group = group_id({by_channel ? "" : domain_uid, clique});
  const SeenList* seen = find_seen_list(world, group);
  return seen == nullptr ? nullptr : &*seen->stored.list;
}

// The namespace that the domain's node lists name; "" when none is here.
std::string namespace_of_domain(const NodeWorld& world, const std::string& domain_uid) {
  for (const SeenList& seen : world.lists) {
    if (seen.stored.meta.label(api::kDomainLabel) == domain_uid) {
      return seen.stored.meta.label(api::kDomainNamespaceLabel);
    }
  }
  return "";
}

// Only the controller knows to which workload the claim belongs.
NoAdmission why_no_automatic_domain(const ClaimRef& claim,
                                    const std::vector<ListedDomain>& domains) {
  std::vector<std::string> names, unreadable;
  for (const ListedDomain& domain : domains) {
    if (domain.is_automatic) names.push_back(domain.name);
    if (!domain.is_readable()) unreadable.push_back(domain.name);
  }
  std::ranges::sort(names);
  std::ranges::sort(unreadable);
  const std::string where =
      cat("namespace ", claim.ns,
          unreadable.empty()
              ? ""
              : cat(" (ComputeDomain ", base::list_names(unreadable), " cannot be read)"));
  return {
      .reason = cat("ResourceClaim ", to_string(claim),
                    " names no ComputeDomain, and the one of its workload does not admit it; ",
                    names.empty()
                        ? cat("there is no automatic one in ", where)
                        : cat("the automatic ones of ", where, " are ", base::list_names(names)),
                    "; see the Events of the claim, and whether compute-domain-controller runs"),
      .may_come = true};
}

bool is_full_without(const api::NodeList& list, const std::string& node) {
  const bool has_entry =
      std::ranges::find(list.entries, node, &api::NodeListEntry::node) != list.entries.end();
  return list.slots > 0 && !has_entry && std::ssize(list.entries) >= list.slots;
}

}  // namespace

bool admits_here(const NodeWorld& world) {
  return std::ranges::any_of(world.lists, [&](const SeenList& seen) {
    const api::NodeListEntry* entry = own_entry(world, seen);
    return entry != nullptr && entry->slot >= 0 && !entry->admits.empty();
  });
}

std::optional<AdmittedBy> admission_of(const NodeWorld& world, const std::string& claim_uid) {
  for (const SeenList& seen : world.lists) {
    const api::NodeListEntry* entry = own_entry(world, seen);
    if (entry == nullptr) continue;
    if (!entry->boot_id.empty() && entry->boot_id != world.self.boot_id) continue;
    const auto admission = std::ranges::find(entry->admits, claim_uid, &api::Admission::claim_uid);
    if (admission != entry->admits.end()) return AdmittedBy{&seen, entry, admission->channel};
  }
  return std::nullopt;
}

NoAdmission why_not_admitted(const NodeWorld& world, const ClaimRef& claim,
                             const std::string& domain_uid, const DomainsReading& domains) {
  if (domains.error) {
    const bool is_silent = domains.error->kind == base::ErrorKind::Unavailable;
    return {.reason = cat("no node list admits ResourceClaim ", to_string(claim), ", and ",
                          is_silent ? "the API server does not answer"
                                    : "the ComputeDomains of its namespace cannot be read",
                          ": ", domains.error->message),
            .may_come = true};
  }
  if (domain_uid.empty()) return why_no_automatic_domain(claim, *domains.domains);
  const auto domain = std::ranges::find(*domains.domains, domain_uid, &ListedDomain::uid);
  if (domain == domains.domains->end()) {
    const std::string home = namespace_of_domain(world, domain_uid);
    if (!home.empty() && home != claim.ns) {
      return {.reason = cat(
                  "the ComputeDomain with UID ", domain_uid,
                  " belongs to another namespace; a claim can only use one of its own namespace, ",
                  claim.ns)};
    }
    return {.reason = cat("there is no ComputeDomain with UID ", domain_uid, " in namespace ",
                          claim.ns, "; apply it there, or delete the pod if the domain is gone")};
  }
  // The controller may be newer than this agent, or know an earlier state of it.
  if (!domain->is_readable()) {
    return {.reason = cat("no node list admits ResourceClaim ", to_string(claim),
                          ", and its domain cannot be read: ", domain->problem),
            .may_come = true};
  }
  const std::string name = cat("ComputeDomain ", claim.ns, "/", domain->name);
  if (domain->is_deleting) {
    return {.reason = cat(name, " is being deleted and admits no new claim")};
  }
  if (!domain->predecessor.empty()) {
    return {.reason = cat(name, " is not ours yet: ", domain->predecessor)};
  }
  const api::NodeList* list = list_of_domain(world, domain_uid);
  if (list != nullptr && is_full_without(*list, world.self.name)) {
    return {.reason = cat(name, " has no slot left in this clique: all ", list->slots,
                          " are taken; use fewer nodes")};
  }
  if (list != nullptr && is_standing(world.checkpoint, list->group) &&
      !channel_of(*list, domain_uid)) {
    return {.reason = cat(name, " has no IMEX channel in clique ", list->clique,
                          " yet: its condition Ready says why"),
            .may_come = true};
  }
  const bool is_in_clique =
      list != nullptr && std::ranges::find(list->entries, world.self.name,
                                           &api::NodeListEntry::node) != list->entries.end();
  const std::string clique = world.checkpoint.clique.value_or("");
  if (world.checkpoint.by_channel && !clique.empty() && !is_in_clique) {
    return {.reason = cat("this node is not in the node list of clique ", clique, ": its label ",
                          api::kNodeCliqueLabel,
                          " has to name that clique, and compute-domain-controller has to run; see "
                          "the condition Ready of ",
                          name),
            .may_come = true};
  }
  return {.reason = cat("no node list has a place for this node yet: see the condition Ready of ",
                        name, ", and whether compute-domain-controller runs"),
          .may_come = true};
}

}  // namespace cdom::core
