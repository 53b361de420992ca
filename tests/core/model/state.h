// State: a small world, for checking every interleaving of it.
//
// Two domains, three nodes of one clique, and groups with two slots only, so that slots have to be
// used again. Plain bytes throughout: a state is compared and hashed as memory. What does not fit
// into a byte (node lists, statuses, plans) is interned, see intern.h.
#pragma once

#include <array>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace cdom::core::model {

inline constexpr int kDomains = 2;
inline constexpr int kNodes = 3;
inline constexpr int kSlots = 2;
inline constexpr int kPlansInFlight = 2;

using Id = std::uint32_t;  // of something interned; 0 is "none"
using Count = std::uint8_t;

// As the API server stores them.
struct DomainObject {
  enum Phase : Count { kNever, kLiving, kDeleting, kGone };
  Count phase = kNever;
  Count has_finalizer = 0;
  Count version = 0;
  Count padding = 0;
  Id status = 0;
};

struct ClaimObject {
  enum Phase : Count {
    kAbsent,
    kReserved,  // allocated and reserved: its pod runs or wants to
    kEnding,    // as reserved; kubelet has unprepared it
    kReleased,  // allocated, no longer reserved
  };
  Count phase = kAbsent;
  Count generation = 0;  // which claim of this name: makes the UID
};

struct ListObject {
  Id content = 0;
  Count version = 0;  // 0: never written
  Count exists = 0;
  Count padding[2] = {};
};

struct GroupWord {
  enum State : Count { kNothing, kReady, kStopped, kStarting };
  Count state = kNothing;
  Count slot = 0;
  Count term = 0;
  Count claim = 0;  // the prepared claims: bit g - 1 for the one of generation g
};

struct ReportObject {
  Count boot = 0;  // 0: created, and its status not written yet
  Count padding[3] = {};
  std::array<GroupWord, kDomains> groups{};
};

// Everything that a watch may show late, one member per kind.
struct Objects {
  std::array<DomainObject, kDomains> domains{};
  std::array<std::array<ClaimObject, kNodes>, kDomains> claims{};
  std::array<Count, kDomains> templates{};  // 0: absent, 1: the domain's, 2: somebody else's
  Count padding[2] = {};
  std::array<ListObject, kDomains> lists{};
  std::array<ReportObject, kNodes> reports{};
  // Node.status.nodeInfo.bootID; 0: an administrator has deleted the Node.
  std::array<Count, kNodes> boots{1, 1, 1};
  Count padding2 = 0;
  // In the controller's cache only, and lost with it: generations of claims that got their Event.
  std::array<std::array<Count, kNodes>, kDomains> told{};
  Count padding3[2] = {};
};

// What is true on a node, whatever the API server knows of it.
struct NodeTruth {
  Count boot = 1;
  Count daemon_of = 0;  // domain number + 1; 0: no daemon runs
  Count slot = 0;
  Count term = 0;
  std::array<Count, kDomains> prepared{};  // generation of the prepared claim; 0: none
  std::array<Count, kDomains> ran_slot{};  // of the last daemon of that group, for the word stopped
  std::array<Count, kDomains> ran_term{};
  std::array<Count, kDomains> has_run{};
  std::array<Id, kDomains> seen_list{};  // as the agent's watch has shown it
  // With the shipping agent: its checkpoint, and what kubelet wants of each generation of a claim.
  enum Kubelet : Count { kIdle, kWantsPrepare, kPrepared, kWantsUnprepare, kDone };
  Id checkpoint = 0;
  std::array<std::array<Count, 2>, kDomains> kubelet{};
};

struct PlanInFlight {
  Id plan = 0;
  Count next = 0;     // the action to apply
  Count domain = 0;   // that it is about
  Count version = 0;  // of the domain after the plan's own writes; 0: none yet
  Count padding = 0;
};

struct State {
  Objects server;
  Objects cache;  // of the controller
  std::array<NodeTruth, kNodes> nodes{};
  std::array<PlanInFlight, kPlansInFlight> plans{};
  Count reboots = 0;
  Count crashes = 0;
  Count removals = 0;
  Count padding = 0;
};
static_assert(std::has_unique_object_representations_v<State>, "hashed as memory");

inline std::string_view bytes_of(const State& state) {
  return {reinterpret_cast<const char*>(&state), sizeof state};
}

}  // namespace cdom::core::model
