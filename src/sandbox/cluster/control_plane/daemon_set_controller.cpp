#include "sandbox/cluster/control_plane/daemon_set_controller.h"

#include <nlohmann/json.hpp>

#include "sandbox/cluster/node/pod_facts.h"

namespace cdom::sandbox {
namespace {

// Pods of all nodes change together, and each look counts them all.
constexpr base::Duration kPace = std::chrono::seconds(1);

}  // namespace

DaemonSetController::DaemonSetController(const kube::Client& client, JsonInformer& daemon_sets,
                                         JsonInformer& pods, const base::Clock& clock)
    : objects_(client), daemon_sets_(daemon_sets), pods_(pods), writes_(clock), queue_(clock) {
  daemon_sets.on_change([this](const Change& change) { queue_.add(change.key); });
  pods.on_change([this](const Change& change) { see_pod(change); });
}

void DaemonSetController::see_pod(const Change& change) {
  for (const ObjectPtr& pod : {change.before, change.after}) {
    const std::string uid = pod ? controller_uid(*pod, kDaemonSets.kind) : std::string();
    if (uid.empty()) continue;
    for (const json& owner : at(*pod, "/metadata/ownerReferences")) {
      if (text_at(owner, "/uid") != uid) continue;
      queue_.add_after({change.key.ns, text_at(owner, "/name")}, kPace);
    }
  }
}

bool DaemonSetController::step() {
  if (!daemon_sets_.has_synced() || !pods_.has_synced() || !writes_.all_seen()) return false;
  return sync_next(queue_, [this](const auto& key) { return sync(key); });
}

std::optional<base::Duration> DaemonSetController::next_due() const {
  return earlier(queue_.next_due(), writes_.next_due());
}

json DaemonSetController::count(const json& daemon_set) const {
  const std::string uid = uid_of(daemon_set);
  std::int64_t pods = 0, ready = 0;
  for (const auto& pod : pods_.all()) {
    if (controller_uid(*pod->document, kDaemonSets.kind) != uid) continue;
    ++pods;
    if (has_condition(*pod->document, "Ready", "True")) ++ready;
  }
  const std::int64_t lacking = pods - ready;
  return {{"currentNumberScheduled", pods},
          {"desiredNumberScheduled", pods},
          {"numberAvailable", ready > 0 ? json(ready) : json()},
          {"numberMisscheduled", 0},
          {"numberReady", ready},
          {"numberUnavailable", lacking > 0 ? json(lacking) : json()},
          {"observedGeneration", at(daemon_set, "/metadata/generation")},
          {"updatedNumberScheduled", pods > 0 ? json(pods) : json()}};
}

Synced DaemonSetController::sync(const api::ObjectName& key) {
  const ObjectPtr found = daemon_sets_.find(key);
  if (!found) return {};
  json status = count(*found);
  const json current = found->contains("status") ? found->at("status") : json::object();
  json desired = current;
  desired.merge_patch(status);
  if (desired == current) return {};
  const json patch{{"metadata", {{"uid", uid_of(*found)}}}, {"status", std::move(status)}};
  auto written = objects_.merge_patch(kDaemonSets, key, patch, "status");
  if (!written) return {written.error().kind == base::ErrorKind::NotFound};
  writes_.note(daemon_sets_, *written);
  return {};
}

}  // namespace cdom::sandbox
