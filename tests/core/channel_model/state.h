// State: a small world in which two controllers give channels of one clique to domains.
//
// Fewer channels than domains. Plain bytes: a state is compared and hashed as memory; lists and
// plans are interned.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <type_traits>

namespace cdom::core::channel_model {

using Count = std::uint8_t;
using Id = std::uint32_t;  // of something interned; 0 is "none"

inline constexpr int kDomains = 3;
inline constexpr int kNodes = 2;
inline constexpr int kControllers = 2;

template <class T>
using PerDomain = std::array<T, kDomains>;
template <class T>
using PerNode = std::array<T, kNodes>;

struct List {
  Id content = 0;
  Count version = 0;
  Count exists = 0;
  Count padding[2] = {};
};

enum Phase : Count { kNever, kLiving, kDeleting, kGone };

// What containers on a node have: by domain the number of its claim, and the channel.
struct Held {
  PerDomain<Count> claim{};
  PerDomain<Count> channel{};
};

struct Report {
  Held held;
  Count releases = 0;
  Count exists = 0;
};

// What a domain's status says: of each node the channel, and whether it is Ready.
struct Told {
  PerNode<Count> channel{};
  Count ready = 0;
};

// What a watch may show late, one member per kind.
struct Objects {
  List list;
  PerDomain<Count> domains{};  // a Phase
  PerDomain<Told> statuses{};
  PerDomain<PerNode<Count>> claims{};  // number of the one that is there; 0: none
  PerNode<Report> reports{};
  Count padding[2] = {};
};

struct Flight {
  Id plan = 0;
  Count next = 0;
  Count domain = 0;
  Count padding[2] = {};
};

struct Controller {
  Objects cache;
  Flight clique, domain;
};

struct Agent {
  Id list = 0;  // content that it has seen
  PerDomain<Count>
      read{};  // number of the claim that kubelet wants and that was read anew; 0: none
  Held held;
  Count padding[3] = {};
};

struct State {
  Objects server;
  PerDomain<PerNode<Count>> made{};  // claims so far
  Count crashes = 0;
  Count forced = 0;  // pods deleted by force
  Count lost = 0;    // lists deleted by hand
  Count padding[3] = {};
  std::array<Controller, kControllers> controllers{};
  PerNode<Agent> agents{};
};
static_assert(std::has_unique_object_representations_v<State>, "hashed as memory");

inline std::string_view bytes_of(const State& state) {
  return {reinterpret_cast<const char*>(&state), sizeof state};
}

}  // namespace cdom::core::channel_model
