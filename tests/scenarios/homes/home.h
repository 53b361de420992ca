// Home: where scenarios play: the stepped system in virtual time, or the cluster of a kubeconfig,
// whose nodes are simulated, or have real kubelets.
//
// A scenario sees of its home what a person with kubectl sees, so what is true in one home has to
// be true in the others. Only real nodes have more to look at: containers and processes. Each
// program links one: stepped_home.cpp or wire_home.cpp.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "compute_domain/base/clock.h"
#include "compute_domain/http/client.h"

namespace cdom::scenarios {

// What a scenario needs of its home. The cluster of a kubeconfig has to have it already.
struct Size {
  int racks = 2;
  int nodes_per_rack = 5;
  bool by_channel = false;     // what keeps domains apart
  bool shares_claims = false;  // pods on several nodes may name one claim
};

class Home {
 public:
  virtual ~Home() = default;

  // With an administrator's rights.
  virtual http::Client& administrator() = 0;
  virtual const base::Clock& clock() = 0;
  // Lets time pass until `done` holds, at most `span`; whether it does. `done` asks the API server
  // and nobody else.
  virtual bool eventually(const std::function<bool()>& done, base::Duration span) = 0;
  // The controller's process is killed, and another one starts.
  virtual void restart_controller() = 0;

  // What a shell prints to standard output for this command, on a node or in a pod's container;
  // nothing in homes where these are simulated. `command` has no single quotes.
  virtual std::optional<std::string> on_node(const std::string& /*node*/,
                                             const std::string& /*command*/) {
    return std::nullopt;
  }
  virtual std::optional<std::string> in_pod(const std::string& /*ns*/, const std::string& /*pod*/,
                                            const std::string& /*command*/) {
    return std::nullopt;
  }
};

// The home of this program.
std::unique_ptr<Home> make_home(const Size& size);

}  // namespace cdom::scenarios
