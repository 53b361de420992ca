#include "compute_domain/core/node_pause.h"

#include "compute_domain/api/names.h"
#include "compute_domain/base/text.h"

namespace cdom::core {

namespace {

constexpr char kCordoned[] = "cordoned";
constexpr std::string_view kDriver = "driver ";

}  // namespace

bool tells_of_pause(std::string_view key, std::string_view value) {
  // The states before it say nothing that the cordon does not say already.
  if (key == api::kDriverUpgradeLabel) return value == api::kDriverPodRestart;
  return key.starts_with(api::kGpuDeployPrefix) &&
         value.find(api::kGpuPausedFor) != std::string_view::npos;
}

NodePause pause_of(const api::Node& node) {
  NodePause pause{.is_cordoned = node.unschedulable, .driver = {}};
  for (const auto& [key, value] : node.meta.labels) {
    if (!tells_of_pause(key, value)) continue;
    pause.driver = base::cat(key, "=", value);
    break;
  }
  return pause;
}

std::string to_text(const NodePause& pause) {
  std::string driver = pause.driver.empty() ? "" : base::cat(kDriver, pause.driver);
  if (!pause.is_cordoned) return driver;
  return driver.empty() ? kCordoned : base::cat(kCordoned, "; ", driver);
}

NodePause pause_in(std::string_view text) {
  NodePause pause;
  for (const std::string& part : base::split(std::string(text), ';')) {
    const std::string_view word = base::trim(part);
    if (word == kCordoned) pause.is_cordoned = true;
    if (word.starts_with(kDriver)) pause.driver = word.substr(kDriver.size());
  }
  return pause;
}

}  // namespace cdom::core
