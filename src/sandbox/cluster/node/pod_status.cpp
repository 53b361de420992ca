#include "sandbox/cluster/node/pod_status.h"

#include <nlohmann/json.hpp>

#include "compute_domain/base/text.h"
#include "sandbox/cluster/objects.h"

namespace cdom::sandbox {
namespace {

using Containers = PodState::Containers;

std::string phase_of(const PodState& state) {
  switch (state.containers) {
    case Containers::Creating:
      return "Pending";
    case Containers::Running:
    case Containers::BackOff:
      return "Running";
    case Containers::Ended:
      return state.last_end && state.last_end->exit_code == 0 ? "Succeeded" : "Failed";
  }
  return "Unknown";
}

json terminated(const ContainerEnd& end, const std::string& id) {
  return {{"exitCode", end.exit_code},
          {"reason", end.reason},
          {"startedAt", base::to_rfc3339(end.started)},
          {"finishedAt", base::to_rfc3339(end.finished)},
          {"containerID", id}};
}

json container_status(const json& pod, const json& container, const PodState& state) {
  const std::string name = text_at(container, "/name");
  const std::string id = base::cat(
      "containerd://", base::hex64(base::fnv1a64(base::cat(uid_of(pod), name, state.restarts))));
  const bool is_running = state.containers == Containers::Running;
  json status{{"name", name},
              {"image", text_at(container, "/image")},
              {"imageID", ""},
              {"ready", is_running && state.is_ready},
              {"started", is_running},
              {"restartCount", state.restarts},
              {"state", json::object()},
              {"lastState", json::object()}};
  switch (state.containers) {
    case Containers::Creating:
      status["state"]["waiting"]["reason"] = "ContainerCreating";
      break;
    case Containers::Running:
      status["state"]["running"]["startedAt"] = base::to_rfc3339(state.container_started);
      status["containerID"] = id;
      break;
    case Containers::BackOff:
      status["state"]["waiting"] = {
          {"reason", "CrashLoopBackOff"},
          {"message",
           base::cat("back-off restarting failed container=", name, " pod=", key_of(pod).name)}};
      break;
    case Containers::Ended:
      if (state.last_end) status["state"]["terminated"] = terminated(*state.last_end, id);
      return status;
  }
  if (state.last_end) status["lastState"]["terminated"] = terminated(*state.last_end, id);
  return status;
}

bool is_kubelets(std::string_view type) {
  return type == "PodReadyToStartContainers" || type == "Initialized" || type == "Ready" ||
         type == "ContainersReady" || type == "PodScheduled";
}

void set_condition(json& conditions, const json& pod, std::string_view type, bool holds,
                   std::string_view reason, base::Time now) {
  json condition{{"type", type},
                 {"status", holds ? "True" : "False"},
                 {"lastProbeTime", nullptr},
                 {"lastTransitionTime", base::to_rfc3339(now)}};
  if (!reason.empty()) condition["reason"] = reason;
  for (const json& known : at(pod, "/status/conditions")) {
    if (text_at(known, "/type") == type &&
        text_at(known, "/status") == text_at(condition, "/status")) {
      condition["lastTransitionTime"] = at(known, "/lastTransitionTime");
    }
  }
  conditions.push_back(std::move(condition));
}

}  // namespace

json pod_status(const json& pod, const PodState& state, base::Time now) {
  const bool has_sandbox =
      state.containers == Containers::Running || state.containers == Containers::BackOff;
  const bool is_ready = state.containers == Containers::Running && state.is_ready;
  const bool has_succeeded = phase_of(state) == "Succeeded";
  const std::string_view why_not = is_ready        ? ""
                                   : has_succeeded ? "PodCompleted"
                                                   : "ContainersNotReady";
  json conditions = json::array();
  set_condition(conditions, pod, "PodReadyToStartContainers", has_sandbox, "", now);
  set_condition(conditions, pod, "Initialized", true, has_succeeded ? "PodCompleted" : "", now);
  set_condition(conditions, pod, "Ready", is_ready, why_not, now);
  set_condition(conditions, pod, "ContainersReady", is_ready, why_not, now);
  set_condition(conditions, pod, "PodScheduled", true, "", now);
  for (const json& known : at(pod, "/status/conditions")) {
    if (!is_kubelets(text_at(known, "/type"))) conditions.push_back(known);
  }

  json statuses = json::array();
  for (const json& container : at(pod, "/spec/containers")) {
    statuses.push_back(container_status(pod, container, state));
  }
  json status{{"phase", phase_of(state)},
              {"conditions", std::move(conditions)},
              {"hostIP", state.host_address},
              {"hostIPs", json::array({{{"ip", state.host_address}}})},
              {"startTime", base::to_rfc3339(state.pod_started)},
              {"containerStatuses", std::move(statuses)}};
  if (!state.pod_address.empty()) {
    status["podIP"] = state.pod_address;
    status["podIPs"] = json::array({{{"ip", state.pod_address}}});
  }
  return status;
}

}  // namespace cdom::sandbox
