// pod_cells(): READY, STATUS and RESTARTS of a pod, as kubectl users know them (Kubernetes 1.36,
// printers/internalversion, printPod).
#include <algorithm>
#include <nlohmann/json.hpp>

#include "compute_domain/base/text.h"
#include "sandbox/apiserver/printing/builtin_tables.h"
#include "sandbox/apiserver/printing/table_cell.h"
#include "sandbox/apiserver/rest/object_path.h"

namespace cdom::sandbox::server {

using base::cat;

namespace {

const json& list_at(const json& object, std::initializer_list<std::string_view> path) {
  static const json kEmpty = json::array();
  const json& list = at_path(object, path);
  return list.is_array() ? list : kEmpty;
}

std::int64_t restarts_of(const json& status) {
  return status.value("restartCount", std::int64_t{0});
}

// "Completed", "Error", "Signal:9", "ExitCode:3": why a container ended.
std::string why_terminated(const json& terminated) {
  if (const std::string& reason = text_at(terminated, {"reason"}); !reason.empty()) return reason;
  const std::int64_t signal = terminated.value("signal", std::int64_t{0});
  if (signal != 0) return cat("Signal:", signal);
  return cat("ExitCode:", terminated.value("exitCode", std::int64_t{0}));
}

bool has_condition(const json& pod, std::string_view type) {
  return std::ranges::any_of(list_at(pod, {"status", "conditions"}), [&](const json& condition) {
    return text_at(condition, {"type"}) == type && text_at(condition, {"status"}) == "True";
  });
}

struct Summary {
  std::string status;
  std::int64_t ready = 0;
  std::int64_t restarts = 0;
  std::string last_restart;  // RFC 3339
};

void note_restart(const json& container, Summary& summary) {
  summary.restarts += restarts_of(container);
  const std::string& ended = text_at(container, {"lastState", "terminated", "finishedAt"});
  summary.last_restart = std::max(summary.last_restart, ended);
}

// The first init container that has not completed decides; false when all have.
bool summarize_initialization(const json& pod, Summary& summary) {
  const json& statuses = list_at(pod, {"status", "initContainerStatuses"});
  for (std::size_t i = 0; i < statuses.size(); ++i) {
    const json& container = statuses[i];
    note_restart(container, summary);
    const json& terminated = at_path(container, {"state", "terminated"});
    const std::string& waiting = text_at(container, {"state", "waiting", "reason"});
    if (terminated.is_object() && terminated.value("exitCode", 0) == 0) continue;
    if (terminated.is_object()) {
      summary.status = cat("Init:", why_terminated(terminated));
    } else if (!waiting.empty() && waiting != "PodInitializing") {
      summary.status = cat("Init:", waiting);
    } else {
      summary.status = cat("Init:", i, "/", list_at(pod, {"spec", "initContainers"}).size());
    }
    return true;
  }
  return false;
}

void summarize_containers(const json& pod, Summary& summary) {
  bool has_running = false;
  std::string error;
  const json& statuses = list_at(pod, {"status", "containerStatuses"});
  for (auto it = statuses.rbegin(); it != statuses.rend(); ++it) {
    note_restart(*it, summary);
    const json& terminated = at_path(*it, {"state", "terminated"});
    const std::string& waiting = text_at(*it, {"state", "waiting", "reason"});
    if (!waiting.empty()) {
      summary.status = waiting;
    } else if (terminated.is_object()) {
      summary.status = why_terminated(terminated);
      if (terminated.value("exitCode", 0) != 0) error = summary.status;
    } else if (it->value("ready", false) && at_path(*it, {"state", "running"}).is_object()) {
      has_running = true;
      ++summary.ready;
    }
  }
  if (summary.status != "Completed") return;
  if (has_running && has_condition(pod, "Ready")) {
    summary.status = "Running";
  } else if (!error.empty()) {
    summary.status = error;
  } else if (has_running) {
    summary.status = "NotReady";
  }
}

Summary summary_of(const json& pod) {
  Summary summary;
  const std::string& phase = text_at(pod, {"status", "phase"});
  const std::string& reason = text_at(pod, {"status", "reason"});
  summary.status = reason.empty() ? phase : reason;
  for (const json& condition : list_at(pod, {"status", "conditions"})) {
    if (text_at(condition, {"type"}) == "PodScheduled" &&
        text_at(condition, {"reason"}) == "SchedulingGated") {
      summary.status = "SchedulingGated";
    }
  }
  const bool initializing = summarize_initialization(pod, summary);
  if (!initializing || has_condition(pod, "Initialized")) {
    summary.restarts = 0;
    summary.last_restart.clear();
    summarize_containers(pod, summary);
  }
  if (is_being_deleted(pod)) {
    if (reason == "NodeLost") {
      summary.status = "Unknown";
    } else if (phase != "Succeeded" && phase != "Failed") {
      summary.status = "Terminating";
    }
  }
  return summary;
}

}  // namespace

json pod_cells(const json& pod, base::Time now) {
  const Summary summary = summary_of(pod);
  std::string restarts = std::to_string(summary.restarts);
  if (summary.restarts > 0 && !summary.last_restart.empty()) {
    restarts += cat(" (", age_of(summary.last_restart, now), " ago)");
  }
  const auto or_none = [](const std::string& text) { return text.empty() ? "<none>" : text; };
  const json& gates = list_at(pod, {"spec", "readinessGates"});
  const auto passed = std::ranges::count_if(gates, [&](const json& gate) {
    return has_condition(pod, text_at(gate, {"conditionType"}));
  });
  return {name_of(pod),
          cat(summary.ready, "/", list_at(pod, {"spec", "containers"}).size()),
          summary.status,
          restarts,
          age_cell(pod, now),
          or_none(text_at(pod, {"status", "podIP"})),
          or_none(text_at(pod, {"spec", "nodeName"})),
          or_none(text_at(pod, {"status", "nominatedNodeName"})),
          gates.empty() ? "<none>" : cat(passed, "/", gates.size())};
}

}  // namespace cdom::sandbox::server
