#include "compute_domain/core/placement.h"

#include <algorithm>
#include <set>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "compute_domain/api/names.h"
#include "compute_domain/base/text.h"
#include "core/pace.h"
#include "core/placement/placement_words.h"

namespace cdom::core {

namespace {

bool has_taint(const api::Node& node, std::string_view key) {
  return std::ranges::find(node.taints, key, &api::Taint::key) != node.taints.end();
}

// More than any clique has, and so few that their sum is a number.
constexpr std::int64_t kMostSeats = 1'000'000;

// Its claims ask for the clique where it is, and their containers may run there.
bool is_in_use(const PlacementDomain& domain) {
  return domain.has_allocated_claims || !domain.nodes.empty();
}

// The clique of its template was chosen for it: tenants write templates, and no status.
bool was_placed(const PlacementDomain& domain) {
  return domain.made && domain.placed_clique == domain.made->clique;
}

constexpr char kWaitsForClique[] =
    "another clique has them, and it is placed there if this lasts, although pods wait for this "
    "one";

// Of a template, which tenants may edit: so far below what a ConfigMap may have that choices
// counted up from it never get there.
constexpr std::int64_t kHighestGenerationOfTemplate = 1'000'000'000;

// 0: one that no choice of ours has had.
std::int64_t generation_of_template(const PlacementDomain& domain) {
  const std::int64_t generation = domain.made ? domain.made->generation : 0;
  return generation <= kHighestGenerationOfTemplate ? generation : 0;
}

// What its template asks for.
Reservation asked_for(const PlacementDomain& domain) {
  return {.clique = domain.made->clique,
          .seats = std::min(domain.num_nodes, kMostSeats),
          .generation = generation_of_template(domain),
          .leaving = {}};
}

// One decision on its way.
class Decision {
 public:
  explicit Decision(const PlacementWorld& world);
  PlacementPlan plan();
  std::map<std::string, std::int64_t> unreserved();

 private:
  struct Shortage {
    std::int64_t lacks = 0;
    bool waits = false;  // for its clique to have them again
    bool is_unproven = false;
  };

  void count_seats();
  [[nodiscard]] bool may_adopt(const PlacementDomain& domain) const;
  void adopt_placed();
  void adopt_others();
  void adopt(const PlacementDomain& domain, Reservation reservation);
  void count_up_to(const PlacementDomain& domain);
  void end_reservations();
  void count_reservations();
  void count_unread();
  void finish_moves();
  void resize();
  void find_shortages();
  void move();
  void choose();
  PlacementVerdict verdict_on(const PlacementDomain& domain) const;

  CliqueState& state_of(const std::string& clique);
  [[nodiscard]] std::int64_t members_in(const PlacementDomain* domain,
                                        const std::string& clique) const;
  [[nodiscard]] std::int64_t need_of(const Reservation& reservation,
                                     const PlacementDomain* domain) const;
  [[nodiscard]] const PlacementDomain* find(const std::string& uid) const;
  // Without the seats that pods of others may have.
  [[nodiscard]] std::int64_t left_for(const PlacementDomain& domain,
                                      const CliqueState& state) const;
  void wait_for_read(const PlacementDomain& domain);
  // The clique with the fewest seats left among those with at least `seats`; null when none has.
  CliqueState* best_fit(const PlacementDomain& domain, std::int64_t seats, std::string_view except);
  // It has a template, nothing is reserved for it, and that it lives could not be proved.
  [[nodiscard]] bool is_lost(const PlacementDomain& domain) const;
  [[nodiscard]] Action claims_released(const PlacementDomain& domain) const;
  // Whether it may be placed anew now; sets `look_again` when it may be later.
  bool may_move(const PlacementDomain& domain);

  const PlacementWorld& world_;
  std::vector<const PlacementDomain*> domains_;  // the oldest first
  std::unordered_map<std::string_view, const PlacementDomain*> by_uid_;
  std::map<std::string, CliqueState> cliques_;
  std::unordered_map<std::string_view, std::string_view> clique_of_node_;
  Reservations before_, after_;
  std::vector<Action> proofs_;
  std::map<std::string, Shortage> shortages_;
  std::set<std::string> waits_;  // with pods, for seats that their template asks for
  // By clique and domain, those that have no seat of what is kept for the domain.
  std::map<std::pair<std::string_view, std::string_view>, std::int64_t> unread_;
  std::set<std::string> waits_for_read_;  // of them: what is decided depends on it
  std::optional<base::Duration> look_again_;
};

Decision::Decision(const PlacementWorld& world) : world_(world) {
  for (const PlacementDomain& domain : world.domains) {
    domains_.push_back(&domain);
    by_uid_.emplace(domain.uid, &domain);
  }
  std::ranges::sort(domains_, {}, [](const PlacementDomain* domain) {
    return std::pair(domain->created, std::string_view(domain->uid));
  });
  if (world.reservations) before_ = reservations_in(*world.reservations);
  after_ = before_;
}

PlacementPlan Decision::plan() {
  count_seats();
  end_reservations();
  count_reservations();
  adopt_placed();
  count_unread();
  finish_moves();
  resize();
  adopt_others();
  find_shortages();
  move();
  choose();
  PlacementPlan result;
  if (after_.by_domain != before_.by_domain) {
    result.plan.actions = std::move(proofs_);
    result.plan.actions.emplace_back(
        WriteReservations{world_.reservations.value_or(api::ConfigMap{}),
                          config_map_of(after_, world_.settings.operator_namespace)});
  }
  result.plan.look_again = look_again_;
  for (const PlacementDomain* domain : domains_) {
    if (!domain->wants_one_clique || domain->is_deleting || is_lost(*domain)) continue;
    if (waits_for_read_.contains(domain->uid)) continue;
    result.verdicts.emplace(domain->uid, verdict_on(*domain));
  }
  return result;
}

std::map<std::string, std::int64_t> Decision::unreserved() {
  count_seats();
  count_reservations();
  adopt_placed();
  adopt_others();
  std::map<std::string, std::int64_t> left;
  for (const auto& [clique, state] : cliques_) left.emplace(clique, state.left);
  return left;
}

void Decision::count_seats() {
  std::size_t nodes = 0;
  for (const CliqueSeats& clique : world_.cliques) nodes += clique.seats.size();
  clique_of_node_.reserve(nodes);
  for (const CliqueSeats& clique : world_.cliques) {
    CliqueState& state = state_of(clique.clique);
    state.seats = &clique;
    state.free = std::ranges::count(clique.seats, Seat::State::Free, &Seat::state);
    state.left = state.free;
    for (const Seat& seat : clique.seats) clique_of_node_.emplace(seat.node, clique.clique);
  }
}

CliqueState& Decision::state_of(const std::string& clique) {
  const auto [it, is_new] = cliques_.try_emplace(clique);
  if (is_new) it->second.clique = it->first;
  return it->second;
}

const PlacementDomain* Decision::find(const std::string& uid) const {
  const auto it = by_uid_.find(uid);
  return it == by_uid_.end() ? nullptr : it->second;
}

std::int64_t Decision::members_in(const PlacementDomain* domain, const std::string& clique) const {
  if (domain == nullptr) return 0;
  return std::ranges::count_if(domain->nodes, [&](const std::string& node) {
    const auto it = clique_of_node_.find(node);
    return it != clique_of_node_.end() && it->second == clique;
  });
}

std::int64_t Decision::need_of(const Reservation& reservation,
                               const PlacementDomain* domain) const {
  return std::max<std::int64_t>(reservation.seats - members_in(domain, reservation.clique), 0);
}

// The ConfigMap, or a line of it, that somebody has deleted is made again from the templates.
// Tenants write templates, too: so those come first that the controller has said to be placed.
bool Decision::may_adopt(const PlacementDomain& domain) const {
  // A template may be younger than the end of its domain, which the cache shows late.
  return domain.made && domain.wants_one_clique && !domain.is_deleting &&
         !after_.by_domain.contains(domain.uid) && !world_.unproven.contains(domain.uid);
}

// How many seats each had is lost, too, and spec.numNodes may have been raised since: who wants
// most takes from nobody who wants less.
void Decision::adopt_placed() {
  std::vector<std::tuple<std::int64_t, std::size_t, const PlacementDomain*>> placed;
  for (const PlacementDomain* domain : domains_) {
    if (!may_adopt(*domain) || !was_placed(*domain)) continue;
    placed.emplace_back(need_of(asked_for(*domain), domain), placed.size(), domain);
  }
  std::ranges::sort(placed);
  for (const auto& [need, age, domain] : placed) {
    Reservation reservation = asked_for(*domain);
    const std::int64_t left = std::max<std::int64_t>(state_of(reservation.clique).left, 0);
    reservation.seats -= std::max<std::int64_t>(need - left, 0);
    adopt(*domain, std::move(reservation));
  }
}

void Decision::adopt_others() {
  for (const PlacementDomain* domain : domains_) {
    if (!may_adopt(*domain)) continue;
    Reservation reservation = asked_for(*domain);
    const std::int64_t need = need_of(reservation, domain);
    const CliqueState& state = state_of(reservation.clique);
    if (need <= std::max<std::int64_t>(left_for(*domain, state), 0)) {
      adopt(*domain, std::move(reservation));
    } else if (need <= state.left) {
      wait_for_read(*domain);
    }
  }
}

void Decision::adopt(const PlacementDomain& domain, Reservation reservation) {
  state_of(reservation.clique).left -= need_of(reservation, &domain);
  proofs_.emplace_back(EnsureDomainLives{domain.name, domain.uid});
  count_up_to(domain);
  after_.by_domain.emplace(domain.uid, std::move(reservation));
}

// Else its template would be taken for that of a later choice.
void Decision::count_up_to(const PlacementDomain& domain) {
  after_.generation = std::max(after_.generation, generation_of_template(domain));
}

bool Decision::is_lost(const PlacementDomain& domain) const {
  return domain.made && world_.unproven.contains(domain.uid) &&
         !after_.by_domain.contains(domain.uid);
}

// A domain that is gone needs nothing any more. That the cache does not show one proves nothing.
void Decision::end_reservations() {
  for (const auto& [uid, reservation] : before_.by_domain) {
    const PlacementDomain* domain = find(uid);
    if (domain != nullptr && domain->wants_one_clique) continue;
    if (domain == nullptr && world_.unproven.contains(uid)) continue;
    if (domain == nullptr) proofs_.emplace_back(EnsureDomainGone{uid});
    after_.by_domain.erase(uid);
  }
}

void Decision::count_reservations() {
  for (const auto& [uid, reservation] : after_.by_domain) {
    state_of(reservation.clique).left -= need_of(reservation, find(uid));
    if (!reservation.leaving.empty())
      state_of(reservation.leaving).left -= reservation.leaving_seats;
  }
}

// A domain's pods have the seats that are kept for it first.
void Decision::count_unread() {
  for (const UnreadPods& pods : world_.unread) {
    std::int64_t kept = 0;
    if (const auto it = after_.by_domain.find(pods.domain_uid);
        it != after_.by_domain.end() && it->second.clique == pods.clique) {
      kept = need_of(it->second, find(pods.domain_uid));
    }
    const std::int64_t more = std::max<std::int64_t>(pods.count - kept, 0);
    state_of(pods.clique).unread += more;
    unread_.emplace(std::pair(std::string_view(pods.clique), std::string_view(pods.domain_uid)),
                    more);
  }
}

std::int64_t Decision::left_for(const PlacementDomain& domain, const CliqueState& state) const {
  const auto own = unread_.find({state.clique, domain.uid});
  return state.left - state.unread + (own == unread_.end() ? 0 : own->second);
}

void Decision::wait_for_read(const PlacementDomain& domain) {
  waits_for_read_.insert(domain.uid);
  look_again_ = std::min(look_again_.value_or(world_.unread_for), world_.unread_for);
}

void Decision::finish_moves() {
  for (auto& [uid, reservation] : after_.by_domain) {
    const PlacementDomain* domain = find(uid);
    if (domain == nullptr) continue;
    const bool is_made = domain->made && domain->made->generation == reservation.generation;
    if (reservation.leaving.empty() || !is_made) continue;
    state_of(reservation.leaving).left += reservation.leaving_seats;
    reservation.leaving.clear();
    reservation.leaving_seats = 0;
  }
}

// spec.numNodes may be changed at any time.
void Decision::resize() {
  for (const PlacementDomain* domain : domains_) {
    const auto it = after_.by_domain.find(domain->uid);
    if (it == after_.by_domain.end() || domain->is_deleting || domain->num_nodes == 0) continue;
    Reservation& reservation = it->second;
    if (!reservation.leaving.empty() || reservation.seats == domain->num_nodes) continue;
    Reservation resized = reservation;
    resized.seats = domain->num_nodes;
    const std::int64_t more = need_of(resized, domain) - need_of(reservation, domain);
    CliqueState& state = state_of(reservation.clique);
    if (more > 0 && more > state.left) {
      shortages_[domain->uid].lacks = more - std::max<std::int64_t>(state.left, 0);
      continue;
    }
    if (more > 0 && more > left_for(*domain, state)) {
      wait_for_read(*domain);
      continue;
    }
    state.left -= more;
    reservation = std::move(resized);
  }
}

// Who has pods there already comes first, then the older domain.
void Decision::find_shortages() {
  std::map<std::string_view, std::vector<std::pair<std::string_view, const PlacementDomain*>>>
      holders;
  for (const auto& [uid, reservation] : after_.by_domain) {
    const PlacementDomain* domain = find(uid);
    if (domain == nullptr || cliques_.at(reservation.clique).left >= 0) continue;
    holders[reservation.clique].emplace_back(uid, domain);
  }
  for (auto& [clique, all] : holders) {
    std::ranges::sort(all, {}, [](const auto& holder) {
      return std::tuple(holder.second->nodes.empty(), holder.second->created, holder.first);
    });
    std::int64_t budget = cliques_.at(std::string(clique)).free;
    for (const auto& [uid, domain] : all) {
      const std::int64_t need = need_of(after_.by_domain.at(std::string(uid)), domain);
      if (need > budget)
        shortages_[std::string(uid)].lacks = need - std::max<std::int64_t>(budget, 0);
      if (need <= budget) budget -= need;
    }
  }
}

// That no pod of it has what its template asked for.
Action Decision::claims_released(const PlacementDomain& domain) const {
  return EnsureClaimsReleased{.claims_ns = domain.name.ns,
                              .lists_ns = world_.settings.operator_namespace,
                              .domain_uid = domain.uid,
                              .has_predecessor = true,
                              .late = {}};
}

bool Decision::may_move(const PlacementDomain& domain) {
  if (!domain.has_waiting_claims) return true;
  // They ask for the old clique and will go on doing so: not for a node that is back in a moment.
  const base::Duration left = domain.unplaced_since ? left_of(world_.settings.placement_patience,
                                                              domain.unplaced_since, world_.now)
                                                    : world_.settings.placement_patience;
  if (left <= base::Duration::zero()) return true;
  look_again_ = std::min(look_again_.value_or(left), left);
  return false;
}

void Decision::move() {
  for (const PlacementDomain* domain : domains_) {
    const auto shortage = shortages_.find(domain->uid);
    if (shortage == shortages_.end() || domain->is_deleting || is_in_use(*domain)) continue;
    Reservation& reservation = after_.by_domain.at(domain->uid);
    if (!reservation.leaving.empty()) continue;
    const std::int64_t seats = domain->num_nodes > 0 ? domain->num_nodes : reservation.seats;
    CliqueState* fit = best_fit(*domain, seats, reservation.clique);
    if (fit == nullptr) continue;
    if (world_.unproven.contains(domain->uid)) {
      shortage->second.is_unproven = true;
      continue;
    }
    if (!may_move(*domain)) {
      shortage->second.waits = true;
      continue;
    }
    fit->left -= seats;
    // When an older ConfigMap of reservations was put back, the domain's template may be ahead of
    // it.
    count_up_to(*domain);
    reservation = {.clique = std::string(fit->clique),
                   .seats = seats,
                   .generation = ++after_.generation,
                   .leaving = reservation.clique,
                   .leaving_seats = reservation.seats};
    proofs_.push_back(claims_released(*domain));
    shortages_.erase(shortage);
  }
}

CliqueState* Decision::best_fit(const PlacementDomain& domain, std::int64_t seats,
                                std::string_view except) {
  CliqueState* best = nullptr;
  bool may_come = false;
  for (auto& [clique, state] : cliques_) {
    if (clique == except || state.left < seats) continue;
    if (left_for(domain, state) < seats) {
      may_come = true;
    } else if (best == nullptr || state.left < best->left) {
      best = &state;
    }
  }
  if (best == nullptr && may_come) wait_for_read(domain);
  return best;
}

void Decision::choose() {
  for (const PlacementDomain* domain : domains_) {
    const bool wants = domain->wants_one_clique && domain->has_channel && domain->num_nodes > 0 &&
                       !domain->is_deleting && !is_lost(*domain);
    if (!wants || after_.by_domain.contains(domain->uid)) continue;
    if (waits_for_read_.contains(domain->uid)) continue;
    // Its template was not adopted: it asks for seats that others have.
    if (domain->made && is_in_use(*domain)) continue;
    CliqueState* fit = best_fit(*domain, domain->num_nodes, "");
    if (fit == nullptr) continue;
    if (domain->made && !may_move(*domain)) {
      waits_.insert(domain->uid);
      continue;
    }
    if (domain->made) proofs_.push_back(claims_released(*domain));
    count_up_to(*domain);
    fit->left -= domain->num_nodes;
    after_.by_domain.emplace(domain->uid, Reservation{.clique = std::string(fit->clique),
                                                      .seats = domain->num_nodes,
                                                      .generation = ++after_.generation,
                                                      .leaving = {}});
  }
}

PlacementVerdict Decision::verdict_on(const PlacementDomain& domain) const {
  const auto it = after_.by_domain.find(domain.uid);
  if (it != after_.by_domain.end()) {
    const auto shortage = shortages_.find(domain.uid);
    if (shortage == shortages_.end()) return reserved(it->second);
    const std::string outlook = is_in_use(domain) || shortage->second.is_unproven
                                    ? "it is not placed again, as pods of it have seats already"
                                : shortage->second.waits ? kWaitsForClique
                                                         : "no other clique has them";
    return clique_lacks_seats(shortage->second.lacks, std::max(domain.num_nodes, it->second.seats),
                              cliques_.at(it->second.clique), outlook);
  }
  if (domain.is_automatic) return placement_unsupported();
  if (!domain.has_channel) return no_template();
  if (domain.num_nodes == 0) return num_nodes_missing(domain);
  if (domain.made && (is_in_use(domain) || waits_.contains(domain.uid))) {
    const CliqueState& state = cliques_.at(domain.made->clique);
    const std::int64_t need = need_of(asked_for(domain), &domain);
    return clique_lacks_seats(
        need - std::max<std::int64_t>(state.left, 0), domain.num_nodes, state,
        is_in_use(domain) ? "its claim template asks for this clique, and pods of it have seats"
                          : kWaitsForClique);
  }
  const CliqueState *best = nullptr, *largest = nullptr;
  for (const auto& [clique, state] : cliques_) {
    if (state.seats == nullptr) continue;
    if (best == nullptr || state.left > best->left) best = &state;
    if (largest == nullptr || state.total() > largest->total()) largest = &state;
  }
  return no_clique_fits(domain, best, largest);
}

bool is_channel(const api::Device& device) {
  const auto has = [&](const char* name, const api::AttributeValue& value) {
    const auto it = device.attributes.find(name);
    return it != device.attributes.end() && it->second == value;
  };
  return has(api::kAttributeType, std::string("channel")) &&
         has(api::kAttributeId, std::int64_t{0});
}

}  // namespace

PlacementPlan place(const PlacementWorld& world) { return Decision(world).plan(); }

std::map<std::string, std::int64_t> unreserved_seats(const PlacementWorld& world) {
  return Decision(world).unreserved();
}

std::string domain_of_proof(const Action& action) {
  if (const auto* gone = std::get_if<EnsureDomainGone>(&action)) return gone->uid;
  if (const auto* lives = std::get_if<EnsureDomainLives>(&action)) return lives->uid;
  const auto* released = std::get_if<EnsureClaimsReleased>(&action);
  return released == nullptr ? "" : released->domain_uid;
}

Offer offer_of(const api::ResourceSlice& slice, Seat::State state) {
  Offer offer{.pool = slice.pool,
              .pool_generation = slice.pool_generation,
              .node = slice.node,
              .cliques = {},
              .state = state};
  if (slice.driver != api::kDriver || slice.node.empty()) return offer;
  for (const api::Device& device : slice.devices) {
    if (!is_channel(device)) continue;
    const auto it = device.attributes.find(api::kAttributeClique);
    const auto* clique =
        it == device.attributes.end() ? nullptr : std::get_if<std::string>(&it->second);
    if (clique != nullptr && is_clique_name(*clique)) offer.cliques.push_back(*clique);
  }
  return offer;
}

std::vector<CliqueSeats> seats_in(const std::vector<Offer>& offers) {
  std::unordered_map<std::string_view, std::int64_t> newest;
  for (const Offer& offer : offers) {
    std::int64_t& generation = newest[offer.pool];
    generation = std::max(generation, offer.pool_generation);
  }
  std::map<std::string_view, std::vector<Seat>> seats;
  std::set<std::pair<std::string_view, std::string_view>> counted;
  for (const Offer& offer : offers) {
    if (offer.pool_generation != newest[offer.pool]) continue;
    for (const std::string& clique : offer.cliques) {
      // A node takes one member of a domain, however many seats it has for others.
      if (!counted.emplace(clique, offer.node).second) continue;
      seats[clique].push_back({offer.node, offer.state});
    }
  }
  std::vector<CliqueSeats> cliques;
  cliques.reserve(seats.size());
  for (auto& [clique, of_it] : seats) cliques.push_back({std::string(clique), std::move(of_it)});
  return cliques;
}

Seat::State seat_state_of(const api::Node* node, bool is_in_use) {
  if (is_in_use) return Seat::State::InUse;
  if (node == nullptr || node->ready != api::ConditionStatus::True) return Seat::State::NotReady;
  const bool is_closed =
      has_taint(*node, api::kUnschedulableTaint) || has_taint(*node, api::kOutOfServiceTaint);
  return is_closed || node->meta.is_deleting() ? Seat::State::Unschedulable : Seat::State::Free;
}

std::string closed_word(const api::Node* node) {
  switch (seat_state_of(node, false)) {
    case Seat::State::NotReady:
      return node == nullptr ? "gone" : "not Ready";
    case Seat::State::Unschedulable:
      if (node->meta.is_deleting()) return "being deleted";
      return has_taint(*node, api::kOutOfServiceTaint) ? "tainted out-of-service" : "cordoned";
    default:
      return "";
  }
}

}  // namespace cdom::core
