// Plan: what a reconcile wants done, in order.
//
// The shell applies the actions one by one and stops at the first one that fails. The process may
// end after any of them. Every write except Events has a precondition.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <variant>
#include <vector>

#include "compute_domain/api/compute_domain.h"
#include "compute_domain/api/compute_domain_node.h"
#include "compute_domain/api/core.h"
#include "compute_domain/api/node_list.h"
#include "compute_domain/api/resource.h"
#include "compute_domain/core/reasons.h"

namespace cdom::core {

// What is the same for several kinds.

// Must not exist yet.
template <class T>
struct Create {
  T object;
  friend bool operator==(const Create&, const Create&) = default;
};
// Creates the object when `current` has no UID (it must not exist yet), else replaces what is ours
// in it under the precondition of that version.
template <class T>
struct Write {
  api::ObjectMeta current;
  T desired;
  friend bool operator==(const Write&, const Write&) = default;
};
// Deletes the object under the precondition of this version.
template <class T>
struct Remove {
  api::ObjectMeta object;
  friend bool operator==(const Remove&, const Remove&) = default;
};

using CreateDomain = Create<api::ComputeDomain>;
using CreateTemplate = Create<api::ResourceClaimTemplate>;
using WriteNodeList = Write<api::ConfigMap>;  // labels and data
// The spec of the slice of a clique, owned by the class kSharedClass, which must exist.
using WriteSharedSlice = Write<api::ResourceSlice>;
// Labels and daemons, owned by the ConfigMap kCliquesOwner, which must exist.
using WriteCliqueObject = Write<api::ComputeDomainClique>;
using DeleteDomain = Remove<api::ComputeDomain>;  // automatic, and nobody owns or uses it
using RemoveNodeList = Remove<api::ConfigMap>;    // of a clique that no daemon serves any more
using DeleteReport = Remove<api::ComputeDomainNode>;
using RemoveSharedSlice = Remove<api::ResourceSlice>;
using RemoveCliqueObject = Remove<api::ComputeDomainClique>;

// Writes to the ComputeDomain have its UID and resource version as their precondition.
struct AddFinalizer {
  api::ObjectMeta domain;
  friend bool operator==(const AddFinalizer&, const AddFinalizer&) = default;
};
struct RemoveFinalizer {
  api::ObjectMeta domain;
  friend bool operator==(const RemoveFinalizer&, const RemoveFinalizer&) = default;
};
struct SetStatus {
  api::ObjectMeta domain;
  api::ComputeDomainStatus status;
  friend bool operator==(const SetStatus&, const SetStatus&) = default;
};
// Writes the owners as a whole. UID and resource version are the precondition.
struct SetOwners {
  api::ObjectMeta domain;
  std::vector<api::OwnerReference> owners;
  friend bool operator==(const SetOwners&, const SetOwners&) = default;
};
// Reads the pods of a namespace, one LIST; their metadata alone unless their templates or nodes are
// needed.
struct ReadPods {
  std::string ns;
  bool with_specs = false;
  friend bool operator==(const ReadPods&, const ReadPods&) = default;
};
// Reads a Job, or learns that it is gone.
struct ReadJob {
  api::ObjectName name;
  std::string uid;
  friend bool operator==(const ReadJob&, const ReadJob&) = default;
};
// Deletes the template under the precondition of `current`, then creates it anew: its spec is
// immutable.
struct ReplaceTemplate {
  api::ObjectMeta current;
  api::ResourceClaimTemplate object;
  friend bool operator==(const ReplaceTemplate&, const ReplaceTemplate&) = default;
};
// Makes the users' template of the reference driver the domain's own: these owners, and without
// that driver's finalizer. UID and resource version are the precondition.
struct AdoptTemplate {
  api::ObjectMeta current;
  std::vector<api::OwnerReference> owners;
  friend bool operator==(const AdoptTemplate&, const AdoptTemplate&) = default;
};
// Creates the reservations ConfigMap when `current` has no UID (it must not exist yet), else
// replaces its data under the precondition of that version; deletes it when there is no data any
// more.
struct WriteReservations {
  api::ConfigMap current;
  api::ConfigMap desired;
  friend bool operator==(const WriteReservations&, const WriteReservations&) = default;
};
struct RecordEvent {
  api::ObjectReference involved;
  std::string type;  // Normal or Warning
  std::string reason, message;
  friend bool operator==(const RecordEvent&, const RecordEvent&) = default;
};
// The Event's type is that of the reason.
RecordEvent event_on(api::ObjectReference involved, Reason reason, std::string message);
// Deletes the template and succeeds only when the API server itself answers that it is not there,
// or shows one that the domain of this UID does not own. With `predecessors` also the one that the
// reference driver has made for it.
struct EnsureTemplateAbsent {
  api::ObjectName name;
  std::string domain_uid;
  bool predecessors = false;
  friend bool operator==(const EnsureTemplateAbsent&, const EnsureTemplateAbsent&) = default;
};
// Deletes every node list with that label and succeeds only when a live LIST shows none: a cache
// may not know of one that was just written.
struct EnsureNodeListsAbsent {
  std::string ns;
  std::string domain_uid;
  friend bool operator==(const EnsureNodeListsAbsent&, const EnsureNodeListsAbsent&) = default;
};
// Succeeds only when a live LIST of all ComputeDomains has none with this UID. One that may wait
// shares it with those of other plans: tenants may bring thousands, and nobody waits for them.
struct EnsureDomainGone {
  std::string uid;
  bool may_wait = false;
  friend bool operator==(const EnsureDomainGone&, const EnsureDomainGone&) = default;
};
// Succeeds only when a live LIST shows the domain of this name with this UID, and not on its way
// out.
struct EnsureDomainLives {
  api::ObjectName name;
  std::string uid;
  friend bool operator==(const EnsureDomainLives&, const EnsureDomainLives&) = default;
};
// Succeeds only when held_claims() of live LISTs, of the domain's node lists in `lists_ns` and of
// the claims in `claims_ns`, is empty; where the lists can hold no claim whatever, claims are not
// read. With a predecessor every allocated claim is held but `late` ones, which came when it could
// not serve them any more.
struct EnsureClaimsReleased {
  std::string claims_ns, lists_ns;
  std::string domain_uid;
  bool has_predecessor = false;
  std::set<std::string> late;  // UIDs
  friend bool operator==(const EnsureClaimsReleased&, const EnsureClaimsReleased&) = default;
};
// Deletes what the reference driver has made for the domain in its namespaces: its DaemonSet,
// cliques, node labels, and at last its own template, by which it is known. Takes that driver's
// finalizer off them. Succeeds only when live LISTs show that they are gone, and the pods of the
// DaemonSet too.
struct EnsurePredecessorGone {
  std::string domain_uid;
  std::set<std::string> namespaces = {};
  friend bool operator==(const EnsurePredecessorGone&, const EnsurePredecessorGone&) = default;
};
// Succeeds only when a live GET answers that there is no Node of this name.
struct EnsureNodeGone {
  std::string node;
  friend bool operator==(const EnsureNodeGone&, const EnsureNodeGone&) = default;
};
// Writes status.stale of the ComputeDomainNode, and nothing else of it, under the precondition of
// this version; nullopt takes it away.
struct MarkReport {
  api::ObjectMeta report;
  std::optional<api::Staleness> stale;
  friend bool operator==(const MarkReport&, const MarkReport&) = default;
};
// Writes the Node's label nvidia.com/gpu.clique and the mark that says that it is ours; without a
// clique both go. Under the precondition of this version.
struct LabelNode {
  api::ObjectMeta node;
  std::optional<std::string> clique;
  friend bool operator==(const LabelNode&, const LabelNode&) = default;
};
// Takes that mark off, as somebody else has written the label since.
struct UnmarkNode {
  api::ObjectMeta node;
  friend bool operator==(const UnmarkNode&, const UnmarkNode&) = default;
};

// Succeeds only when a live LIST shows no claim that may be in use on this node.
struct EnsureNodeUnused {
  std::string node;
  friend bool operator==(const EnsureNodeUnused&, const EnsureNodeUnused&) = default;
};
// Writes or removes the label by which DaemonSets select the Node, of this UID.
struct LabelForAgents {
  api::ObjectMeta node;
  bool has_agent = false;
  friend bool operator==(const LabelForAgents&, const LabelForAgents&) = default;
};

// Writes on the ComputeDomainNode of this UID what its agent has to know of its Node (NodePause, as
// text); "": that there is nothing any more.
struct TellPause {
  api::ObjectMeta report;
  std::string pause;
  friend bool operator==(const TellPause&, const TellPause&) = default;
};

using Action =
    std::variant<AddFinalizer, RemoveFinalizer, SetStatus, CreateTemplate, WriteNodeList,
                 RecordEvent, EnsureTemplateAbsent, EnsureNodeListsAbsent, EnsureDomainGone,
                 EnsureClaimsReleased, EnsurePredecessorGone, EnsureNodeGone, DeleteReport,
                 LabelNode, UnmarkNode, CreateDomain, SetOwners, DeleteDomain, ReadPods, ReadJob,
                 ReplaceTemplate, AdoptTemplate, WriteReservations, RemoveNodeList,
                 WriteSharedSlice, RemoveSharedSlice, EnsureNodeUnused, LabelForAgents, MarkReport,
                 TellPause, EnsureDomainLives, WriteCliqueObject, RemoveCliqueObject>;

struct Plan {
  std::vector<Action> actions;
  // Look again after this time even if nothing changes.
  std::optional<base::Duration> look_again;
  // The node list of the key is held, and admits others than when it was last held: the digest of
  // whom it admits (HeldList), to be remembered.
  std::optional<std::uint64_t> holds_list;

  friend bool operator==(const Plan&, const Plan&) = default;
};

// One line for people: "create ResourceClaimTemplate team-a/train-channel".
std::string to_string(const Action& action);

}  // namespace cdom::core
