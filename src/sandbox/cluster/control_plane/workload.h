// Workload: how long the containers of a simulated pod run, how they end, and what they print.
//
// A pod says so itself: by the annotations below, by `sleep N` in its command, or not at all. Pure.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "compute_domain/base/clock.h"
#include "sandbox/text/json.h"

namespace cdom::sandbox {

inline constexpr char kRunForAnnotation[] = "sandbox.compute-domain/run-for";      // "30s"
inline constexpr char kExitCodeAnnotation[] = "sandbox.compute-domain/exit-code";  // "1"

struct Workload {
  std::optional<base::Duration> lasts;  // nullopt: until somebody ends it
  int exit_code = 0;
};

// Without an annotation: `sleep N` lasts N seconds; `sleep infinity` and a container without a
// command last until the pod is deleted; any other command lasts ten seconds.
Workload workload_of(const json& pod);

// "250ms", "30s", "5m", "2h", "1h30m"; nullopt for anything else.
std::optional<base::Duration> parse_duration(std::string_view text);

// What a container prints when it starts: on which node, with which channels.
std::string start_log(const json& pod, const std::string& node,
                      const std::vector<std::string>& devices);
// And when it ends. Of one that was to look at its node, that there was nothing to look at.
std::string end_log(const json& pod, base::Duration ran, int exit_code);

}  // namespace cdom::sandbox
