#include "core/placement_model/model.h"

#include <algorithm>

#include "core/builders.h"

namespace cdom::core::placement_model {

namespace {

using base::cat;
using testing::kNow;

std::string clique_name(int clique) { return cat("clique-", clique + 1); }
std::string node_name(int node) { return cat("n", node + 1); }
std::string domain_name(int domain) { return cat("d", domain + 1); }

Count clique_number(std::string_view name) {
  for (int c = 0; c < kCliques; ++c) {
    if (name == clique_name(c)) return static_cast<Count>(c + 1);
  }
  return 0;
}

std::string template_uid(const Template& made) { return cat("made-", int{made.made}); }

int seats_of(int clique) { return static_cast<int>(std::ranges::count(kCliqueOf, clique)); }

bool is_there(const Domain& domain) {
  return domain.phase == Domain::kLiving || domain.phase == Domain::kDeleting;
}

bool has_seat(const Objects& objects, int domain) {
  return std::ranges::find(objects.seats.taken, static_cast<Count>(domain + 1)) !=
         objects.seats.taken.end();
}

api::ComputeDomain domain_object(const Objects& objects, int d) {
  api::ComputeDomain object =
      testing::domain(domain_name(d)).wants(kWants[static_cast<std::size_t>(d)]).finalized();
  object.spec.placement = api::ComputeDomainPlacement{api::CliquePlacement::Single};
  if (objects.domains[static_cast<std::size_t>(d)].phase == Domain::kDeleting) {
    object.meta.deletion_time = kNow;
  }
  return object;
}

}  // namespace

core::Reservations Model::reservations_of(const Reservations& reservations) const {
  return reservations.exists == 0 ? core::Reservations{}
                                  : reservations_in(reservations_.at(reservations.content - 1));
}

PlacementWorld Model::placement_world(const Objects& cache) const {
  PlacementWorld world;
  world.now = kNow;
  for (int c = 0; c < kCliques; ++c) world.cliques.push_back({clique_name(c), {}});
  for (std::size_t n = 0; n < kNodes; ++n) {
    const bool is_down = (cache.seats.down & 1U << n) != 0;
    const auto state = cache.seats.taken[n] != 0 ? Seat::State::InUse
                       : is_down                 ? Seat::State::NotReady
                                                 : Seat::State::Free;
    world.cliques[static_cast<std::size_t>(kCliqueOf[n])].seats.push_back(
        {node_name(static_cast<int>(n)), state});
  }
  for (int d = 0; d < kDomains; ++d) {
    const auto i = static_cast<std::size_t>(d);
    if (!is_there(cache.domains[i])) continue;
    PlacementDomain domain;
    domain.uid = testing::uid_of(domain_name(d));
    domain.name = {"team-a", domain_name(d)};
    domain.created = kNow + std::chrono::seconds(d);
    domain.num_nodes = kWants[i];
    domain.is_deleting = cache.domains[i].phase == Domain::kDeleting;
    domain.has_waiting_claims = cache.seats.waits[i] != 0;
    // Whoever waits has done so for long.
    domain.unplaced_since = kNow - std::chrono::hours(1);
    for (std::size_t n = 0; n < kNodes; ++n) {
      if (cache.seats.taken[n] == d + 1) domain.nodes.insert(node_name(static_cast<int>(n)));
    }
    const Template& made = cache.templates[i];
    if (made.clique != 0)
      domain.made = TemplatePlacement{clique_name(made.clique - 1), made.generation};
    world.domains.push_back(std::move(domain));
  }
  if (cache.reservations.exists != 0) {
    world.reservations = reservations_.at(cache.reservations.content - 1);
    world.reservations->meta.uid = "uid-reservations";
    world.reservations->meta.resource_version = std::to_string(cache.reservations.version);
  }
  return world;
}

World Model::domain_world(const Objects& cache, int domain) const {
  const auto d = static_cast<std::size_t>(domain);
  World world;
  world.now = kNow;
  world.view.uid = testing::uid_of(domain_name(domain));
  if (is_there(cache.domains[d])) world.view.domain = domain_object(cache, domain);
  const Template& made = cache.templates[d];
  if (made.clique != 0) {
    const Reservation reservation{
        .clique = clique_name(made.clique - 1), .seats = 0, .generation = made.generation};
    api::ResourceClaimTemplate object = *wanted_template(domain_object(cache, domain), reservation);
    object.meta.uid = template_uid(made);
    world.templates.push_back(std::move(object));
  }
  const core::Reservations reservations = reservations_of(cache.reservations);
  const auto reservation = reservations.by_domain.find(world.view.uid);
  if (reservation != reservations.by_domain.end()) world.reservation = reservation->second;
  return world;
}

Id Model::keep(const Plan& plan) {
  if (plan.actions.empty()) return 0;
  std::string text;
  for (const Action& action : plan.actions) {
    text += cat(to_string(action), "\n");
    if (const auto* write = std::get_if<WriteReservations>(&action)) {
      text += cat(write->current.meta.resource_version, "\n");
      for (const auto& [uid, reservation] : write->desired.data)
        text += cat(uid, ":", reservation, "\n");
    } else if (const auto* replace = std::get_if<ReplaceTemplate>(&action)) {
      text += cat(replace->current.uid, placement_of(replace->object)->generation, "\n");
    } else if (const auto* create = std::get_if<CreateTemplate>(&action)) {
      text += cat(placement_of(create->object)->generation, "\n");
    }
  }
  const auto [it, is_new] = plan_ids_.try_emplace(text, static_cast<Id>(plans_.size() + 1));
  if (is_new) plans_.push_back(plan);
  return it->second;
}

Id Model::placement_plan(const Objects& cache) {
  const std::string key =
      cat("p", std::string_view(reinterpret_cast<const char*>(&cache), sizeof cache));
  const auto it = memo_.find(key);
  if (it != memo_.end()) return it->second;
  return memo_[key] = keep(place(placement_world(cache)).plan);
}

// Of all that a domain's key does what concerns its template, and its end.
Id Model::domain_plan(const Objects& cache, int domain) {
  const auto d = static_cast<std::size_t>(domain);
  // The end of a domain waits for its pods, and removes the template meanwhile.
  const bool waits = cache.domains[d].phase == Domain::kDeleting && has_seat(cache, domain);
  if (waits && cache.templates[d].clique == 0) return 0;
  Objects known = cache;
  known.seats = {};
  const std::string key = cat(
      "d", domain, waits, std::string_view(reinterpret_cast<const char*>(&known), sizeof known));
  const auto it = memo_.find(key);
  if (it != memo_.end()) return it->second;
  Plan plan = reconcile(domain_world(cache, domain));
  std::erase_if(plan.actions, [&](const Action& action) {
    if (waits) return !std::holds_alternative<EnsureTemplateAbsent>(action);
    return !std::holds_alternative<CreateTemplate>(action) &&
           !std::holds_alternative<ReplaceTemplate>(action) &&
           !std::holds_alternative<EnsureTemplateAbsent>(action) &&
           !std::holds_alternative<EnsureDomainGone>(action) &&
           !std::holds_alternative<EnsureClaimsReleased>(action) &&
           !std::holds_alternative<RemoveFinalizer>(action);
  });
  return memo_[key] = keep(plan);
}

bool Model::apply(State& state, int domain, const Action& action) {
  Objects& server = state.server;
  const auto number_of = [](const std::string& uid) {
    for (int d = 0; d < kDomains; ++d) {
      if (uid == testing::uid_of(domain_name(d))) return d;
    }
    return -1;
  };
  Template& made = server.templates[static_cast<std::size_t>(domain)];
  const auto create = [&](const api::ResourceClaimTemplate& object) {
    if (made.clique != 0) return false;
    const auto placement = placement_of(object);
    made = {.clique = clique_number(placement->clique),
            .generation = static_cast<Count>(placement->generation),
            .made = static_cast<Count>(made.made + 1)};
    return true;
  };
  if (const auto* write = std::get_if<WriteReservations>(&action)) {
    Reservations& reservations = server.reservations;
    const std::string version =
        reservations.exists == 0 ? "" : std::to_string(reservations.version);
    if (write->current.meta.resource_version != version) return false;
    reservations.exists = write->desired.data.empty() ? 0 : 1;
    reservations.version = static_cast<Count>(reservations.version + 1);
    std::string text;
    for (const auto& [uid, reservation] : write->desired.data) text += cat(uid, reservation, "\n");
    const auto [it, is_new] =
        reservations_ids_.try_emplace(text, static_cast<Id>(reservations_.size() + 1));
    if (is_new) reservations_.push_back(write->desired);
    reservations.content = it->second;
    return true;
  }
  if (const auto* gone = std::get_if<EnsureDomainGone>(&action)) {
    return !is_there(server.domains[static_cast<std::size_t>(number_of(gone->uid))]);
  }
  if (const auto* lives = std::get_if<EnsureDomainLives>(&action)) {
    return server.domains[static_cast<std::size_t>(number_of(lives->uid))].phase == Domain::kLiving;
  }
  if (const auto* released = std::get_if<EnsureClaimsReleased>(&action)) {
    return !has_seat(server, number_of(released->domain_uid));
  }
  if (const auto* make = std::get_if<CreateTemplate>(&action)) return create(make->object);
  if (const auto* replace = std::get_if<ReplaceTemplate>(&action)) {
    if (made.clique != 0 && replace->current.uid != template_uid(made)) return false;
    made.clique = 0;
    made.generation = 0;
    return create(replace->object);
  }
  if (std::holds_alternative<EnsureTemplateAbsent>(action)) {
    made.clique = 0;
    made.generation = 0;
    return true;
  }
  if (std::holds_alternative<RemoveFinalizer>(action)) {
    Domain& object = server.domains[static_cast<std::size_t>(domain)];
    if (object.phase == Domain::kDeleting) object.phase = Domain::kGone;
    return true;
  }
  return false;
}

void Model::apply_next(State& state, Flight& flight) {
  // A copy: a ConfigMap that is new moves none, but plans may.
  const Plan plan = plans_.at(flight.plan - 1);
  const bool is_done = apply(state, flight.domain, plan.actions.at(flight.next));
  if (is_done && ++flight.next < plan.actions.size()) return;
  flight = {};
}

std::vector<Transition> Model::transitions(const State& state) {
  std::vector<Transition> out = fair_transitions(state);
  user_steps(state, out);
  pod_steps(state, out);
  return out;
}

std::vector<Transition> Model::fair_transitions(const State& state) {
  std::vector<Transition> out;
  watch_steps(state, out);
  controller_steps(state, out);
  return out;
}

void Model::user_steps(const State& state, std::vector<Transition>& out) const {
  for (int d = 0; d < bounds_.domains; ++d) {
    const auto i = static_cast<std::size_t>(d);
    const Count phase = state.server.domains[i].phase;
    if (phase == Domain::kNever) {
      Transition step{cat("user creates ", domain_name(d)), state};
      step.after.server.domains[i].phase = Domain::kLiving;
      out.push_back(std::move(step));
    } else if (phase == Domain::kLiving && bounds_.deletes) {
      Transition step{cat("user deletes ", domain_name(d)), state, true};
      step.after.server.domains[i].phase = Domain::kDeleting;
      out.push_back(std::move(step));
    }
  }
  for (std::size_t n = 0; n < kNodes; ++n) {
    const Count bit = static_cast<Count>(1U << n);
    const bool is_down = (state.server.seats.down & bit) != 0;
    if (!is_down && state.faults >= bounds_.faults) continue;
    Transition step{cat(node_name(static_cast<int>(n)), is_down ? " is back" : " is NotReady"),
                    state, !is_down};
    step.after.server.seats.down ^= bit;
    if (!is_down) ++step.after.faults;
    out.push_back(std::move(step));
  }
  if (state.crashes >= bounds_.crashes) return;
  for (std::size_t k = 0; k < kControllers; ++k) {
    Transition step{cat("controller ", k, " starts anew"), state, true};
    step.after.controllers[k] = {.cache = state.server, .placement = {}, .domain = {}};
    ++step.after.crashes;
    out.push_back(std::move(step));
  }
}

void Model::pod_steps(const State& state, std::vector<Transition>& out) const {
  for (int d = 0; d < bounds_.domains; ++d) {
    const auto i = static_cast<std::size_t>(d);
    const Count clique = state.server.templates[i].clique;
    const auto in_use = std::ranges::count(state.server.seats.taken, static_cast<Count>(d + 1));
    if (clique != 0 && in_use < kWants[i] && state.server.seats.waits[i] == 0) {
      Transition step{cat("a pod of ", domain_name(d), " gets a claim"), state};
      step.after.server.seats.waits[i] |= static_cast<Count>(1U << (clique - 1));
      out.push_back(std::move(step));
    }
    for (std::size_t n = 0; n < kNodes; ++n) {
      const bool is_down = (state.server.seats.down & 1U << n) != 0;
      const Count bit = static_cast<Count>(1U << kCliqueOf[n]);
      if (state.server.seats.taken[n] == 0 && !is_down &&
          (state.server.seats.waits[i] & bit) != 0) {
        Transition step{
            cat("its claim takes ", node_name(static_cast<int>(n)), " for ", domain_name(d)),
            state};
        step.after.server.seats.taken[n] = static_cast<Count>(d + 1);
        step.after.server.seats.waits[i] &= static_cast<Count>(~bit);
        out.push_back(std::move(step));
      } else if (state.server.seats.taken[n] == d + 1) {
        Transition step{
            cat("the pod of ", domain_name(d), " on ", node_name(static_cast<int>(n)), " ends"),
            state, true};
        step.after.server.seats.taken[n] = 0;
        out.push_back(std::move(step));
      }
    }
  }
}

void Model::watch_steps(const State& state, std::vector<Transition>& out) const {
  for (std::size_t k = 0; k < kControllers; ++k) {
    const auto see = [&](const char* kind, auto member) {
      Transition step{cat("controller ", k, " sees ", kind), state};
      step.after.controllers[k].cache.*member = state.server.*member;
      if (bytes_of(step.after) != bytes_of(state)) out.push_back(std::move(step));
    };
    see("the reservations", &Objects::reservations);
    see("templates", &Objects::templates);
    see("domains", &Objects::domains);
    see("seats", &Objects::seats);
  }
}

void Model::controller_steps(const State& state, std::vector<Transition>& out) {
  for (std::size_t k = 0; k < kControllers; ++k) {
    const Controller& controller = state.controllers[k];
    if (controller.placement.plan != 0) {
      Transition step{
          cat("controller ", k, ": ",
              to_string(
                  plans_.at(controller.placement.plan - 1).actions.at(controller.placement.next))),
          state};
      apply_next(step.after, step.after.controllers[k].placement);
      out.push_back(std::move(step));
    } else if (const Id plan = placement_plan(controller.cache); plan != 0) {
      Transition step{cat("controller ", k, " decides on the placement"), state};
      step.after.controllers[k].placement.plan = plan;
      out.push_back(std::move(step));
    }
    if (controller.domain.plan != 0) {
      Transition step{
          cat("controller ", k, ": ",
              to_string(plans_.at(controller.domain.plan - 1).actions.at(controller.domain.next))),
          state};
      apply_next(step.after, step.after.controllers[k].domain);
      out.push_back(std::move(step));
      continue;
    }
    for (int d = 0; d < bounds_.domains; ++d) {
      const Id plan = domain_plan(controller.cache, d);
      if (plan == 0) continue;
      Transition step{cat("controller ", k, " decides on ", domain_name(d)), state};
      step.after.controllers[k].domain = {.plan = plan, .next = 0, .domain = static_cast<Count>(d)};
      out.push_back(std::move(step));
    }
  }
}

std::string Model::violation(const State& state) const {
  std::array<std::int64_t, kCliques> reserved{}, templates{};
  const core::Reservations reservations = reservations_of(state.server.reservations);
  for (const auto& [uid, reservation] : reservations.by_domain) {
    reserved[clique_number(reservation.clique) - 1U] += reservation.seats;
    if (reservation.leaving.empty()) continue;
    reserved[clique_number(reservation.leaving) - 1U] += reservation.leaving_seats;
  }
  for (std::size_t d = 0; d < kDomains; ++d) {
    const Template& made = state.server.templates[d];
    if (made.clique == 0 || state.server.domains[d].phase != Domain::kLiving) continue;
    templates[made.clique - 1U] += kWants[d];
    const auto it = reservations.by_domain.find(testing::uid_of(domain_name(static_cast<int>(d))));
    if (it == reservations.by_domain.end()) {
      return cat(domain_name(static_cast<int>(d)), " has a template and no reservation");
    }
  }
  for (int c = 0; c < kCliques; ++c) {
    const auto i = static_cast<std::size_t>(c);
    if (reserved[i] > seats_of(c)) return cat(clique_name(c), " is reserved more than it has");
    if (templates[i] > seats_of(c))
      return cat("templates ask for more than ", clique_name(c), " has");
  }
  return {};
}

std::string Model::unsettled(const State& state) const {
  const core::Reservations reservations = reservations_of(state.server.reservations);
  const PlacementPlan left = place(placement_world(state.server));
  if (!left.plan.actions.empty()) return "there is something left to place";
  for (std::size_t d = 0; d < kDomains; ++d) {
    const std::string name = domain_name(static_cast<int>(d));
    const auto it = reservations.by_domain.find(testing::uid_of(name));
    const bool is_reserved = it != reservations.by_domain.end();
    const Count phase = state.server.domains[d].phase;
    if (is_reserved && (phase == Domain::kGone || phase == Domain::kNever)) {
      return cat(name, " is gone and has a reservation");
    }
    if (phase == Domain::kDeleting && !has_seat(state.server, static_cast<int>(d))) {
      return cat(name, " is never gone");
    }
    if (phase != Domain::kLiving || !is_reserved) continue;
    const Template& made = state.server.templates[d];
    if (!it->second.leaving.empty()) return cat(name, " is moved for ever");
    if (made.clique != clique_number(it->second.clique) ||
        made.generation != it->second.generation) {
      return cat(name, " has not the template that it was reserved");
    }
  }
  return {};
}

std::string Model::describe(const State& state) const {
  std::string text;
  const auto tell = [&](const char* whose, const Objects& objects) {
    text += cat(whose, ": reservations");
    for (const auto& [uid, reservation] : reservations_of(objects.reservations).by_domain) {
      text += cat(" [", uid, " ", reservation.seats, " of ", reservation.clique, " generation ",
                  reservation.generation, " leaving ", reservation.leaving, "]");
    }
    for (std::size_t d = 0; d < kDomains; ++d) {
      text += cat("; ", domain_name(static_cast<int>(d)), " phase ", int{objects.domains[d].phase},
                  " template ", int{objects.templates[d].clique}, " generation ",
                  int{objects.templates[d].generation});
    }
    text += "\n";
  };
  tell("server", state.server);
  tell("controller 0", state.controllers[0].cache);
  tell("controller 1", state.controllers[1].cache);
  return text;
}

}  // namespace cdom::core::placement_model
