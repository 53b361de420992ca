#include "sandbox/cluster/node/node_registration.h"

#include <nlohmann/json.hpp>

#include "compute_domain/base/text.h"

namespace cdom::sandbox {
namespace {

using std::chrono::seconds;

constexpr base::Duration kRenewInterval = seconds(10);
constexpr int kLeaseSeconds = 40;
constexpr base::Duration kRegistrationRetry = seconds(1);

// A GB200 compute tray: two Grace CPUs, four GPUs.
json amounts() {
  return {{"cpu", "144"},
          {"memory", "960Gi"},
          {"ephemeral-storage", "3500Gi"},
          {"pods", "110"},
          {"nvidia.com/gpu", "4"}};
}

json condition(const json& known, std::string_view type, std::string_view status,
               std::string_view reason, std::string_view message, const std::string& now) {
  json wanted{{"type", type},       {"status", status},         {"reason", reason},
              {"message", message}, {"lastHeartbeatTime", now}, {"lastTransitionTime", now}};
  for (const json& old : at(known, "/status/conditions")) {
    if (text_at(old, "/type") != type || text_at(old, "/status") != status) continue;
    wanted["lastTransitionTime"] = at(old, "/lastTransitionTime");
    if (text_at(old, "/reason") == reason)
      wanted["lastHeartbeatTime"] = at(old, "/lastHeartbeatTime");
  }
  return wanted;
}

}  // namespace

NodeRegistration::NodeRegistration(const kube::Client& client, const Informers& informers,
                                   const base::Clock& clock, kube::EventRecorder& recorder,
                                   NodeDescription description)
    : objects_(client),
      clock_(clock),
      nodes_(informers.of(kNodes)),
      recorder_(recorder),
      writes_(clock),
      description_(std::move(description)) {}

void NodeRegistration::boot(std::string boot_id) {
  boot_id_ = std::move(boot_id);
  is_on_ = true;
  is_registered_ = false;
  right_.reset();
  node_due_ = lease_due_ = clock_.elapsed();
}

bool NodeRegistration::step() {
  if (!is_on_ || is_frozen_ || !nodes_.has_synced() || !writes_.all_seen()) return false;
  return keep_node() || keep_lease();
}

std::optional<base::Duration> NodeRegistration::next_due() const {
  if (!is_on_ || is_frozen_) return std::nullopt;
  auto due = earlier(writes_.next_due(), lease_due_);
  if (node_due_ > clock_.elapsed()) due = earlier(due, node_due_);
  return due;
}

json NodeRegistration::status(const json& known) const {
  const std::string now = base::to_rfc3339(clock_.now());
  return {{"nodeInfo",
           {{"bootID", boot_id_},
            {"machineID", base::hex64(base::fnv1a64(description_.name))},
            {"systemUUID", base::hex64(base::fnv1a64(description_.name))},
            {"kernelVersion", "6.8.0-sandbox"},
            {"osImage", "simulated"},
            {"containerRuntimeVersion", "containerd://2.3.6"},
            {"kubeletVersion", "v1.36.3"},
            {"kubeProxyVersion", ""},
            {"operatingSystem", "linux"},
            {"architecture", "arm64"}}},
          {"addresses", json::array({{{"type", "InternalIP"}, {"address", description_.address}},
                                     {{"type", "Hostname"}, {"address", description_.name}}})},
          {"capacity", amounts()},
          {"allocatable", amounts()},
          {"conditions",
           json::array({condition(known, "MemoryPressure", "False", "KubeletHasSufficientMemory",
                                  "kubelet has sufficient memory available", now),
                        condition(known, "DiskPressure", "False", "KubeletHasNoDiskPressure",
                                  "kubelet has no disk pressure", now),
                        condition(known, "PIDPressure", "False", "KubeletHasSufficientPID",
                                  "kubelet has sufficient PID available", now),
                        condition(known, "Ready", "True", "KubeletReady",
                                  "kubelet is posting ready status", now)})}};
}

bool NodeRegistration::keep_node() {
  if (clock_.elapsed() < node_due_) return false;
  const ObjectPtr node = nodes_.find({"", description_.name});
  // kubelet registers once; a Node that is deleted later comes back with the next boot.
  if (!node) return !is_registered_ && create_node();
  if (right_ == node) return false;
  json current = at(*node, "/status");
  if (!current.is_object()) current = json::object();
  json desired = current;
  desired.merge_patch(status(*node));
  if (desired == current) {
    is_registered_ = true;
    right_ = node;
    return true;
  }
  const std::string old_boot = text_at(*node, "/status/nodeInfo/bootID");
  const json patch{{"metadata", {{"uid", uid_of(*node)}}}, {"status", status(*node)}};
  auto written = objects_.merge_patch(kNodes, key_of(*node), patch, "status");
  if (!written) {
    node_due_ = clock_.elapsed() + kRegistrationRetry;
    return true;
  }
  writes_.note(nodes_, *written);
  is_registered_ = true;
  if (!old_boot.empty() && old_boot != boot_id_) {
    recorder_.record(
        reference_to(kNodes, *node), "Warning", "Rebooted",
        base::cat("Node ", description_.name, " has been rebooted, boot id: ", boot_id_));
  }
  return true;
}

bool NodeRegistration::create_node() {
  json labels{{"kubernetes.io/hostname", description_.name},
              {"kubernetes.io/os", "linux"},
              {"kubernetes.io/arch", "arm64"},
              {"nvidia.com/gpu.present", "true"},
              {"sandbox.compute-domain/rack", description_.rack}};
  if (!description_.clique.empty()) labels["nvidia.com/gpu.clique"] = description_.clique;
  json node{
      {"metadata", {{"name", description_.name}, {"labels", std::move(labels)}}},
      {"spec",
       {{"podCIDR", description_.pod_cidr}, {"podCIDRs", json::array({description_.pod_cidr})}}},
      {"status", status(json())}};
  auto made = objects_.create(kNodes, node);
  if (made) {
    writes_.note(nodes_, *made);
  } else {
    node_due_ = clock_.elapsed() + kRegistrationRetry;
  }
  return true;
}

bool NodeRegistration::keep_lease() {
  if (!is_registered_ || clock_.elapsed() < lease_due_) return false;
  const ObjectPtr node = nodes_.find({"", description_.name});
  if (!node) return false;
  const api::ObjectName key{kNodeLeaseNamespace, description_.name};
  const json spec{{"holderIdentity", description_.name},
                  {"leaseDurationSeconds", kLeaseSeconds},
                  {"renewTime", base::to_rfc3339_micro(clock_.now())}};
  auto kept = objects_.merge_patch(kLeases, key, {{"spec", spec}});
  if (!kept && kept.error().kind == base::ErrorKind::NotFound) {
    json lease{{"metadata", {{"namespace", key.ns}, {"name", key.name}}}, {"spec", spec}};
    lease["metadata"]["ownerReferences"] = json::array(
        {{{"apiVersion", "v1"}, {"kind", "Node"}, {"name", key.name}, {"uid", uid_of(*node)}}});
    kept = objects_.create(kLeases, lease);
  }
  lease_due_ = clock_.elapsed() + (kept ? kRenewInterval : kRegistrationRetry);
  return true;
}

}  // namespace cdom::sandbox
