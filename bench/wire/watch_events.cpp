#include "watch_events.h"

#include <cstddef>

#include "compute_domain/base/text.h"

namespace cdom::bench {

namespace {

constexpr std::size_t kClaimEventSize = 2500;
constexpr std::size_t kNodeEventSize = 7700;

}  // namespace

std::string claim_event() {
  const std::string head =
      R"({"type":"MODIFIED","object":{"kind":"ResourceClaim","apiVersion":"resource.k8s.io/v1","metadata":{"name":"train-0-channel-x7k2p","generateName":"train-0-channel-","namespace":"default","uid":"0d6f3a5e-7a55-4a43-9d3b-3f1f3d0c7c11","resourceVersion":"4711","creationTimestamp":"2026-01-02T03:04:05Z","annotations":{"resource.kubernetes.io/pod-claim-name":"channel"},"ownerReferences":[{"apiVersion":"v1","kind":"Pod","name":"train-0","uid":"8a1c2a2e-77d0-4a0e-bb39-2f7a0d9a8d11","controller":true,"blockOwnerDeletion":true}],"finalizers":["resource.kubernetes.io/delete-protection"],"managedFields":[)";
  const std::string field =
      R"({"manager":"kube-scheduler","operation":"Update","apiVersion":"resource.k8s.io/v1","time":"2026-01-02T03:04:05Z","fieldsType":"FieldsV1","fieldsV1":{"f:status":{"f:allocation":{".":{},"f:devices":{".":{},"f:results":{}},"f:nodeSelector":{}},"f:reservedFor":{".":{},"k:{\"uid\":\"8a1c\"}":{}}}},"subresource":"status"})";
  const std::string tail =
      R"(]},"spec":{"devices":{"requests":[{"name":"channel","exactly":{"deviceClassName":"compute-domain-default-channel.nvidia.com","allocationMode":"ExactCount","count":1}}],"config":[{"requests":["channel"],"opaque":{"driver":"compute-domain.nvidia.com","parameters":{"apiVersion":"resource.nvidia.com/v1beta1","kind":"ComputeDomainChannelConfig","domainID":"5b0e6d0c-2b63-4b0e-9a50-2b3e0a1d9c77","allocationMode":"Single"}}}]}},"status":{"allocation":{"devices":{"results":[{"request":"channel","driver":"compute-domain.nvidia.com","pool":"r1n01","device":"channel-0"}]},"nodeSelector":{"nodeSelectorTerms":[{"matchFields":[{"key":"metadata.name","operator":"In","values":["r1n01"]}]}]}},"reservedFor":[{"resource":"pods","name":"train-0","uid":"8a1c2a2e-77d0-4a0e-bb39-2f7a0d9a8d11"}]}}})";
  std::string event = head + field;
  while (event.size() + field.size() + tail.size() < kClaimEventSize) event += "," + field;
  return event + tail;
}

std::string node_event() {
  std::string labels, images, fields;
  // In the order of their names, as an API server writes a map.
  for (int i = 10; i < 50; ++i) {
    labels += base::cat(R"("feature.node.kubernetes.io/cpu-cpuid.AVX512F)", i, R"(":"true",)");
  }
  for (int i = 0; i < 10; ++i) {
    images += base::cat(
        i == 0 ? "" : ",", R"({"names":["nvcr.io/nvidia/k8s/image-)", i,
        R"(@sha256:5d9b1c2f0a7e4d3c8b6a5f4e3d2c1b0a9f8e7d6c5b4a39281706f5e4d3c2b1a0"],"sizeBytes":)",
        1000000 + i, "}");
  }
  const std::string field =
      R"({"manager":"kubelet","operation":"Update","apiVersion":"v1","time":"2026-01-02T03:04:05Z","fieldsType":"FieldsV1","fieldsV1":{"f:metadata":{"f:labels":{".":{},"f:kubernetes.io/hostname":{}}},"f:status":{"f:conditions":{"k:{\"type\":\"Ready\"}":{"f:lastHeartbeatTime":{}}}}},"subresource":"status"})";
  const std::string head = base::cat(
      R"({"type":"MODIFIED","object":{"kind":"Node","apiVersion":"v1","metadata":{"name":"r1n01","uid":"0d6f3a5e-7a55-4a43-9d3b-3f1f3d0c7c11","resourceVersion":"4711","creationTimestamp":"2026-01-02T03:04:05Z","labels":{)",
      labels,
      R"("kubernetes.io/hostname":"r1n01","nvidia.com/gpu.clique":"7c1f2d1e-0000-4000-8000-000000000001.1"},"managedFields":[)");
  const std::string tail = base::cat(
      R"(]},"spec":{"podCIDR":"10.0.1.0/24","taints":[{"key":"nvidia.com/gpu","effect":"NoSchedule"}]},"status":{"capacity":{"cpu":"144","memory":"1Ti","nvidia.com/gpu":"4"},"allocatable":{"cpu":"143","memory":"1Ti","nvidia.com/gpu":"4"},"conditions":[{"type":"MemoryPressure","status":"False","lastHeartbeatTime":"2026-01-02T03:04:05Z","lastTransitionTime":"2026-01-02T03:04:05Z","reason":"KubeletHasSufficientMemory","message":"kubelet has sufficient memory available"},{"type":"Ready","status":"True","lastHeartbeatTime":"2026-01-02T03:04:05Z","lastTransitionTime":"2026-01-02T03:04:05Z","reason":"KubeletReady","message":"kubelet is posting ready status"}],"addresses":[{"type":"InternalIP","address":"10.0.0.1"},{"type":"Hostname","address":"r1n01"}],"nodeInfo":{"bootID":"5b0e6d0c-2b63-4b0e-9a50-2b3e0a1d9c77","kubeletVersion":"v1.37.2"},"images":[)",
      images, "]}}}");
  fields = field;
  while (head.size() + fields.size() + field.size() + tail.size() < kNodeEventSize)
    fields += "," + field;
  return head + fields + tail;
}

}  // namespace cdom::bench
