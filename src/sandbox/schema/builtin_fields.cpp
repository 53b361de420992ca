// Which fields the objects of built-in kinds have, as of Kubernetes 1.36.
//
// One type a paragraph: its name and what it is; then lines of a value's type and the fields that
// have it; "." and a field: what that is. [] is a list, {} a map. The types are those of
// k8s.io/api, with the same names. A status is not spelled out: only controllers write one.
#include "sandbox/schema/object_types.h"

namespace cdom::sandbox::schema {

namespace {

constexpr char kMeta[] = R"(
ObjectMeta: Standard object's metadata.
string name generateName namespace selfLink uid resourceVersion creationTimestamp deletionTimestamp
int generation deletionGracePeriodSeconds
string{} labels annotations
string[] finalizers
OwnerReference[] ownerReferences
any[] managedFields
. name Must be unique within a namespace.
. labels Map of string keys and values that can be used to organize and categorize objects.
. annotations Unstructured key value map that external tools may set.
. finalizers Must be empty before the object is deleted from the registry.

OwnerReference: An object that this one depends on; when all owners have gone it is deleted.
string apiVersion kind name uid
bool controller blockOwnerDeletion

LabelSelector: A label query over a set of resources.
string{} matchLabels
LabelSelectorRequirement[] matchExpressions

LabelSelectorRequirement: A key, an operator and values.
string key operator
string[] values

LocalObjectReference: The name of an object in the same namespace.
string name
)";

constexpr char kCore[] = R"(
Pod: Pod is a collection of containers that can run on a host.
ObjectMeta metadata
PodSpec spec
any status
. spec Specification of the desired behavior of the pod.

PodTemplateSpec: What a pod has when it is made from a template.
ObjectMeta metadata
PodSpec spec

PodSpec: PodSpec is a description of a pod.
Volume[] volumes
Container[] initContainers containers
EphemeralContainer[] ephemeralContainers
string restartPolicy dnsPolicy serviceAccountName serviceAccount nodeName hostname subdomain
string schedulerName priorityClassName runtimeClassName preemptionPolicy hostnameOverride
int terminationGracePeriodSeconds activeDeadlineSeconds priority
bool automountServiceAccountToken hostNetwork hostPID hostIPC shareProcessNamespace hostUsers
bool enableServiceLinks setHostnameAsFQDN
string{} nodeSelector
quantity{} overhead
PodSecurityContext securityContext
LocalObjectReference[] imagePullSecrets
Affinity affinity
Toleration[] tolerations
HostAlias[] hostAliases
PodDNSConfig dnsConfig
PodReadinessGate[] readinessGates
TopologySpreadConstraint[] topologySpreadConstraints
PodOS os
PodSchedulingGate[] schedulingGates
PodResourceClaim[] resourceClaims
ResourceRequirements resources
any workloadRef
. containers List of containers belonging to the pod. There must be at least one.
. initContainers Containers that run, one after the other, before the others start.
. resourceClaims Which ResourceClaims must be allocated and reserved before the pod may start. The
. resourceClaims resources are available to those containers which consume them by name.
. restartPolicy Restart policy for all containers: Always, OnFailure or Never.
. nodeName The node on which the pod runs; the scheduler sets it.
. nodeSelector Labels that a node must have for the pod to run there.
. affinity The pod's scheduling constraints.
. tolerations The taints that the pod tolerates.
. volumes Volumes that containers of the pod can mount.
. terminationGracePeriodSeconds How long the pod has to end when it is deleted.
. schedulingGates The pod is not scheduled while there are any.
. activeDeadlineSeconds How long the pod may be active before it is marked failed.
. serviceAccountName The ServiceAccount to run this pod as.

PodResourceClaim: A ResourceClaim, named or made from a template, for use by the pod.
string name resourceClaimName resourceClaimTemplateName
. name Identifies this claim inside the pod, for resources.claims of its containers.
. resourceClaimName The name of a ResourceClaim in the same namespace.
. resourceClaimTemplateName The name of a ResourceClaimTemplate: a new claim is made for this pod.

Container: A single application container that runs within a pod.
string name image workingDir restartPolicy terminationMessagePath terminationMessagePolicy
string imagePullPolicy
string[] command args
ContainerPort[] ports
EnvFromSource[] envFrom
EnvVar[] env
ResourceRequirements resources
ContainerResizePolicy[] resizePolicy
any[] restartPolicyRules
VolumeMount[] volumeMounts
VolumeDevice[] volumeDevices
Probe livenessProbe readinessProbe startupProbe
Lifecycle lifecycle
SecurityContext securityContext
bool stdin stdinOnce tty
. image Container image name.
. command Entrypoint array, not executed within a shell.
. args Arguments to the entrypoint.
. env Environment variables to set in the container.
. resources Compute resources, and which of the pod's claims the container uses.

EphemeralContainer: A container that is added to a running pod for debugging.
string name image workingDir restartPolicy terminationMessagePath terminationMessagePolicy
string imagePullPolicy targetContainerName
string[] command args
ContainerPort[] ports
EnvFromSource[] envFrom
EnvVar[] env
ResourceRequirements resources
ContainerResizePolicy[] resizePolicy
any[] restartPolicyRules
VolumeMount[] volumeMounts
VolumeDevice[] volumeDevices
Probe livenessProbe readinessProbe startupProbe
Lifecycle lifecycle
SecurityContext securityContext
bool stdin stdinOnce tty

ContainerPort: A network port in a container.
string name protocol hostIP
int hostPort containerPort

ContainerResizePolicy: Whether a container is restarted when a resource is resized.
string resourceName restartPolicy

EnvVar: An environment variable.
string name value
EnvVarSource valueFrom

EnvVarSource: Where the value of an environment variable comes from.
ObjectFieldSelector fieldRef
ResourceFieldSelector resourceFieldRef
KeySelector configMapKeyRef secretKeyRef
any fileKeyRef

EnvFromSource: A ConfigMap or Secret whose entries become environment variables.
string prefix
KeySelector configMapRef secretRef

KeySelector: A key of a ConfigMap or Secret.
string name key
bool optional

ObjectFieldSelector: A field of the pod.
string apiVersion fieldPath

ResourceFieldSelector: A resource of a container.
string containerName resource
quantity divisor

ResourceRequirements: The compute resources that a container needs.
quantity{} limits requests
ResourceClaimReference[] claims
. claims The names of resources, of spec.resourceClaims, that the container uses.

ResourceClaimReference: An entry of the pod's spec.resourceClaims.
string name request

VolumeMount: A volume within a container.
string name mountPath subPath mountPropagation subPathExpr recursiveReadOnly
bool readOnly

VolumeDevice: A raw block device within a container.
string name devicePath

Probe: A check of a container's health.
ExecAction exec
HTTPGetAction httpGet
TCPSocketAction tcpSocket
GRPCAction grpc
int initialDelaySeconds timeoutSeconds periodSeconds successThreshold failureThreshold
int terminationGracePeriodSeconds

ExecAction: A command in the container.
string[] command

HTTPGetAction: An HTTP GET.
string path host scheme
int-or-string port
NameValue[] httpHeaders

NameValue: A name and a value.
string name value

TCPSocketAction: A TCP connection.
int-or-string port
string host

GRPCAction: A gRPC health check.
int port
string service

Lifecycle: Actions after a container starts and before it ends.
LifecycleHandler postStart preStop
string stopSignal

LifecycleHandler: One such action.
ExecAction exec
HTTPGetAction httpGet
TCPSocketAction tcpSocket
SleepAction sleep

SleepAction: A pause.
int seconds

SecurityContext: The security options of a container.
Capabilities capabilities
bool privileged runAsNonRoot readOnlyRootFilesystem allowPrivilegeEscalation
SELinuxOptions seLinuxOptions
WindowsOptions windowsOptions
int runAsUser runAsGroup
string procMount
SecurityProfile seccompProfile appArmorProfile

PodSecurityContext: The security options of a pod.
SELinuxOptions seLinuxOptions
WindowsOptions windowsOptions
int runAsUser runAsGroup fsGroup
bool runAsNonRoot
int[] supplementalGroups
string supplementalGroupsPolicy fsGroupChangePolicy seLinuxChangePolicy
NameValue[] sysctls
SecurityProfile seccompProfile appArmorProfile

Capabilities: POSIX capabilities to add and drop.
string[] add drop

SELinuxOptions: SELinux labels.
string user role type level

WindowsOptions: Windows specific settings.
string gmsaCredentialSpecName gmsaCredentialSpec runAsUserName
bool hostProcess

SecurityProfile: A seccomp or AppArmor profile.
string type localhostProfile

Affinity: Scheduling constraints.
NodeAffinity nodeAffinity
PodAffinity podAffinity podAntiAffinity

NodeAffinity: Which nodes a pod needs and prefers.
NodeSelector requiredDuringSchedulingIgnoredDuringExecution
PreferredSchedulingTerm[] preferredDuringSchedulingIgnoredDuringExecution

PreferredSchedulingTerm: A node selector term with a weight.
int weight
NodeSelectorTerm preference

NodeSelector: The union of node selector terms.
NodeSelectorTerm[] nodeSelectorTerms

NodeSelectorTerm: Requirements on labels and fields of a node.
LabelSelectorRequirement[] matchExpressions matchFields

PodAffinity: Which pods this one has to be near to, or far from.
PodAffinityTerm[] requiredDuringSchedulingIgnoredDuringExecution
WeightedPodAffinityTerm[] preferredDuringSchedulingIgnoredDuringExecution

WeightedPodAffinityTerm: A pod affinity term with a weight.
int weight
PodAffinityTerm podAffinityTerm

PodAffinityTerm: A set of pods, and the topology in which they count as near.
LabelSelector labelSelector namespaceSelector
string[] namespaces matchLabelKeys mismatchLabelKeys
string topologyKey

Toleration: A taint that is tolerated.
string key operator value effect
int tolerationSeconds

Taint: What keeps pods that do not tolerate it from a node.
string key value effect timeAdded

HostAlias: An entry of the pod's hosts file.
string ip
string[] hostnames

PodDNSConfig: DNS parameters of a pod.
string[] nameservers searches
NameValue[] options

PodReadinessGate: A condition that the pod's readiness needs.
string conditionType

TopologySpreadConstraint: How to spread matching pods over a topology.
int maxSkew minDomains
string topologyKey whenUnsatisfiable nodeAffinityPolicy nodeTaintsPolicy
LabelSelector labelSelector
string[] matchLabelKeys

PodOS: The operating system of the pod.
string name

PodSchedulingGate: What keeps the pod from being scheduled.
string name

Volume: A named volume in a pod.
string name
any hostPath emptyDir gcePersistentDisk awsElasticBlockStore gitRepo secret nfs iscsi glusterfs
any persistentVolumeClaim rbd flexVolume cinder cephfs flocker downwardAPI fc azureFile configMap
any vsphereVolume quobyte azureDisk photonPersistentDisk projected portworxVolume scaleIO storageos
any csi ephemeral image

ConfigMap: ConfigMap holds configuration data for pods to consume.
ObjectMeta metadata
string{} data binaryData
bool immutable
. data The configuration data.

Secret: Secret holds secret data.
ObjectMeta metadata
string{} data stringData
string type
bool immutable

ServiceAccount: An identity for processes that run in pods.
ObjectMeta metadata
any[] secrets
LocalObjectReference[] imagePullSecrets
bool automountServiceAccountToken

Namespace: Namespace provides a scope for names.
ObjectMeta metadata
NamespaceSpec spec
any status

NamespaceSpec: What a namespace waits for before it goes.
string[] finalizers

Node: Node is a worker node in Kubernetes.
ObjectMeta metadata
NodeSpec spec
any status
. spec The behavior of the node.

NodeSpec: NodeSpec describes the attributes that a node is created with.
string podCIDR providerID externalID
string[] podCIDRs
bool unschedulable
Taint[] taints
any configSource
. unschedulable No new pods are scheduled there; kubectl cordon sets it.
. taints The node's taints.
)";

constexpr char kWorkloads[] = R"(
Job: Job represents the configuration of a single job.
ObjectMeta metadata
JobSpec spec
any status
. spec The desired behavior of the job.

JobSpec: JobSpec describes how the job execution will look like.
int parallelism completions activeDeadlineSeconds backoffLimit backoffLimitPerIndex
int maxFailedIndexes ttlSecondsAfterFinished
any podFailurePolicy successPolicy
LabelSelector selector
bool manualSelector suspend
PodTemplateSpec template
string completionMode podReplacementPolicy managedBy
. parallelism The most pods that run at any given time.
. completions How many pods have to succeed.
. completionMode NonIndexed, or Indexed: each pod has an index from 0 to completions - 1.
. backoffLimit How often a failed pod is replaced before the job is marked failed.
. template What the pods of the job are made from.
. suspend Whether pods are made at all.

Deployment: Deployment enables declarative updates for pods.
ObjectMeta metadata
DeploymentSpec spec
any status

DeploymentSpec: The desired behavior of the Deployment.
int replicas minReadySeconds revisionHistoryLimit progressDeadlineSeconds
LabelSelector selector
PodTemplateSpec template
any strategy
bool paused

ReplicaSet: ReplicaSet ensures that a number of pod replicas run.
ObjectMeta metadata
ReplicaSetSpec spec
any status

ReplicaSetSpec: The desired behavior of the ReplicaSet.
int replicas minReadySeconds
LabelSelector selector
PodTemplateSpec template

DaemonSet: DaemonSet runs a pod on every node.
ObjectMeta metadata
DaemonSetSpec spec
any status

DaemonSetSpec: The desired behavior of the DaemonSet.
LabelSelector selector
PodTemplateSpec template
any updateStrategy
int minReadySeconds revisionHistoryLimit

PodDisruptionBudget: How many pods of a collection evictions may take away at a time.
ObjectMeta metadata
PodDisruptionBudgetSpec spec
any status

PodDisruptionBudgetSpec: Which pods, and how many of them have to stay.
any minAvailable maxUnavailable
LabelSelector selector
string unhealthyPodEvictionPolicy

NetworkPolicy: What network traffic is allowed for a set of pods.
ObjectMeta metadata
NetworkPolicySpec spec

NetworkPolicySpec: Which pods, and the traffic that they may have.
LabelSelector podSelector
any[] ingress egress
string[] policyTypes

Lease: Lease defines a lease concept.
ObjectMeta metadata
LeaseSpec spec

LeaseSpec: Who holds the lease, and for how long.
string holderIdentity acquireTime renewTime strategy preferredHolder
int leaseDurationSeconds leaseTransitions
)";

constexpr char kResource[] = R"(
ResourceClaim: ResourceClaim describes a request for access to devices, for use by workloads.
ObjectMeta metadata
ResourceClaimSpec spec
any status
. spec What is being requested and how to configure it; immutable.

ResourceClaimTemplate: A template from which a ResourceClaim is made for each pod that names it.
ObjectMeta metadata
ResourceClaimTemplateSpec spec

ResourceClaimTemplateSpec: The metadata and the spec of the claims.
ObjectMeta metadata
ResourceClaimSpec spec

ResourceClaimSpec: What is being requested in a ResourceClaim and how to configure it.
DeviceClaim devices

DeviceClaim: How to request devices.
DeviceRequest[] requests
DeviceConstraint[] constraints
DeviceConfiguration[] config
. requests Individual requests for distinct devices.
. constraints What must be satisfied by the devices that get allocated for the claim.
. config Configuration for drivers which could satisfy requests of this claim.

DeviceRequest: A request for devices: exactly what, or the first that can be had.
string name
ExactDeviceRequest exactly
ExactDeviceRequest[] firstAvailable

ExactDeviceRequest: A request for one or more identical devices.
string name deviceClassName allocationMode
DeviceSelector[] selectors
int count
bool adminAccess
Toleration[] tolerations
any capacity

v1beta1.DeviceRequest: A request for devices.
string name deviceClassName allocationMode
DeviceSelector[] selectors
int count
bool adminAccess
ExactDeviceRequest[] firstAvailable
Toleration[] tolerations
any capacity

v1beta1.ResourceClaim: ResourceClaim describes a request for access to devices.
ObjectMeta metadata
v1beta1.ResourceClaimSpec spec
any status

v1beta1.ResourceClaimTemplate: A template from which a ResourceClaim is made for each pod.
ObjectMeta metadata
v1beta1.ResourceClaimTemplateSpec spec

v1beta1.ResourceClaimTemplateSpec: The metadata and the spec of the claims.
ObjectMeta metadata
v1beta1.ResourceClaimSpec spec

v1beta1.ResourceClaimSpec: What is being requested in a ResourceClaim and how to configure it.
v1beta1.DeviceClaim devices

v1beta1.DeviceClaim: How to request devices.
v1beta1.DeviceRequest[] requests
DeviceConstraint[] constraints
DeviceConfiguration[] config

DeviceSelector: Which devices are wanted.
CELDeviceSelector cel

CELDeviceSelector: A CEL expression.
string expression

DeviceConstraint: What devices of several requests must have in common.
string[] requests
string matchAttribute distinctAttribute

DeviceConfiguration: Configuration for some requests.
string[] requests
OpaqueDeviceConfiguration opaque

OpaqueDeviceConfiguration: Parameters that the driver alone understands.
string driver
any parameters

DeviceClass: A preset that ResourceClaims refer to by name: selectors and configuration.
ObjectMeta metadata
DeviceClassSpec spec

DeviceClassSpec: What the class is.
DeviceSelector[] selectors
DeviceConfiguration[] config
string extendedResourceName

ResourceSlice: ResourceSlice represents one or more resources in a pool of similar resources.
ObjectMeta metadata
ResourceSliceSpec spec
. spec What a driver has published; replaced as a whole when it changes.

ResourceSliceSpec: The devices of a pool, or a part of them, and the nodes that have access to them.
string driver nodeName
ResourcePool pool
NodeSelector nodeSelector
bool allNodes perDeviceNodeSelection
Device[] devices
any[] sharedCounters
. driver The DNS subdomain of the driver that has published the slice; immutable.
. pool The pool that this slice belongs to.
. nodeName The one node that has access to the devices; immutable.
. nodeSelector Which nodes have access to the devices, where that is not one; exactly one term.
. allNodes Whether all nodes have access to the devices.
. perDeviceNodeSelection Whether each device says which nodes have access to it.
. devices Some or all of the devices in the pool, at most 128.

ResourcePool: The pool that a ResourceSlice belongs to.
string name
int generation resourceSliceCount
. name Unique among the pools of the driver.
. generation Grows when the slices of the pool change; only those of the highest one count.
. resourceSliceCount How many slices the pool has at that generation.

Device: One individual device that has attributes and can be allocated.
string name nodeName
any attributes capacity nodeAllocatableResourceMappings
any[] consumesCounters
NodeSelector nodeSelector
bool allNodes bindsToNode allowMultipleAllocations
Taint[] taints
string[] bindingConditions bindingFailureConditions

v1beta1.ResourceSlice: One or more resources in a pool of similar resources.
ObjectMeta metadata
v1beta1.ResourceSliceSpec spec

v1beta1.ResourceSliceSpec: The devices of a pool, or a part of them, and the nodes that have access.
string driver nodeName
ResourcePool pool
NodeSelector nodeSelector
bool allNodes perDeviceNodeSelection
v1beta1.Device[] devices
any[] sharedCounters

v1beta1.Device: One individual device.
string name
BasicDevice basic

BasicDevice: What a device of v1beta1 has.
string nodeName
any attributes capacity nodeAllocatableResourceMappings
any[] consumesCounters
NodeSelector nodeSelector
bool allNodes bindsToNode allowMultipleAllocations
Taint[] taints
string[] bindingConditions bindingFailureConditions
)";

}  // namespace

const ObjectTypes& builtin_types() {
  static const ObjectTypes kTypes({kMeta, kCore, kWorkloads, kResource});
  return kTypes;
}

}  // namespace cdom::sandbox::schema
