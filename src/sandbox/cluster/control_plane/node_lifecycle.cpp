#include "sandbox/cluster/control_plane/node_lifecycle.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "compute_domain/base/text.h"
#include "sandbox/cluster/node/node_registration.h"
#include "sandbox/cluster/node/pod_facts.h"
#include "sandbox/cluster/scheduler/toleration.h"

namespace cdom::sandbox {
namespace {

constexpr char kUnreachable[] = "node.kubernetes.io/unreachable";
constexpr char kNotReady[] = "node.kubernetes.io/not-ready";
constexpr char kOutOfService[] = "node.kubernetes.io/out-of-service";
// What the admission plugin DefaultTolerationSeconds gives every pod.
constexpr std::int64_t kDefaultTolerationSeconds = 300;

std::string ready_of(const json& node) {
  for (const json& condition : at(node, "/status/conditions")) {
    if (text_at(condition, "/type") == "Ready") return text_at(condition, "/status");
  }
  return "Unknown";
}

// A status that kubelet has just written is a sign of life, as its Lease is.
bool becomes_ready(const json& before, const json& after) {
  return ready_of(after) == "True" && ready_of(before) != "True";
}

bool has_taint(const json& node, std::string_view key) {
  const json& taints = at(node, "/spec/taints");
  return std::any_of(taints.begin(), taints.end(),
                     [&](const json& taint) { return taint.value("key", "") == key; });
}

}  // namespace

NodeLifecycle::NodeLifecycle(const kube::Client& client, const Informers& informers,
                             const base::Clock& clock, base::Random random)
    : objects_(client),
      clock_(clock),
      nodes_(informers.of(kNodes)),
      pods_(informers.of(kPods)),
      leases_(informers.of(kLeases)),
      recorder_(client, clock, {.component = "node-controller", .seed = random.next()}),
      writes_(clock),
      node_queue_(clock),
      pod_queue_(clock) {
  informers.of(kNodes).on_change([this](const Change& change) {
    if (!change.after) {
      heard_.erase(change.key.name);
    } else if (!change.before || becomes_ready(*change.before, *change.after)) {
      hear_from(change.key.name);
    }
    node_queue_.add(change.key.name);
    look_at_pods_of(change.key.name);
  });
  informers.of(kLeases).on_change([this](const Change& change) {
    if (change.key.ns == kNodeLeaseNamespace && change.after) hear_from(change.key.name);
  });
  informers.of(kPods).on_change([this](const Change& change) {
    if (change.after && !node_of(*change.after).empty()) pod_queue_.add(change.key);
  });
}

void NodeLifecycle::hear_from(const std::string& node) {
  heard_[node] = clock_.elapsed();
  missing_since_.erase(node);
  node_queue_.add_after(node, kGracePeriod);
}

void NodeLifecycle::look_at_pods_of(const std::string& node) {
  for (const auto& pod : pods_.all()) {
    if (node_of(*pod->document) == node) pod_queue_.add(api::name_of(pod->meta));
  }
}

bool NodeLifecycle::step() {
  if (recorder_.step()) return true;
  if (!nodes_.has_synced() || !pods_.has_synced() || !leases_.has_synced()) return false;
  if (!writes_.all_seen()) return false;
  return sync_next(node_queue_, [this](const auto& name) { return sync_node(name); }) ||
         sync_next(pod_queue_, [this](const auto& key) { return sync_pod(key); });
}

std::optional<base::Duration> NodeLifecycle::next_due() const {
  return earlier(earlier(recorder_.next_due(), writes_.next_due()),
                 earlier(node_queue_.next_due(), pod_queue_.next_due()));
}

Synced NodeLifecycle::sync_node(const std::string& name) {
  const ObjectPtr node = nodes_.find({"", name});
  if (!node || is_deleting(*node)) return {};
  const base::Duration heard = heard_.emplace(name, clock_.elapsed()).first->second;
  const base::Duration left = heard + kGracePeriod - clock_.elapsed();
  const bool is_silent = left <= base::Duration::zero();
  const std::string ready = ready_of(*node);
  if (is_silent && ready != "Unknown") return {become_unknown(*node)};
  const bool is_kept = keep_taints(*node, ready) && (ready == "True" || keep_pods_not_ready(*node));
  return {is_kept, is_silent ? std::nullopt : std::optional(left)};
}

bool NodeLifecycle::become_unknown(const json& node) {
  const std::string now = base::to_rfc3339(clock_.now());
  json conditions = at(node, "/status/conditions");
  if (!conditions.is_array()) conditions = json::array();
  for (json& condition : conditions) {
    condition["status"] = "Unknown";
    condition["reason"] = "NodeStatusUnknown";
    condition["message"] = "Kubelet stopped posting node status.";
    condition["lastTransitionTime"] = now;
  }
  const json patch{{"metadata", {{"uid", uid_of(node)}}}, {"status", {{"conditions", conditions}}}};
  auto written = objects_.merge_patch(kNodes, key_of(node), patch, "status");
  if (!written) return written.error().kind == base::ErrorKind::NotFound;
  writes_.note(nodes_, *written);
  recorder_.record(reference_to(kNodes, node), "Normal", "NodeNotReady",
                   base::cat("Node ", key_of(node).name, " status is now: NodeNotReady"));
  return true;
}

bool NodeLifecycle::keep_taints(const json& node, const std::string& ready) {
  const char* wanted = ready == "True" ? "" : ready == "False" ? kNotReady : kUnreachable;
  json taints = json::array();
  for (const json& taint : at(node, "/spec/taints")) {
    const std::string key = text_at(taint, "/key");
    if (key == wanted || (key != kNotReady && key != kUnreachable)) taints.push_back(taint);
  }
  if (*wanted != '\0' && !has_taint(node, wanted)) {
    const std::string now = base::to_rfc3339(clock_.now());
    taints.push_back({{"key", wanted}, {"effect", "NoSchedule"}, {"timeAdded", now}});
    taints.push_back({{"key", wanted}, {"effect", "NoExecute"}, {"timeAdded", now}});
  }
  const json& current = at(node, "/spec/taints");
  if (taints == current || (taints.empty() && current.empty())) return true;
  const json patch{
      {"metadata",
       {{"uid", uid_of(node)}, {"resourceVersion", text_at(node, "/metadata/resourceVersion")}}},
      {"spec", {{"taints", taints.empty() ? json() : taints}}}};
  auto written = objects_.merge_patch(kNodes, key_of(node), patch);
  if (!written) return written.error().kind == base::ErrorKind::NotFound;
  writes_.note(nodes_, *written);
  return true;
}

bool NodeLifecycle::keep_pods_not_ready(const json& node) {
  for (const auto& known : pods_.all()) {
    const ObjectPtr& pod = known->document;
    if (node_of(*pod) != key_of(node).name || !has_condition(*pod, "Ready", "True")) continue;
    json conditions = at(*pod, "/status/conditions");
    for (json& condition : conditions) {
      if (condition["type"] != "Ready") continue;
      condition["status"] = "False";
      condition["reason"] = "NodeNotReady";
      condition["lastTransitionTime"] = base::to_rfc3339(clock_.now());
    }
    const json patch{{"metadata", {{"uid", uid_of(*pod)}}},
                     {"status", {{"conditions", conditions}}}};
    auto written = objects_.merge_patch(kPods, key_of(*pod), patch, "status");
    if (!written && written.error().kind != base::ErrorKind::NotFound) return false;
    if (written) writes_.note(pods_, *written);
  }
  return true;
}

Synced NodeLifecycle::sync_pod(const api::ObjectName& key) {
  const ObjectPtr pod = pods_.find(key);
  if (!pod) return {};
  const std::string name = node_of(*pod);
  const ObjectPtr node = nodes_.find({"", name});
  if (node) {
    missing_since_.erase(name);
    const bool out_of_service = has_taint(*node, kOutOfService) && ready_of(*node) != "True";
    if (out_of_service && is_deleting(*pod)) return {remove_by_force(*pod)};
    return is_deleting(*pod) || is_terminal(*pod) ? Synced{} : evict(*pod, *node);
  }
  // The pod garbage collector waits before it believes that a node is gone.
  const base::Duration since = missing_since_.emplace(name, clock_.elapsed()).first->second;
  if (clock_.elapsed() - since >= kQuarantine) return {remove_by_force(*pod)};
  return {.again_after = since + kQuarantine - clock_.elapsed()};
}

Synced NodeLifecycle::evict(const json& pod, const json& node) {
  const json& tolerations = at(pod, "/spec/tolerations");
  std::optional<base::Duration> again_after;
  for (const json& taint : at(node, "/spec/taints")) {
    if (text_at(taint, "/effect") != "NoExecute") continue;
    auto stay = tolerated_seconds(taint, tolerations);
    if (!stay) continue;
    const std::string key = text_at(taint, "/key");
    if (*stay == 0 && (key == kNotReady || key == kUnreachable)) stay = kDefaultTolerationSeconds;
    const auto added = base::parse_rfc3339(text_at(taint, "/timeAdded"));
    const base::Duration left =
        added ? *added + std::chrono::seconds(*stay) - clock_.now() : base::Duration{};
    if (left > base::Duration::zero()) {
      again_after = earlier(again_after, left);
      continue;
    }
    recorder_.record(reference_to(kPods, pod), "Normal", "TaintManagerEviction",
                     base::cat("Marking for deletion Pod ", to_string(key_of(pod))));
    const auto gone = objects_.remove(kPods, key_of(pod), {.uid = uid_of(pod)});
    return {gone.has_value() || gone.error().kind != base::ErrorKind::Unavailable};
  }
  return {.again_after = again_after};
}

bool NodeLifecycle::remove_by_force(const json& pod) {
  const auto gone =
      objects_.remove(kPods, key_of(pod), {.uid = uid_of(pod)}, {.grace_period_seconds = 0});
  return gone.has_value() || gone.error().kind != base::ErrorKind::Unavailable;
}

}  // namespace cdom::sandbox
