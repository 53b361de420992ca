#include "sandbox/cluster/scheduler/toleration.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "sandbox/cluster/objects.h"

namespace cdom::sandbox {
namespace {

bool is_tolerated(const json& taint, const json& tolerations) {
  return std::any_of(tolerations.begin(), tolerations.end(),
                     [&](const json& toleration) { return tolerates(toleration, taint); });
}

}  // namespace

bool tolerates(const json& toleration, const json& taint) {
  const std::string effect = text_at(toleration, "/effect");
  if (!effect.empty() && effect != text_at(taint, "/effect")) return false;
  const std::string key = text_at(toleration, "/key");
  if (!key.empty() && key != text_at(taint, "/key")) return false;
  if (text_at(toleration, "/operator") == "Exists") return true;
  return !key.empty() && text_at(toleration, "/value") == text_at(taint, "/value");
}

const json& untolerated_taint(const json& taints, const json& tolerations) {
  static const json kNone;
  for (const json& taint : taints) {
    const std::string effect = text_at(taint, "/effect");
    if (effect != "NoSchedule" && effect != "NoExecute") continue;
    if (!is_tolerated(taint, tolerations)) return taint;
  }
  return kNone;
}

bool tolerates_device_taints(const json& taints, const json& tolerations) {
  return untolerated_taint(taints, tolerations).is_null();
}

std::optional<std::int64_t> tolerated_seconds(const json& taint, const json& tolerations) {
  std::optional<std::int64_t> least;
  bool is_covered = false;
  for (const json& toleration : tolerations) {
    if (!tolerates(toleration, taint)) continue;
    is_covered = true;
    const json& seconds = at(toleration, "/tolerationSeconds");
    if (!seconds.is_number_integer()) continue;
    const std::int64_t given = std::max<std::int64_t>(0, seconds.get<std::int64_t>());
    least = least ? std::min(*least, given) : given;
  }
  return is_covered ? least : std::optional<std::int64_t>(0);
}

}  // namespace cdom::sandbox
