// Reasons: the words in which conditions, reports and Events say what is the case. One row each.
//
// A reason is the name of its row: Reason("GroupFull"). A name that has no row does not compile, so
// there is no state without a severity, an Event type, a sentence and a next step. The message of a
// condition is made where its reason is found. To add a reason, add a row;
// docs/reference/conditions.md is made from this table. Pure values.
#pragma once

#include <cstddef>
#include <iterator>
#include <optional>
#include <span>
#include <string_view>

namespace cdom::core {

// Whose state it is.
enum class Subject {
  Member,     // a node of a domain
  Domain,     // a ComputeDomain
  Node,       // a node, whatever domains it serves
  Occurrence  // something that happened: an Event alone tells it
};

// From what is well to what weighs most.
enum class Severity {
  Fine,
  Forming,  // normal while a domain forms or waits: an Event only when the domain was Ready before
  Blocked,  // it does not go on until a person changes something
  Ending,
  Fault  // what should work does not
};

// `None`: the condition alone says so.
enum class EventType { None, Normal, Warning };

// The link of the chain from a pod to its peers at which a member in the state stops its pods:
// `kubectl compute-domain why pod` shows the chain.
enum class Stop { Nowhere, AtNode, AtNodeList, AtDaemon, AtPeers };

struct ReasonRow {
  std::string_view name;
  Subject subject;
  std::string_view where;  // the conditions that have it, or the kinds of objects with an Event
  Severity severity;
  EventType event;
  std::string_view means;     // a clause: "all nodes are ready"
  std::string_view next;      // what a person does then; "": nothing
  Stop stop = Stop::Nowhere;  // of a member that is not ready
};

namespace reasons_detail {

using enum Subject;
using enum Severity;
using enum EventType;
using enum Stop;

// Members come first, from the worst.
inline constexpr ReasonRow kRows[] = {
    {"ImexFailed", Member, "Ready", Fault, Warning,
     "the node's IMEX daemon has ended, hangs or cannot be started",
     "one that has ended is started again by itself; for one that hangs or cannot be started do "
     "what the message says; pods that have lost imported memory have to start again",
     AtDaemon},
    {"NodeUnknown", Member, "Ready", Fault, Warning,
     "the node's kubelet has stopped answering, or there is no such Node",
     "check the machine; if it is off for good, do what the message says, and take the taint away "
     "when it is back",
     AtNode},
    {"NodeRebooted", Member, "Ready", Fault, Warning,
     "the node has rebooted and its agent has not reported since",
     "check the compute-domain-agent pod there", AtNode},
    {"AgentUnknown", Member, "Ready", Fault, Warning,
     "the node's agent has not been ready for longer than its grace, so what its IMEX daemon does "
     "is not known",
     "check the compute-domain-agent pod there", AtNode},
    {"Unreachable", Member, "Ready", Fault, Warning,
     "most of the other members cannot reach the node's IMEX daemon, or it cannot reach them",
     "check the node's network, TCP port 50000 between the compute-domain-imex pods above all",
     AtPeers},
    {"WrongNodeTable", Member, "Ready", Fault, Warning,
     "the node's IMEX daemon runs with another node table than its node list has",
     "wait a moment; if it lasts, check the compute-domain-agent pod there", AtDaemon},
    {"AddressRefused", Member, "Ready", Fault, Warning,
     "the node reports an address of another member, or one that is nobody's",
     "correct the address that the message names", AtNodeList},
    {"WrongChannel", Member, "Ready", Fault, Warning,
     "containers on the node have another IMEX channel than the node list says",
     "delete the node's pods, so that they are created again", AtDaemon},
    {"GroupFull", Member, "Ready", Fault, Warning, "all slots of the node's IMEX group are taken",
     "use fewer nodes in one clique", AtNodeList},
    {"ChannelsUsedUp", Member, "Ready", Fault, Warning,
     "all IMEX channels of the node's clique are taken", "delete ComputeDomains that have ended",
     AtNodeList},
    {"NodeListFull", Member, "Ready", Fault, Warning,
     "the node list of the clique has no room for another claim",
     "delete pods or ComputeDomains that have ended", AtNodeList},
    {"CliqueNotConfirmed", Member, "Ready", Fault, Warning,
     "nobody but the node's own agent says that it is in the clique",
     "confirm it with the command in the message", AtNodeList},
    {"TooManyCliques", Member, "Ready", Fault, Warning,
     "the node has reported too many cliques for one domain",
     "unless its GPUs were repartitioned so often, find out who writes its ComputeDomainNode; then "
     "delete the ComputeDomain and create it again",
     AtNodeList},
    {"MixedIsolation", Member, "Ready", Fault, Warning,
     "the node isolates by domain and others of its clique by channel, so they share no memory",
     "delete the pods on it, so that they are created again", AtNodeList},
    {"Recovering", Member, "Ready", Fault, Warning,
     "the node's IMEX daemon waits for importers of an earlier run",
     "delete the pods of the earlier run that still end", AtDaemon},
    {"NotReported", Member, "Ready", Forming, Warning,
     "the node's agent has not reported yet, or not its clique",
     "wait a moment; if it lasts, check the compute-domain-agent pod there", AtNode},
    {"Starting", Member, "Ready", Forming, Normal,
     "the node prepares the claim, and its IMEX daemon is not READY yet", "wait a moment",
     AtDaemon},
    {"Ready", Member, "", Fine, None, "the node is ready", ""},

    {"AllNodesReady", Domain, "Ready", Fine, Normal, "all nodes of the domain are ready", ""},
    {"Connecting", Domain, "Ready", Forming, Warning,
     "all nodes are ready, and some of them are not connected yet", "wait a moment"},
    {"MembersNotConnected", Domain, "Ready", Fault, Warning, "some nodes cannot reach each other",
     "check TCP port 50000 between the compute-domain-imex pods that the message names"},
    {"WaitingForController", Domain, "Ready", Forming, None, "no controller has seen the domain",
     "check deployment compute-domain-controller"},
    {"WaitingForPods", Domain, "Ready", Forming, Normal,
     "no node has a pod with a claim of the domain",
     "create the pods; if they wait for seats, the message counts these"},
    {"WaitingForNodes", Domain, "Ready", Forming, Normal,
     "fewer nodes than spec.numNodes have a pod with a claim",
     "create the other pods; if they wait for seats, the message counts these"},
    {"ServedByPredecessor", Domain, "Ready", Forming, Normal,
     "NVIDIA's DRA driver serves the domain until its last claim has ended",
     "let the pods that the message names end"},
    {"Deleting", Domain, "Ready", Ending, Normal, "the domain is being deleted",
     "end the pods that the message names"},

    {"Created", Domain, "TemplateReady", Fine, Normal,
     "pods can use the domain's ResourceClaimTemplate", ""},
    {"Pending", Domain, "TemplateReady", Forming, None,
     "the ResourceClaimTemplate is being created", "wait a moment"},
    {"BeingDeleted", Domain, "TemplateReady", Forming, Warning,
     "the ResourceClaimTemplate is being deleted, and is created again then",
     "if it lasts, see whose finalizer holds it"},
    {"TemplateNameTaken", Domain, "TemplateReady, Ready", Blocked, Warning,
     "a ResourceClaimTemplate of the domain's template name belongs to somebody else",
     "delete the ComputeDomain and create it with another template name"},
    {"InvalidTemplateName", Domain, "TemplateReady, Ready", Blocked, Warning,
     "the domain's template name is not a DNS subdomain",
     "delete the ComputeDomain and create it with a valid template name"},
    {"NotPlaced", Domain, "TemplateReady, Ready", Blocked, None,
     "no clique is chosen for the domain yet, so there is no ResourceClaimTemplate",
     "see condition Placed"},

    {"OneClique", Domain, "SingleClique", Fine, Normal, "all nodes are in one NVLink clique", ""},
    {"SeveralCliques", Domain, "SingleClique", Blocked, Warning,
     "the nodes are in different NVLink cliques, which share no memory",
     "keep the pods within one clique, for example with spec.placement.clique Single"},
    {"NoFabric", Domain, "SingleClique", Blocked, Warning,
     "no node has an NVLink fabric, so they share no memory",
     "use nodes with an NVLink fabric if the pods are to share memory"},

    {"CliqueChosen", Domain, "Placed", Fine, Normal, "seats of one clique are kept for the domain",
     ""},
    {"Choosing", Domain, "Placed", Forming, None, "a clique is being chosen", "wait a moment"},
    {"NoCliqueFits", Domain, "Placed", Blocked, Warning,
     "no clique has enough free seats for the domain",
     "wait for other pods to end, or lower spec.numNodes"},
    {"NoCliqueIsLargeEnough", Domain, "Placed", Blocked, Warning,
     "no clique has as many nodes as the domain needs",
     "lower spec.numNodes, or create the domain with spec.placement.clique Any"},
    {"CliqueLacksSeats", Domain, "Placed", Blocked, Warning,
     "the clique that was chosen has too few seats left for the domain",
     "see in the message which nodes are missing, and what comes next"},
    {"PodsElsewhere", Domain, "Placed", Blocked, Warning,
     "pods of the domain are in another clique than the one that holds now",
     "delete the pods on the nodes that the message names"},
    {"PodsOfFormerClique", Domain, "Placed", Blocked, Warning,
     "claims that were made for the clique before wait for it",
     "delete the pods of the claims that the message names"},
    {"NumNodesMissing", Domain, "Placed", Blocked, Warning,
     "spec.placement.clique=Single requires spec.numNodes", "set spec.numNodes"},
    {"NoTemplate", Domain, "Placed", Blocked, Warning,
     "spec.placement requires spec.channel, and there is none",
     "delete the ComputeDomain and create it with spec.channel"},
    {"PlacementUnsupported", Domain, "Placed, Ready", Blocked, Warning,
     "the domain was created for claims that were there before a clique could be chosen",
     "write a ComputeDomain with spec.placement, and name its template in the pods"},
    {"ChoiceRefused", Domain, "Placed", Blocked, None,
     "the API server refuses the ConfigMap that keeps the choice of a clique",
     "see condition WritesAccepted"},

    {"WriteRefused", Domain, "WritesAccepted, Ready", Blocked, Warning,
     "the API server refuses what the controller writes, or does not answer, which is tried again",
     "change what the message names: a quota, a policy, a webhook, a role, somebody's finalizer"},

    {"RequirementsMet", Node, "CanServe", Fine, None, "the node offers its devices", ""},
    {"Cordoned", Node, "CanServe", Fine, None,
     "the node is cordoned and no claim is there, so its IMEX daemon is stopped",
     "uncordon the node, or nothing: the next claim starts it too"},
    {"ChangingOver", Node, "CanServe", Forming, None,
     "the node changes to another clique or isolation when its last claim has ended",
     "let the pods there end"},
    {"FabricUnreadable", Node, "CanServe, Fabric", Fault, None,
     "the node's NVLink fabric cannot be read", "check the NVIDIA driver there"},
    {"DriverPaused", Node, "CanServe, Driver", Forming, None,
     "the GPU Operator takes the GPU driver away, so the node offers no device",
     "wait until the driver is back"},
    {"DriverTooOld", Node, "CanServe, Driver", Fault, None,
     "the NVIDIA driver is too old for IMEX with names of hosts", "update the driver there"},
    {"FabricUnhealthy", Node, "CanServe, FabricHealth", Fault, None,
     "the NVLink fabric of a GPU is not healthy", "see the GPU in the message"},
    {"NoImexChannels", Node, "CanServe, ImexChannels", Fault, None,
     "the NVIDIA driver has no IMEX channels that could be given to containers",
     "see in the message what is missing"},
    {"TooFewImexChannels", Node, "CanServe, ImexChannels", Fault, None,
     "the node isolates by channel, and its NVIDIA driver has fewer IMEX channels than domains may "
     "get",
     "load the driver with the NVreg_ImexChannelCount that the message names"},
    {"ImexCannotStart", Node, "CanServe, Imex", Fault, None,
     "no IMEX daemon can be started on the node: nvidia-imex is missing or does not run, or the "
     "host runs its own",
     "see in the message which, and the remedy"},
    {"CdiNotRead", Node, "ContainerRuntime", Fault, None,
     "by its configuration the container runtime does not read the CDI files of the agent, so "
     "containers start without their channel",
     "switch CDI on in the file that the message names, and restart the runtime"},
    {"OtherPlugin", Node, "CanServe, KubeletPlugin", Fault, None,
     "another kubelet plugin of the driver compute-domain.nvidia.com runs on the node",
     "switch the ComputeDomains of NVIDIA's DRA driver off, as the message says"},
    {"PortTaken", Node, "CanServe, Ports", Fault, None,
     "another process listens on a port of the IMEX daemon", "end what the message names"},
    {"HostImexEnabled", Node, "HostImex", Fault, None,
     "the host's own nvidia-imex.service is enabled: after a boot it may run before ours, and then "
     "none of ours starts",
     "disable and mask it with the command in the message"},
    {"SmallPages", Node, "PageSize", Fault, None,
     "the kernel has smaller pages than NVIDIA recommends for Grace",
     "boot the kernel with 64 KiB pages, on every node"},
    {"NoPersistence", Node, "Persistence", Fault, None,
     "nothing keeps the GPUs initialised while nobody uses them",
     "start nvidia-persistenced with the command in the message"},
    {"ImexSupervisorSilent", Node, "CanServe, Imex", Fault, None,
     "the IMEX supervisor does not answer the agent", "check the compute-domain-imex pod there"},

    {"NodeReady", Occurrence, "ComputeDomain", Fine, Normal, "a node is ready again", ""},
    {"ImexMemoryLost", Occurrence, "Pod", Fault, Warning,
     "an IMEX daemon has ended, and with it the memory that the pod imported over NVLink",
     "delete the pod, so that it starts again"},
    {"NodeListRestored", Occurrence, "ComputeDomain", Fine, Warning,
     "somebody deleted or changed a node list, which was written again with the same slots",
     "leave it to the controller"},
    {"LabelsRestored", Occurrence, "ConfigMap", Fine, Warning,
     "somebody took the labels off a ConfigMap of the controller, which were put back",
     "leave it to the controller"},
    {"NotOurs", Occurrence, "ComputeDomainClique", Blocked, Warning,
     "a ComputeDomainClique has the name of one that the controller would write, and is somebody "
     "else's, so it is left alone",
     "delete it if nothing writes it any more"},
    {"DefinitionOutdated", Occurrence, "CustomResourceDefinition", Fault, Warning,
     "the definition lacks fields of this release, as an older release or another driver has "
     "replaced it, so the API server drops what is written there",
     "apply the CustomResourceDefinitions of this release again"},
    {"Unreadable", Occurrence, "any that the controller reads", Fault, Warning,
     "an object has been changed to something that cannot be read, so the change is ignored",
     "correct the field that the message names"},
    {"UnknownComputeDomain", Occurrence, "ResourceClaim", Blocked, Warning,
     "the claim names a ComputeDomain that does not exist",
     "delete the pod and use the template of a ComputeDomain that exists"},
    {"WrongNamespace", Occurrence, "ResourceClaim", Blocked, Warning,
     "the claim names a ComputeDomain of another namespace",
     "create a ComputeDomain in the namespace of the claim"},
    {"ComputeDomainBeingDeleted", Occurrence, "ResourceClaim", Blocked, Warning,
     "the claim is newer than the deletion of its ComputeDomain, which takes no new claim",
     "delete the pod"},
    {"MadeForFormerClique", Occurrence, "ResourceClaim", Blocked, Warning,
     "the claim asks for a clique where its ComputeDomain is not placed any more",
     "delete the pod, so that its claim is created again"},
    {"ContradictoryConfig", Occurrence, "ResourceClaim", Blocked, Warning,
     "the claim's configuration names a ComputeDomain and asks for one of its own",
     "leave one of them out of the ResourceClaimTemplate"},
    {"InvalidConfig", Occurrence, "ResourceClaim", Blocked, Warning,
     "the claim's configuration cannot be used",
     "correct the ResourceClaimTemplate, and create the pod again"},
    {"ComputeDomainRefused", Occurrence, "ResourceClaim", Blocked, Warning,
     "the API server refuses the ComputeDomain of the claim's workload",
     "change what the message names"},
    {"ComputeDomainNameTaken", Occurrence, "ResourceClaim", Blocked, Warning,
     "another ComputeDomain has the name that the one of the claim's workload needs",
     "delete that ComputeDomain, or give the workload another name"},
};

constexpr bool are_sound() {
  const std::span rows(kRows);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const ReasonRow& row = rows[i];
    const bool is_bad = row.severity == Blocked || row.severity == Fault;
    if (row.name.empty() || row.means.empty() || (is_bad && row.next.empty())) return false;
    const bool stops = row.subject == Member && row.severity != Fine;
    if (stops != (row.stop != Nowhere)) return false;
    if (row.subject == Member && i > 0 && rows[i - 1].subject != Member) return false;
    for (std::size_t j = 0; j < i; ++j) {
      if (rows[j].name == row.name) return false;
    }
  }
  return true;
}
static_assert(are_sound(),
              "a row lacks something, has a name twice, is a member's below others, or only a "
              "member that is not ready has a stop");

}  // namespace reasons_detail

constexpr std::span<const ReasonRow> reason_rows() { return reasons_detail::kRows; }

class Reason {
 public:
  // NOLINTNEXTLINE(google-explicit-constructor): looked up by the compiler
  consteval Reason(std::string_view name) : row_(&reasons_detail::kRows[index_of(name)]) {}
  // NOLINTNEXTLINE(google-explicit-constructor)
  consteval Reason(const char* name) : Reason(std::string_view(name)) {}

  // The reason with a name that was stored; nullopt: the name is not ours, or an older release's.
  static constexpr std::optional<Reason> find(std::string_view name) {
    for (const ReasonRow& row : reasons_detail::kRows) {
      if (row.name == name) return Reason(&row);
    }
    return std::nullopt;
  }

  [[nodiscard]] constexpr const ReasonRow& row() const { return *row_; }
  [[nodiscard]] constexpr std::string_view name() const { return row_->name; }
  [[nodiscard]] constexpr EventType event() const { return row_->event; }

  // Not severe: the domain forms, or waits for a person. Any other reason may be shown instead.
  [[nodiscard]] constexpr bool is_severe() const { return row_->severity >= Severity::Ending; }
  // Only for two states of members.
  [[nodiscard]] constexpr bool is_worse_than(Reason other) const { return row_ < other.row_; }

  friend constexpr bool operator==(Reason a, Reason b) { return a.row_ == b.row_; }

 protected:
  constexpr explicit Reason(const ReasonRow* row) : row_(row) {}

 private:
  // The index of a row, because GCC 12 with its sanitizers cannot compare pointers at compile time.
  static consteval std::size_t index_of(std::string_view name) {
    for (std::size_t i = 0; i < std::size(reasons_detail::kRows); ++i) {
      if (reasons_detail::kRows[i].name == name) return i;
    }
    throw "there is no row of this name in reasons.h";
  }

  const ReasonRow* row_;
};

// A reason of a member, the same way: the row has to be a member's.
class MemberState : public Reason {
 public:
  // NOLINTNEXTLINE(google-explicit-constructor): looked up by the compiler
  consteval MemberState(const char* name) : Reason(name) {
    if (row().subject != Subject::Member) throw "this row of reasons.h is not a member's";
  }

  // The row is a member's.
  static constexpr MemberState of(const ReasonRow& row) { return MemberState(&row); }

  friend constexpr bool operator==(MemberState a, MemberState b) {
    return static_cast<Reason>(a) == static_cast<Reason>(b);
  }

 private:
  constexpr explicit MemberState(const ReasonRow* row) : Reason(row) {}
};

}  // namespace cdom::core
