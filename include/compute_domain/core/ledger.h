// Ledger: which clique's seats are promised to which domain, for all domains in one ConfigMap.
//
// Every choice is one write of it under the precondition of the version that was decided upon, so
// choices come one after the other, whoever makes them. What it promises is never more than what a
// clique has. A domain's claim template is made from its promise. Pure.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "compute_domain/api/core.h"
#include "compute_domain/api/resource.h"

namespace cdom::core {

struct Promise {
  std::string clique;
  std::int64_t seats = 0;
  // Counts the choices of all domains: of two cliques for one domain the one of the later turn
  // holds.
  std::int64_t turn = 0;
  // The clique that the domain is moved away from. Its seats stay promised until the template of
  // the new one is there: until then somebody may still make the old one.
  std::string leaving;
  std::int64_t leaving_seats = 0;

  friend bool operator==(const Promise&, const Promise&) = default;
};

struct Ledger {
  std::map<std::string, Promise> promises;  // by UID of the domain
  std::int64_t turn = 0;                    // the last one

  friend bool operator==(const Ledger&, const Ledger&) = default;
};

// In the operator's namespace, beside the node lists. There is none while nothing is promised.
inline constexpr char kLedgerName[] = "compute-domain-placement";

// Whether all that is written there is a ledger's.
bool is_ledger(const api::ConfigMap& map);
// A promise that does not decode is none.
Ledger ledger_in(const api::ConfigMap& map);
std::optional<Promise> promise_in(const api::ConfigMap& map, const std::string& uid);
// Without the metadata that the server gives; no data when nothing is promised.
api::ConfigMap config_map_of(const Ledger& ledger, const std::string& ns);

// A clique and the turn in which it was chosen, as a template has them.
struct TemplatePlacement {
  std::string clique;
  std::int64_t turn = 0;

  friend bool operator==(const TemplatePlacement&, const TemplatePlacement&) = default;
};

// Makes the template's claims take seats of the promised clique only. The expression is total: it
// means "no" for a seat without a clique, where an error would keep the pod from every node.
void ask_for(api::ResourceClaimTemplate& object, const Promise& promise);
// What ask_for() has written; nullopt: nothing. A turn that it cannot have written is 0.
std::optional<TemplatePlacement> placement_of(const api::ResourceClaimTemplate& object);
// The clique that a claim of such a template asks for; "" when it is none, or is allocated (then
// its spec is not kept).
std::string asked_clique(const api::ResourceClaimSpec& spec);
// Takes out of a spec the selectors that asked_clique() does not need; their length is a tenant's.
void keep_asked_clique(api::ResourceClaimSpec& spec);
// Whether a text is fit for a selector.
bool is_clique_name(std::string_view clique);

}  // namespace cdom::core
