// Home: where scenarios play: the stepped system in virtual time, or the cluster of a kubeconfig.
//
// A scenario sees of its home what a person with kubectl sees, and nothing else; so what is true in
// one home has to be true in the others. Each program links one: stepped_home.cpp or wire_home.cpp.
#pragma once

#include <functional>
#include <memory>

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
};

// The home of this program.
std::unique_ptr<Home> make_home(const Size& size);

}  // namespace cdom::scenarios
