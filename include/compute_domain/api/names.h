// The names that this driver shares with the reference driver and with its users' manifests, and
// the few of our own. Source of the shared ones: NVIDIA's DRA driver for GPUs.
#pragma once

namespace cdom::api {

inline constexpr char kDriver[] = "compute-domain.nvidia.com";
inline constexpr char kGroup[] = "resource.nvidia.com";
inline constexpr char kChannelClass[] = "compute-domain-default-channel.nvidia.com";
// Our own names: the class of the devices that the nodes of a clique share, the type of those
// devices, and the prefix of their pools' names, with which no node's name can begin.
inline constexpr char kSharedClass[] = "compute-domain-shared-channel.nvidia.com";
inline constexpr char kSharedType[] = "shared-channel";
inline constexpr char kSharedPoolPrefix[] = "clique/";
inline constexpr char kChannelRequest[] = "channel";

inline constexpr char kDomainFinalizer[] = "resource.nvidia.com/computeDomain";
inline constexpr char kDomainLabel[] = "resource.nvidia.com/computeDomain";  // value: domain UID
inline constexpr char kCliqueIdLabel[] =
    "resource.nvidia.com/computeDomain.cliqueID";  // of a ComputeDomainClique
inline constexpr char kTargetLabel[] = "resource.nvidia.com/computeDomainTarget";
inline constexpr char kTargetWorkload[] = "Workload";
inline constexpr char kTargetDaemon[] = "Daemon";  // the reference driver's own

// Ours.
inline constexpr char kCliqueLabel[] = "resource.nvidia.com/clique";
inline constexpr char kGroupLabel[] = "resource.nvidia.com/computeDomainGroup";
// On the ComputeDomainCliques that the controller has written, and the ConfigMap of the operator's
// namespace that owns them: manifests/compute-domain-cliques has it.
inline constexpr char kManagedByLabel[] = "app.kubernetes.io/managed-by";
inline constexpr char kManagedByController[] = "compute-domain-controller";
inline constexpr char kCliquesOwner[] = "compute-domain-cliques";
inline constexpr char kIsolationLabel[] = "resource.nvidia.com/isolation";  // domain | channel
inline constexpr char kDomainNamespaceLabel[] = "resource.nvidia.com/computeDomainNamespace";
inline constexpr char kFencedAnnotation[] = "resource.nvidia.com/fenced";  // value: a boot id
// On a ComputeDomainNode: what its Node says that the agent must know, as core/node_pause.h has it.
inline constexpr char kPauseAnnotation[] = "resource.nvidia.com/pause";
// On a template whose claims take seats of one clique only: the generation of the reservation in
// which that clique was chosen, as a number.
inline constexpr char kPlacementGeneration[] = "resource.nvidia.com/placement-generation";
// A Node's clique, under the name that NVIDIA's GPU feature discovery and DRA driver use, and the
// value of it that we have written.
inline constexpr char kNodeCliqueLabel[] = "nvidia.com/gpu.clique";
inline constexpr char kNodeCliqueMark[] = "resource.nvidia.com/gpu.clique";
// On Nodes that have an agent and an IMEX supervisor: DaemonSets select by it. "detected" is the
// controller's value; a person may write another one, "true" or "false", which it leaves.
inline constexpr char kAgentNodeLabel[] = "resource.nvidia.com/compute-domain-agent";
inline constexpr char kAgentNodeDetected[] = "detected";
// Which pods of a namespace share an automatic domain, by the user's own word; and the workload
// that a domain and its node lists were made for, by the id that the controller gives it.
inline constexpr char kPodDomainLabel[] = "resource.nvidia.com/compute-domain-workload";
inline constexpr char kWorkloadLabel[] = "resource.nvidia.com/workload";
inline constexpr char kLabelWorkload[] = "Label";  // a Workload's kind, of that label
// Labels by which other controllers mark the pods of one workload.
inline constexpr char kJobSetUidLabel[] = "jobset.sigs.k8s.io/jobset-uid";
inline constexpr char kJobSetNameLabel[] = "jobset.sigs.k8s.io/jobset-name";
inline constexpr char kGroupKeyLabel[] = "leaderworkerset.sigs.k8s.io/group-key";
inline constexpr char kGroupIndexLabel[] = "leaderworkerset.sigs.k8s.io/group-index";
inline constexpr char kLeaderWorkerSetLabel[] = "leaderworkerset.sigs.k8s.io/name";
// On a claim that was made from a template: the claim's name in the pod's spec.resourceClaims.
inline constexpr char kPodClaimAnnotation[] = "resource.kubernetes.io/pod-claim-name";
// Labels of the GPU Operator on Nodes. While its driver manager (NVIDIA/k8s-driver-manager,
// cmd/driver-manager) unloads the driver, the value of each "deploy" label contains
// "paused-for-driver-upgrade"; while NVIDIA/mig-parted changes MIG, "paused-for-mig-change". The
// upgrade library (NVIDIA/k8s-operator-libs, pkg/upgrade/consts.go) writes the upgrade state.
inline constexpr char kGpuDeployPrefix[] = "nvidia.com/gpu.deploy.";
inline constexpr char kGpuPausedFor[] = "paused-for-";
inline constexpr char kDriverUpgradeLabel[] = "nvidia.com/gpu-driver-upgrade-state";
// The upgrade state from the moment at which the driver's pod is to be replaced until the new pod
// is ready.
inline constexpr char kDriverPodRestart[] = "pod-restart-required";
inline constexpr char kOutOfServiceTaint[] = "node.kubernetes.io/out-of-service";
inline constexpr char kUnschedulableTaint[] = "node.kubernetes.io/unschedulable";

inline constexpr char kAttributeType[] = "type";      // of a device: "channel", or kSharedType
inline constexpr char kAttributeId[] = "id";          // of a device: 0
inline constexpr char kAttributeClique[] = "clique";  // of a device; absent without a fabric

inline constexpr char kAgentAppLabel[] = "app";
inline constexpr char kAgentApp[] = "compute-domain-agent";

}  // namespace cdom::api
