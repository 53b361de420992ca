// ComputeDomain and ComputeDomainClique, resource.nvidia.com/v1beta1.
//
// The shapes of NVIDIA's DRA driver, with conditions and counts of our own added to the status.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "compute_domain/api/meta.h"

namespace cdom::api {

enum class AllocationMode { Single, All };
std::string_view to_string(AllocationMode mode);

struct ComputeDomainChannel {
  std::string template_name;  // spec.channel.resourceClaimTemplate.name
  AllocationMode allocation_mode = AllocationMode::Single;

  friend bool operator==(const ComputeDomainChannel&, const ComputeDomainChannel&) = default;
};

// What an automatic domain is for: pods that are one workload, as the controller has found.
struct Workload {
  std::string kind;  // "Job", "JobSet", …; "Label" for pods that name their domain by a label
  std::string name;
  std::string uid;  // "" where a name is all there is

  friend auto operator<=>(const Workload&, const Workload&) = default;
};
// "Job train", or "label train".
std::string to_string(const Workload& workload);

enum class CliquePlacement { Any, Single };
enum class PlacementPolicy { BestFit };

// Whether its pods may come into any clique, or into one only, which the controller chooses.
struct ComputeDomainPlacement {
  CliquePlacement clique = CliquePlacement::Any;
  PlacementPolicy policy = PlacementPolicy::BestFit;

  friend bool operator==(const ComputeDomainPlacement&, const ComputeDomainPlacement&) = default;
};

struct ComputeDomainSpec {
  std::int64_t num_nodes = 0;                       // 0: as many as come
  std::optional<ComputeDomainChannel> channel;      // absent: the domain needs no template from us
  std::optional<Workload> workload;                 // of an automatic domain
  std::optional<ComputeDomainPlacement> placement;  // absent: Any

  friend bool operator==(const ComputeDomainSpec&, const ComputeDomainSpec&) = default;
};

// How an IMEX daemon has failed: it has ended, hangs, or could not be started.
struct DaemonFailure {
  base::Time time{};
  std::string message;  // for people

  friend bool operator==(const DaemonFailure&, const DaemonFailure&) = default;
};

struct ComputeDomainNodeStatus {
  std::string name;
  std::string ip_address;
  std::string clique;        // "" without a fabric
  std::int64_t index = -1;   // the slot; -1 without a fabric
  std::int64_t channel = 0;  // of the domain in its clique, with isolation by channel
  bool ready = false;        // status: Ready | NotReady
  std::string reason;        // why it is not ready: a word for programs; "" when it is
  std::string message;       // the same for people, with the next step
  // Restarts of the node's IMEX daemon since the node became a member. They count even when the
  // daemon is READY again: what ran over the daemon before has lost its memory.
  std::int64_t restarts = 0;
  std::optional<DaemonFailure> last_failure;
  std::optional<DaemonFailure> last_loss;  // the last one with which pods lost imported memory

  friend bool operator==(const ComputeDomainNodeStatus&, const ComputeDomainNodeStatus&) = default;
};

struct ComputeDomainStatus {
  bool ready = false;  // status: Ready | NotReady
  std::int64_t observed_generation = 0;
  std::string ready_nodes;                     // "16/18": ready members of those expected
  std::int64_t cliques = 0;                    // how many cliques the members are in
  std::string placed_clique;                   // that was chosen for it; "" when none was
  std::vector<ComputeDomainNodeStatus> nodes;  // by name
  std::vector<Condition> conditions;           // by type

  friend bool operator==(const ComputeDomainStatus&, const ComputeDomainStatus&) = default;
};

struct ComputeDomain {
  ObjectMeta meta;
  ComputeDomainSpec spec;
  std::optional<ComputeDomainStatus> status;  // absent until somebody wrote it

  friend bool operator==(const ComputeDomain&, const ComputeDomain&) = default;
};

// Whether it wants one clique for all of its pods.
bool wants_one_clique(const ComputeDomain& domain);

struct ComputeDomainCliqueDaemon {
  std::string node_name, ip_address, clique;
  std::int64_t index = -1;
  bool ready = false;

  friend bool operator==(const ComputeDomainCliqueDaemon&,
                         const ComputeDomainCliqueDaemon&) = default;
};

// The reference driver's record, which existing tools look for: <domain UID>.<clique>, in the
// namespace of the driver.
struct ComputeDomainClique {
  ObjectMeta meta;
  std::vector<ComputeDomainCliqueDaemon> daemons;

  friend bool operator==(const ComputeDomainClique&, const ComputeDomainClique&) = default;
};

}  // namespace cdom::api
