// Reservations: which clique's seats are reserved for which domain, for all domains in one
// ConfigMap.
//
// Every choice is one write of it under the precondition of the version that was decided upon, so
// choices come one after the other, even with two controllers. Reservations never exceed what a
// clique has. A domain's claim template is made from its reservation. Pure.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "compute_domain/api/core.h"
#include "compute_domain/api/resource.h"

namespace cdom::core {

struct Reservation {
  std::string clique;
  std::int64_t seats = 0;
  // Counts the choices of all domains: when a domain has two cliques, the one of the later
  // generation holds.
  std::int64_t generation = 0;
  // The clique that the domain is moved away from. Its seats stay reserved until the template of
  // the new one is there: until then somebody may still make the old one.
  std::string leaving;
  std::int64_t leaving_seats = 0;

  friend bool operator==(const Reservation&, const Reservation&) = default;
};

struct Reservations {
  std::map<std::string, Reservation> by_domain;  // by UID of the domain
  std::int64_t generation = 0;                   // the last one

  friend bool operator==(const Reservations&, const Reservations&) = default;
};

// In the operator's namespace, beside the node lists. There is none while nothing is reserved.
inline constexpr char kReservationsName[] = "compute-domain-placement";

// Whether all that is written there is ours.
bool is_reservations(const api::ConfigMap& map);
// A reservation that does not decode is none.
Reservations reservations_in(const api::ConfigMap& map);
std::optional<Reservation> reservation_in(const api::ConfigMap& map, const std::string& uid);
// Without the metadata that the server gives; no data when nothing is reserved.
api::ConfigMap config_map_of(const Reservations& reservations, const std::string& ns);

// A clique and the generation in which it was chosen, as a template has them.
struct TemplatePlacement {
  std::string clique;
  std::int64_t generation = 0;

  friend bool operator==(const TemplatePlacement&, const TemplatePlacement&) = default;
};

// Makes the template's claims take seats of the reserved clique only. The expression is total: it
// means "no" for a device with no clique or an odd one, where an error would keep the pod from
// every node.
void ask_for(api::ResourceClaimTemplate& object, const Reservation& reservation);
// What ask_for() has written; nullopt: nothing. A generation that it cannot have written is 0.
std::optional<TemplatePlacement> placement_of(const api::ResourceClaimTemplate& object);
// The clique that a claim of such a template asks for; "" when it is none, or is allocated (then
// its spec is not kept).
std::string asked_clique(const api::ResourceClaimSpec& spec);
// Takes out of a spec the selectors that asked_clique() does not need; their length is a tenant's.
void keep_asked_clique(api::ResourceClaimSpec& spec);
// Whether a text is fit for a selector.
bool is_clique_name(std::string_view clique);

}  // namespace cdom::core
