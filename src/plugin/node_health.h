// NodeHealth: whether a GPU node can serve, for `check`, `topology` and a page alike. Pure.
#pragma once

#include <string>

#include "compute_domain/plugin/check.h"
#include "plugin/facts.h"

namespace cdom::plugin {

struct NodeHealth {
  enum class Cause {
    None,
    NoReport,
    Doubted,   // its report may not be true any more
    Unsaid,    // its agent has not said whether it can serve
    ImexDied,  // a daemon has failed of a group that it still serves
    CannotServe,
    NoSlice,  // it can serve, and offers nothing
    Tainted,  // it could serve, and a taint that its machine no longer deserves keeps pods away
    Lacks,    // it serves, and does not meet a requirement all the same
  };
  Cause cause = Cause::None;
  Verdict verdict = Verdict::Ok;  // Ok with a cause: somebody wanted it so
  std::string reason;             // a name of core/reasons.h, or what the node says; "" for none
  std::string message;            // of the reason
  std::string remedy;
  std::string command;  // that does it; "" for none
};

// Whether somebody wants no agent on it. It is looked at only if it has reported all the same.
bool is_left_out(const api::Node& node);

NodeHealth health_of(const Facts& facts, const std::string& node);

// "FabricNotReady: GPU 3 has not joined the NVLink fabric"; "" without a cause.
std::string text_of(const NodeHealth& health);

}  // namespace cdom::plugin
