// State: a small world in which two controllers place domains, each with caches of its own.
//
// Two cliques, and more domains than they have seats for. Plain bytes: a state is compared and
// hashed as memory; plans and reservations are interned.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <type_traits>

namespace cdom::core::placement_model {

using Count = std::uint8_t;
using Id = std::uint32_t;  // of something interned; 0 is "none"

inline constexpr int kDomains = 3;
inline constexpr int kCliques = 2;
inline constexpr int kNodes = 5;
inline constexpr int kControllers = 2;
inline constexpr std::array<int, kDomains> kWants{2, 2, 1};
inline constexpr std::array<int, kNodes> kCliqueOf{0, 0, 1, 1, 1};

struct Template {
  Count clique = 0;  // its number + 1; 0: there is none
  Count generation = 0;
  Count made = 0;  // how often one of this name was made: its UID
};

struct Domain {
  enum Phase : Count { kNever, kLiving, kDeleting, kGone };
  Count phase = kNever;
};

struct Reservations {
  Id content = 0;
  Count version = 0;
  Count exists = 0;
  Count padding[2] = {};
};

struct Seats {
  std::array<Count, kNodes> taken{};    // number of the domain + 1
  std::array<Count, kDomains> waits{};  // for a seat of clique c: bit c
  Count down = 0;                       // nodes that are NotReady: bit n
};

// What a watch may show late, one member per kind.
struct Objects {
  Reservations reservations;
  std::array<Template, kDomains> templates{};
  std::array<Domain, kDomains> domains{};
  Seats seats;
  Count padding[3] = {};
};

struct Flight {
  Id plan = 0;
  Count next = 0;
  Count domain = 0;
  Count padding[2] = {};
};

struct Controller {
  Objects cache;
  Flight placement;  // of the placement key
  Flight domain;     // of a domain's key
};

struct State {
  Objects server;
  std::array<Controller, kControllers> controllers{};
  Count faults = 0;
  Count crashes = 0;
  Count padding[2] = {};
};
static_assert(std::has_unique_object_representations_v<State>, "hashed as memory");

inline std::string_view bytes_of(const State& state) {
  return {reinterpret_cast<const char*>(&state), sizeof state};
}

}  // namespace cdom::core::placement_model
