// NodePlan: what a reconcile of a node wants done, in order.
//
// The agent applies the intents one by one, first those that concern the node alone, then those for
// the API server, and stops at the first one that fails. The process may end after any of them, and
// every intent may be repeated. What failed for one claim, or for the daemon, is a setback in the
// next NodeWorld, whose plan leaves it out.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "compute_domain/api/compute_domain_node.h"
#include "compute_domain/api/resource.h"
#include "compute_domain/base/clock.h"
#include "compute_domain/core/checkpoint.h"

namespace cdom::core {

struct WriteCheckpoint {
  Checkpoint checkpoint;
  friend bool operator==(const WriteCheckpoint&, const WriteCheckpoint&) = default;
};
// In place: the file may be a bind mount.
struct WriteHosts {
  std::string text, revision;
  friend bool operator==(const WriteHosts&, const WriteHosts&) = default;
};
// Writes the node table and starts the daemon with it.
struct StartDaemon {
  std::string group;
  std::int64_t slot = -1;
  std::string table_text, table_hash;
  std::string address;  // that it binds
  friend bool operator==(const StartDaemon&, const StartDaemon&) = default;
};
// Removes the daemon's record of those who imported from an earlier run; it does not run.
struct ForgetImporters {
  std::string group;
  friend bool operator==(const ForgetImporters&, const ForgetImporters&) = default;
};
// SIGUSR1: connect to all peers again.
struct SignalDaemon {
  friend bool operator==(const SignalDaemon&, const SignalDaemon&) = default;
};
// SIGTERM. Done when the daemon's status says that it has ended.
struct StopDaemon {
  // It has, with its supervisor: a successor must not start it again. Fails where one has.
  bool has_ended = false;
  friend bool operator==(const StopDaemon&, const StopDaemon&) = default;
};
// Has NVML asked no more, and what asks it ended; or asked again.
struct PauseDriver {
  bool is_paused = false;
  friend bool operator==(const PauseDriver&, const PauseDriver&) = default;
};
struct WriteCdi {
  ClaimRef claim;
  ChannelRange channels;
  friend bool operator==(const WriteCdi&, const WriteCdi&) = default;
};
struct RemoveCdi {
  std::string claim_uid;
  friend bool operator==(const RemoveCdi&, const RemoveCdi&) = default;
};

struct PreparedDevice {
  DeviceRef ref;
  std::vector<std::string> cdi_ids;  // none without a fabric
  friend bool operator==(const PreparedDevice&, const PreparedDevice&) = default;
};
struct AnswerPrepared {
  std::string claim_uid;
  std::vector<PreparedDevice> devices;
  friend bool operator==(const AnswerPrepared&, const AnswerPrepared&) = default;
};
struct AnswerFailed {
  std::string claim_uid;
  std::string error;
  bool permanent = false;  // no repetition can help
  std::string reason;      // the error without what the claim is called and how long it took
  friend bool operator==(const AnswerFailed&, const AnswerFailed&) = default;
};
struct AnswerUnprepared {
  std::string claim_uid;
  friend bool operator==(const AnswerUnprepared&, const AnswerUnprepared&) = default;
};

// Creates the ComputeDomainNode when `current` has no UID; then writes its status, with the UID and
// resource version as precondition.
struct PublishReport {
  api::ObjectMeta current;
  api::ComputeDomainNodeReport report;
  friend bool operator==(const PublishReport&, const PublishReport&) = default;
};
// Creates the slice, owned by the Node, when it has no UID; else writes its spec under the
// precondition of its metadata.
struct PublishSlice {
  api::ResourceSlice slice;
  friend bool operator==(const PublishSlice&, const PublishSlice&) = default;
};
// A slice of this driver and node that is not the one we publish.
struct RemoveSlice {
  api::ObjectMeta slice;
  friend bool operator==(const RemoveSlice&, const RemoveSlice&) = default;
};

// Questions to the API server; the answers are in the next NodeWorld. An error is an answer.
struct LookUpClaim {
  ClaimRef claim;
  friend bool operator==(const LookUpClaim&, const LookUpClaim&) = default;
};
struct LookUpPeer {
  std::string node;
  friend bool operator==(const LookUpPeer&, const LookUpPeer&) = default;
};
struct LookUpList {
  std::string group;
  friend bool operator==(const LookUpList&, const LookUpList&) = default;
};
struct LookUpDomains {
  std::string ns;
  friend bool operator==(const LookUpDomains&, const LookUpDomains&) = default;
};

// What the node itself can do.
using NodeIntent = std::variant<WriteCheckpoint, WriteHosts, ForgetImporters, StartDaemon,
                                SignalDaemon, StopDaemon, PauseDriver, WriteCdi, RemoveCdi,
                                AnswerPrepared, AnswerFailed, AnswerUnprepared>;
// What is asked of the API server, and may take as long as that takes.
using ServerIntent = std::variant<PublishReport, PublishSlice, RemoveSlice, LookUpClaim, LookUpPeer,
                                  LookUpList, LookUpDomains>;

struct NodePlan {
  std::vector<NodeIntent> on_node;
  std::vector<ServerIntent> on_server;
  // What kubelet's open questions wait for, by claim UID, for people.
  std::map<std::string, std::string> waits;
  // Look again after this time even if nothing changes.
  std::optional<base::Duration> look_again;

  friend bool operator==(const NodePlan&, const NodePlan&) = default;
};

// One line for people: "start the daemon of IMEX group 3f0e… in slot 3".
std::string to_string(const NodeIntent& intent);
std::string to_string(const ServerIntent& intent);

// The qualified CDI name of the device that injects a claim's channels.
std::string cdi_device_id(const std::string& claim_uid);

}  // namespace cdom::core
