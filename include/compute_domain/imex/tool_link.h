// ToolLink: the driver's nvidia-imex-ctl for people, and for programs, that enter the supervisor's
// pod.
//
// In the image `nvidia-imex-ctl` is a link to the supervisor's program, which then executes the
// driver's own tool, as the supervisor has linked it in its directory. /imexd is that directory, as
// in the pods of NVIDIA's DRA driver: `nvidia-imex-ctl -c /imexd/imexd.cfg -N -j -H`.
#pragma once

#include <string>

#include "compute_domain/base/result.h"
#include "compute_domain/imex/driver_root.h"

namespace cdom::imex {

inline constexpr char kToolName[] = "nvidia-imex-ctl";

// Links the tool and its libraries in the supervisor's directory: what was linked before is
// replaced.
base::Result<void> link_tool(const DriverFiles& files, const std::string& directory);

// Returns only when it cannot: why. `arguments` as of main().
base::Error become_tool(const std::string& directory, char** arguments);

}  // namespace cdom::imex
