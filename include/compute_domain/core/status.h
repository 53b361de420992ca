// Status: a domain's readiness in the words of the API, with the Events that a change deserves.
#pragma once

#include <string>
#include <vector>

#include "compute_domain/core/plan.h"
#include "compute_domain/core/readiness.h"

namespace cdom::core {

inline constexpr char kConditionReady[] = "Ready";
inline constexpr char kConditionTemplate[] = "TemplateReady";
inline constexpr char kConditionCliques[] = "SingleClique";
// Only while the API server refuses something: False.
inline constexpr char kConditionWrites[] = "WritesAccepted";
inline constexpr char kConditionPlaced[] = "Placed";  // of a domain that wants one clique
// A reason of Ready that both programs read again: the reference driver's daemons serve the domain
// until their last claim has ended.
inline constexpr Reason kServedByPredecessor = "ServedByPredecessor";

// What became of the wanted ResourceClaimTemplate.
struct TemplateVerdict {
  enum class What {
    NotWanted,
    Ready,
    Missing,
    Inherited,  // from the reference driver
    NotPlaced,  // made once a clique is chosen
    Outdated,   // of the clique where the domain was placed before
    NameTaken,
    NameInvalid,
    BeingDeleted
  };
  What what = What::NotWanted;
  std::string message;
};

// What a deleted domain still waits for, for people.
struct WaitsFor {
  std::vector<std::string> what;  // "18 pods of Job train", "claim UID 6f0a… on node n03"
  std::string remedy;             // for its pods; "" when it waits for none

  [[nodiscard]] bool empty() const { return what.empty(); }
};

api::ComputeDomainStatus computed_status(const World& world, const Readiness& readiness,
                                         const TemplateVerdict& verdict, const WaitsFor& waits_for);

// Claims without a seat that ask for a clique where their domain is not placed any more, by name.
std::vector<const api::ResourceClaim*> former_claims(const World& world);

// The status reports that a claim waits for a seat only after this time: a scheduler takes a
// moment.
inline constexpr base::Duration kClaimPatience = std::chrono::seconds(5);
// Claims without a seat that are older than that, by name; `next`, when given, is when the next one
// will be, from now.
std::vector<const api::ResourceClaim*> waiting_claims(
    const DomainView& view, base::Time now, std::optional<base::Duration>* next = nullptr);

// The reason, a row of reasons.h, for which a node offers no seat; "": it offers them, or what it
// has reported may not be true any more.
std::string lack_of(const api::ComputeDomainNode& report);

// "r2n01 is cordoned; r3n01, r3n02 are not Ready": whose seats are out; "" when none are.
std::string closed_text(const SeatCount& seats);

// Whether its status says how many seats are in use.
bool tells_of_seats(const api::ComputeDomain& domain);

// Events for what changed between two statuses of the world's domain: conditions and members, each
// naming the node and the next step; and for pods that have lost their memory.
std::vector<RecordEvent> events_for(const World& world, const api::ComputeDomainStatus& before,
                                    const api::ComputeDomainStatus& after,
                                    const Readiness& readiness);

// The domain as an Event's involved object.
api::ObjectReference reference_to(const api::ComputeDomain& domain);
api::ObjectReference reference_to(const api::ResourceClaim& claim);

}  // namespace cdom::core
