// History: what a watch has shown of the ComputeDomains of a namespace, from its start on: also
// what was true for a moment only.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "scenarios/homes/kubectl.h"

namespace cdom::scenarios {

class History {
 public:
  explicit History(const Kubectl& kubectl);

  // The first state in which a domain called itself Ready with fewer than `num_nodes` members, with
  // none at all, or with one that was not; "" when there was none.
  std::string false_ready(std::int64_t num_nodes);

 private:
  void read();

  std::unique_ptr<http::Stream> stream_;
  std::vector<api::ComputeDomain> states_;
};

}  // namespace cdom::scenarios
