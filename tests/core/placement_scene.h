// Scenes for placement: cliques of seats and domains that want one. scene().clique("a.1", 18).
#pragma once

#include "compute_domain/core/placement.h"
#include "core/builders.h"

namespace cdom::core::testing {

struct PlacementScene {
  PlacementWorld world;

  PlacementScene() { world.now = kNow; }

  // Nodes "<clique>-1" and so on, all of them free.
  PlacementScene& clique(const std::string& name, int seats) {
    CliqueSeats clique{.clique = name, .seats = {}};
    for (int i = 1; i <= seats; ++i) {
      clique.seats.push_back({base::cat(name, "-", i), Seat::State::Free});
    }
    world.cliques.push_back(std::move(clique));
    return *this;
  }
  // The last `count` seats of a clique.
  PlacementScene& seats(const std::string& name, int count, Seat::State state) {
    for (CliqueSeats& clique : world.cliques) {
      if (clique.clique != name) continue;
      for (int i = 0; i < count; ++i) clique.seats[clique.seats.size() - 1 - i].state = state;
    }
    return *this;
  }
  // Later ones are younger.
  PlacementScene& wants(const std::string& name, std::int64_t nodes) {
    PlacementDomain domain;
    domain.uid = uid_of(name);
    domain.name = {"team-a", name};
    domain.created = kNow + std::chrono::seconds(world.domains.size());
    domain.num_nodes = nodes;
    world.domains.push_back(std::move(domain));
    return *this;
  }
  PlacementDomain& domain(const std::string& name) {
    for (PlacementDomain& domain : world.domains) {
      if (domain.uid == uid_of(name)) return domain;
    }
    throw std::out_of_range(name);
  }
  // Its claims take the first seats of a clique.
  PlacementScene& takes(const std::string& name, const std::string& clique, int count) {
    for (CliqueSeats& each : world.cliques) {
      if (each.clique != clique) continue;
      for (Seat& seat : each.seats) {
        if (count == 0) break;
        if (seat.state != Seat::State::Free) continue;
        seat.state = Seat::State::InUse;
        domain(name).nodes.insert(seat.node);
        --count;
      }
    }
    return *this;
  }
  // Its template, as its domain key makes it of its reservation.
  PlacementScene& makes_template(const std::string& name) {
    const auto reservation = reservation_in(*world.reservations, uid_of(name));
    domain(name).made = TemplatePlacement{reservation->clique, reservation->generation};
    return *this;
  }

  // One decision, with the reservations written as the API server would.
  PlacementPlan decide() {
    PlacementPlan decided = place(world);
    for (const Action& action : decided.plan.actions) {
      const auto* write = std::get_if<WriteReservations>(&action);
      if (write == nullptr) continue;
      const std::string version = write->current.meta.resource_version;
      world.reservations.reset();
      if (write->desired.data.empty()) continue;
      world.reservations = write->desired;
      world.reservations->meta.uid = "uid-reservations";
      world.reservations->meta.resource_version = std::to_string(std::stoi("0" + version) + 1);
    }
    return decided;
  }
  [[nodiscard]] std::string clique_of(const std::string& name) const {
    const auto reservation =
        world.reservations ? reservation_in(*world.reservations, uid_of(name)) : std::nullopt;
    return reservation ? reservation->clique : "";
  }
};

inline PlacementScene scene() { return {}; }

inline PlacementVerdict verdict_on(const PlacementPlan& plan, const std::string& name) {
  return plan.verdicts.at(uid_of(name));
}

}  // namespace cdom::core::testing
