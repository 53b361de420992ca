// NodePlugin: the port through which a simulated kubelet calls its node's DRA driver.
//
// The sandbox simulates everything around the node agent and nothing of it: the program wires the
// real agent in behind this port. Every call returns at once; the kubelet calls again until a claim
// is Done or Failed, or until its patience has ended. One thread drives all nodes.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "compute_domain/base/clock.h"
#include "compute_domain/base/result.h"
#include "compute_domain/http/client.h"
#include "compute_domain/sandbox/imex.h"

namespace cdom::sandbox {

struct ClaimRef {
  std::string ns, name, uid;

  friend auto operator<=>(const ClaimRef&, const ClaimRef&) = default;
};

// Where one claim stands after one step of preparing (or unpreparing) it.
struct PrepareStep {
  enum class State {
    Done,
    Waiting,  // `reason` says for what; the caller asks again
    Failed,   // `reason` is the error that kubelet shows in an Event
  };
  State state = State::Waiting;
  std::string reason;
  std::vector<std::string> devices;  // Done: the CDI device ids that the containers get
};

class NodePlugin {
 public:
  // An agent that is destroyed has crashed: it gets no other word of its end.
  virtual ~NodePlugin() = default;
  virtual PrepareStep prepare(const ClaimRef& claim) = 0;
  // Done for a claim that this node does not know.
  virtual PrepareStep unprepare(const ClaimRef& claim) = 0;
  // The agent's own loop: one unit of work if there is any; whether there was.
  virtual bool step() = 0;
  // The Clock::elapsed() at which step() is worth calling again without other news.
  virtual std::optional<base::Duration> next_due() = 0;
};

// The files of a node, as far as an agent writes them: path to content.
struct NodeFiles {
  std::map<std::string, std::string> disk;   // survive the agent's end and a reboot
  std::map<std::string, std::string> tmpfs;  // survive the agent's end only (/run)
};

// What an agent finds on its node. The references are valid for the agent's life.
struct NodeEnvironment {
  std::string node;
  std::string boot_id;
  std::string clique;   // "<cluster uuid>.<clique id>" of the fabric; "" without one
  std::string address;  // of the node, at which its IMEX daemon is reached
  const base::Clock& clock;
  std::uint64_t seed;  // for the agent's own randomness
  http::Client& api;   // as the agent's ServiceAccount, in a token bound to its pod
  Imex& imex;
  NodeFiles& files;
  // The claims that kubelet's own record (dra_manager_state) names.
  std::function<std::vector<ClaimRef>()> kubelet_claims;
  // The clique that the fabric names now; differs from `clique` after a change.
  std::function<std::string()> clique_now;
  // Why the driver does not say it; "" when it does.
  std::function<std::string()> fabric_error;
  // Whether it says that a GPU is not healthy in its fabric.
  std::function<bool()> is_fabric_unhealthy;
  // Why no IMEX daemon of the operator can be started; "" when one can.
  std::function<std::string()> cannot_start;
};

// Starts the agent of a node: at boot, and again after each crash. An error is tried again.
using NodePluginFactory =
    std::function<base::Result<std::unique_ptr<NodePlugin>>(const NodeEnvironment&)>;

}  // namespace cdom::sandbox
