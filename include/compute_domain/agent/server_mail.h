// ServerMail: the messages between the two sides of an agent: NodeAgent, which decides and does
// what the node itself can do, and ServerAgent, which reads and writes on the API server. Values.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "compute_domain/agent/queue.h"
#include "compute_domain/core/node_plan.h"
#include "compute_domain/core/node_world.h"

namespace cdom::agent {

// ---- Out

// What a plan asks of the API server, in order: the first that fails is the last.
struct CarryOut {
  std::vector<core::ServerIntent> intents;
};
// The node lists of this clique are to be watched, and no other ones.
struct FollowLists {
  std::string clique;
};
using ServerOrder = std::variant<CarryOut, FollowLists>;

// ---- Back

struct ClaimRead {
  core::ClaimRef claim;
  core::ClaimReading reading;
};
struct PeerRead {
  std::string node;
  core::PeerReading reading;
};
struct ListRead {
  std::string group;
  core::ListReading reading;
};
struct DomainsRead {
  std::string ns;
  core::DomainsReading reading;
};
struct ReportWritten {
  core::PublishReport write;
  api::ComputeDomainNode stored;  // as the API server answered
};
struct ReportNotWritten {
  core::PublishReport write;  // `current`: what its last request was made for
  base::Error error;
};
struct SliceWritten {
  std::string resource_version;
};
struct SliceRemoved {
  std::uint64_t seen_version = 0;  // of the watch, then
};
struct SliceNotWritten {
  base::Error error;
};
// Nothing of the last CarryOut is left to do.
struct CarriedOut {};

// What a watch of our own objects shows now.
template <class T>
struct Watched {
  std::vector<T> objects;
  bool has_synced = false;
  std::uint64_t seen_version = 0;
};
// From here on the lists are this clique's.
struct ListsFollowed {
  std::string clique;
};
struct ListSeen {
  api::ObjectName name;
  std::optional<api::ConfigMap> list;  // nullopt: it is gone
};
// All that are there have been seen.
struct ListsSynced {};

using ServerResult =
    std::variant<ClaimRead, PeerRead, ListRead, DomainsRead, ReportWritten, ReportNotWritten,
                 SliceWritten, SliceRemoved, SliceNotWritten, CarriedOut,
                 Watched<api::ComputeDomainNode>, Watched<api::ResourceSlice>, ListsFollowed,
                 ListSeen, ListsSynced>;

struct ServerMail {
  Queue<ServerOrder> orders;
  Queue<ServerResult> results;
};

}  // namespace cdom::agent
