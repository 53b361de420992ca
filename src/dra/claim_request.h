// A request of kubelet's: a call of the driver for each claim, and one answer when each has its
// own.
#pragma once

#include <functional>
#include <map>
#include <stop_token>
#include <string>
#include <vector>

#include "compute_domain/dra/driver.h"

namespace cdom::dra {

using ClaimAnswers = std::map<std::string, ClaimAnswer>;  // by claim UID

// Claims that cannot be are answered without a call, equal ones share one. `done` is called once,
// with an answer for each claim, by the thread that has the last one. Any thread.
void post_request(Driver& driver, Operation operation, const std::vector<Claim>& claims,
                  const std::stop_token& stop, std::function<void(ClaimAnswers)> done);

}  // namespace cdom::dra
