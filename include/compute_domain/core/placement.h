// Placement: the clique for a domain that wants all of its seats in one.
//
// Domains come in the order of their age. Each gets the clique with the fewest free seats among
// those that have enough. Seats that are reserved and not taken yet are not free. One decision is
// about all domains at once, and is carried out by one write of the reservations. Pure.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "compute_domain/core/plan.h"
#include "compute_domain/core/reservations.h"
#include "compute_domain/core/world.h"

namespace cdom::core {

// A seat that a node's ResourceSlice offers, with a clique.
struct Seat {
  enum class State { Free, InUse, NotReady, Unschedulable };
  std::string node;
  State state = State::Free;  // InUse comes before what is wrong with the node

  friend bool operator==(const Seat&, const Seat&) = default;
};

struct CliqueSeats {
  std::string clique;
  std::vector<Seat> seats;

  friend bool operator==(const CliqueSeats&, const CliqueSeats&) = default;
};

// A domain that wants one clique, as the cache shows it.
struct PlacementDomain {
  std::string uid;
  api::ObjectName name;
  base::Time created{};
  std::int64_t num_nodes = 0;
  bool wants_one_clique = true;  // false: it has a reservation that it does not want
  bool has_channel = true;
  bool is_automatic = false;  // its claims were there before it
  bool is_deleting = false;
  std::set<std::string> nodes;            // on which claims of it are used, shared ones too
  bool has_allocated_claims = false;      // also ones whose nodes are not known, or that need none
  bool has_waiting_claims = false;        // that are not allocated
  std::optional<TemplatePlacement> made;  // its template
  std::string placed_clique = {};         // that its status says; "": none
  std::optional<base::Time> unplaced_since;  // by its condition

  friend bool operator==(const PlacementDomain&, const PlacementDomain&) = default;
};

// Pods that share a claim in a clique, where it is not known yet on which of its nodes they are.
struct UnreadPods {
  std::string clique;
  std::string domain_uid;  // theirs; "": none that is known
  std::int64_t count = 0;

  friend bool operator==(const UnreadPods&, const UnreadPods&) = default;
};

struct PlacementWorld {
  base::Time now{};
  Settings settings;
  std::vector<CliqueSeats> cliques;            // in any order
  std::vector<PlacementDomain> domains;        // in any order
  std::optional<api::ConfigMap> reservations;  // absent: not in the cache
  // UIDs of domains of which a proof has just failed, because the cache is behind: they keep what
  // they were reserved.
  std::set<std::string> unproven;
  // Each may have a seat that counts as free. At most one for a clique and a domain.
  std::vector<UnreadPods> unread;
  base::Duration unread_for{};  // until fewer of them count, if nothing is read before
};

// The domain that a proof is about, by UID; "" when the action is none. A proof that fails concerns
// that domain alone.
std::string domain_of_proof(const Action& action);

struct PlacementPlan {
  Plan plan;  // proofs, then one write of the reservations
  // What holds once the plan is carried out, by UID, of every domain of the world that lives, but
  // for those of which that depends on pods that are not read.
  std::map<std::string, PlacementVerdict> verdicts;
};

PlacementPlan place(const PlacementWorld& world);

// By clique, the seats that are free and reserved for nobody; less than none when a clique has
// fewer seats than are reserved in it.
std::map<std::string, std::int64_t> unreserved_seats(const PlacementWorld& world);

// What a slice of a node offers, and the state of the node's seats.
struct Offer {
  std::string pool;
  std::int64_t pool_generation = 0;
  std::string node;
  std::vector<std::string> cliques;  // of its channels; none of another driver's
  Seat::State state = Seat::State::Free;
};
Offer offer_of(const api::ResourceSlice& slice, Seat::State state);
// The seats that slices of this driver offer. The newest generation of a pool counts; a text that
// is not a clique's name counts as none.
std::vector<CliqueSeats> seats_in(const std::vector<Offer>& offers);
// `node` is null when it is not in the cache. `is_in_use`: a claim of this driver is allocated on
// it, whoever's.
Seat::State seat_state_of(const api::Node* node, bool is_in_use);
// Why a seat of that node that is not in use is not Free: "cordoned"; "" where it is.
std::string closed_word(const api::Node* node);

}  // namespace cdom::core
