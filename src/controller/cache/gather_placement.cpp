#include <algorithm>
#include <iterator>
#include <set>
#include <unordered_map>

#include "compute_domain/api/names.h"
#include "compute_domain/controller/gather.h"
#include "compute_domain/core/membership.h"
#include "compute_domain/core/status.h"
#include "compute_domain/core/templates.h"
#include "unread_claims.h"

namespace cdom::controller {

namespace {

// Seats that claims have, by node.
std::unordered_map<std::string, std::size_t> seats_taken(const Stores& stores) {
  std::unordered_map<std::string, std::size_t> taken;
  stores.claims.for_each([&](const auto& claim) {
    if (!core::takes_seat(*claim)) return;
    const auto devices =
        std::ranges::count(claim->allocation->devices, api::kDriver, &api::AllocatedDevice::driver);
    for (std::string& node : core::nodes_of(*claim)) {
      taken[std::move(node)] += static_cast<std::size_t>(devices);
    }
  });
  return taken;
}

std::set<std::string> as_set(const std::vector<std::string>& names) {
  return {names.begin(), names.end()};
}

std::optional<base::Time> unplaced_since(const api::ComputeDomain& domain) {
  if (!domain.status) return std::nullopt;
  const auto* placed = api::find_condition(domain.status->conditions, core::kConditionPlaced);
  if (placed == nullptr || placed->status != api::ConditionStatus::False) return std::nullopt;
  return placed->last_transition;
}

// Claims of its own namespace only: what others hold is not the domain's, and moves it or keeps it
// as little.
void add_claims(const Sources& from, const UnreadClaims& unread, core::PlacementDomain& view) {
  for (const auto& claim : from.stores.claims.by_index(kByDomain, view.uid)) {
    if (claim->meta.ns != view.name.ns) continue;
    (claim->allocation ? view.has_allocated_claims : view.has_waiting_claims) = true;
    if (core::is_shared(*claim)) {
      api::ResourceClaim shared = *claim;
      from.workloads.place_consumers(shared);
      for (std::string& node : core::nodes_of(shared)) {
        if (is_usable_on(from, *claim, node)) view.nodes.insert(std::move(node));
      }
      view.nodes.merge(unread.nodes_of(claim->meta.uid, view.uid));
    } else if (core::takes_seat(*claim)) {
      view.nodes.merge(as_set(core::nodes_of(*claim)));
    }
  }
}

core::PlacementDomain placement_domain(const Sources& from, const UnreadClaims& unread,
                                       const api::ComputeDomain& domain) {
  core::PlacementDomain view{.uid = domain.meta.uid,
                             .name = api::name_of(domain.meta),
                             .created = domain.meta.creation_time.value_or(base::Time{}),
                             .num_nodes = domain.spec.num_nodes,
                             .wants_one_clique = api::wants_one_clique(domain),
                             .has_channel = domain.spec.channel.has_value(),
                             .is_automatic = domain.spec.workload.has_value(),
                             .is_deleting = domain.meta.is_deleting(),
                             .nodes = {},
                             .has_allocated_claims = false,
                             .has_waiting_claims = false,
                             .made = std::nullopt,
                             .placed_clique = domain.status ? domain.status->placed_clique : "",
                             .unplaced_since = unplaced_since(domain)};
  add_claims(from, unread, view);
  if (!domain.spec.channel) return view;
  const auto made = from.stores.templates.get({domain.meta.ns, domain.spec.channel->template_name});
  if (made != nullptr && core::is_owned_by(made->meta, view.uid) && !made->meta.is_deleting()) {
    view.made = core::placement_of(*made);
  }
  return view;
}

}  // namespace

namespace {

// A node that isolates by domain has one seat, which a shared claim on the node takes too.
core::Seat::State state_of(const Sources& from, const UnreadClaims& unread,
                           const api::ResourceSlice& slice,
                           const std::unordered_map<std::string, std::size_t>& taken) {
  const auto node = from.stores.nodes.get({"", slice.node});
  const auto it = taken.find(slice.node);
  const bool is_shared = slice.devices.size() == 1 &&
                         (unread.are_on(slice.node) || !shared_on(from, slice.node).empty());
  const bool is_full = is_shared || (it != taken.end() && it->second >= slice.devices.size());
  return core::seat_state_of(node.get(), is_full);
}

bool is_outside(const api::ResourceSlice& slice) {
  return slice.driver == api::kDriver && !slice.node.empty() && !slice.devices.empty() &&
         cliques_of_devices(slice).empty();
}

std::vector<core::CliqueSeats> seats_by_clique(const Sources& from, const UnreadClaims& unread) {
  const std::unordered_map<std::string, std::size_t> taken = seats_taken(from.stores);
  std::vector<core::Offer> offers;
  offers.reserve(from.stores.slices.size());
  from.stores.slices.for_each([&](const auto& slice) {
    if (slice->node.empty()) return;
    offers.push_back(core::offer_of(*slice, state_of(from, unread, *slice, taken)));
  });
  return core::seats_in(offers);
}

// Those of cliques where a shared claim takes a seat.
std::vector<core::UnreadPods> pods_with_seats(const Sources& from, const UnreadClaims& unread) {
  std::vector<core::UnreadPods> pods = unread.pods();
  if (pods.empty()) return pods;
  std::set<std::string> cliques;
  from.stores.slices.for_each([&](const auto& slice) {
    if (slice->driver == api::kDriver && slice->devices.size() == 1) {
      for (const std::string& clique : cliques_of_devices(*slice)) cliques.insert(clique);
    }
  });
  std::erase_if(pods, [&](const core::UnreadPods& of) { return !cliques.contains(of.clique); });
  return pods;
}

}  // namespace

std::vector<core::CliqueSeats> seats_by_clique(const Sources& from) {
  return seats_by_clique(from, UnreadClaims(from));
}

std::vector<core::Seat> seats_outside(const Sources& from) {
  std::vector<kube::Store<api::ResourceSlice>::Snapshot> slices;
  from.stores.slices.for_each([&](const auto& slice) {
    if (is_outside(*slice)) slices.push_back(slice);
  });
  if (slices.empty()) return {};
  const UnreadClaims unread(from);
  const std::unordered_map<std::string, std::size_t> taken = seats_taken(from.stores);
  std::vector<core::Offer> offers;
  offers.reserve(slices.size());
  for (const auto& slice : slices) {
    offers.push_back(core::offer_of(*slice, state_of(from, unread, *slice, taken)));
    offers.back().cliques = {""};
  }
  return std::move(core::seats_in(offers).front().seats);
}

core::SeatCount count_seats(const Sources& from) {
  const std::unordered_map<std::string, std::size_t> taken = seats_taken(from.stores);
  core::SeatCount count;
  from.stores.slices.for_each([&](const auto& slice) {
    if (slice->node.empty() || slice->driver != api::kDriver) return;
    const std::size_t seats = slice->devices.size();
    const auto it = taken.find(slice->node);
    const bool is_shared = seats == 1 && !shared_on(from, slice->node).empty();
    const std::size_t used =
        is_shared ? seats : std::min(seats, it == taken.end() ? 0 : it->second);
    count.total += static_cast<std::int64_t>(seats);
    count.in_use += static_cast<std::int64_t>(used);
    if (seats > 1) count.one_per_node = false;
    if (used == seats) return;
    const std::string word = core::closed_word(from.stores.nodes.get({"", slice->node}).get());
    if (word.empty()) return;
    count.out += static_cast<std::int64_t>(seats - used);
    count.closed[word].push_back(slice->node);
  });
  from.stores.reports.for_each([&](const auto& report) {
    const std::string reason = core::lack_of(*report);
    if (!reason.empty()) count.lacking[reason].push_back(report->meta.name);
  });
  for (auto* named : {&count.lacking, &count.closed}) {
    for (auto& [why, nodes] : *named) std::ranges::sort(nodes);
  }
  count.told_by = std::ssize(from.stores.domains.by_index(kByWaiting, kForSeats));
  return count;
}

core::SeatCount seats_of(const Sources& from) {
  const Memory::SeatsCounted when{from.stores.claims.changes(), from.stores.slices.changes(),
                                  from.stores.reports.changes(), from.stores.nodes.changes(),
                                  from.workloads.moves()};
  return from.memory.seats(when, [&] { return count_seats(from); });
}

core::PlacementWorld gather_placement(const Sources& from) {
  const Stores& stores = from.stores;
  core::PlacementWorld world;
  world.now = from.clock.now();
  world.settings = from.settings;
  const auto reservations =
      stores.lists.get({from.settings.operator_namespace, core::kReservationsName});
  if (reservations != nullptr && reservations->reservations)
    world.reservations = *reservations->reservations;
  const auto wanting = stores.domains.by_index(kByPlacement, kSingle);
  if (wanting.empty() && !world.reservations) return world;
  const UnreadClaims unread(from);
  for (const auto& domain : wanting) {
    world.domains.push_back(placement_domain(from, unread, *domain));
  }
  if (world.reservations) {
    for (const auto& [uid, text] : world.reservations->data) {
      for (const auto& domain : stores.domains.by_index(kByUid, uid)) {
        if (!api::wants_one_clique(*domain)) {
          world.domains.push_back(placement_domain(from, unread, *domain));
        }
      }
    }
  }
  world.cliques = seats_by_clique(from, unread);
  world.unread = pods_with_seats(from, unread);
  world.unread_for = unread.pods_count_for();
  return world;
}

}  // namespace cdom::controller
