// ListedDomain: what a node keeps of a ComputeDomain that it has looked up to say why no node list
// admits a claim.
//
// Tenants decide how long their domains are: this is a few hundred bytes, and never much more than
// kLongestText. A value.
#pragma once

#include <cstddef>
#include <string>

#include "compute_domain/api/compute_domain.h"

namespace cdom::core {

struct ListedDomain {
  static constexpr std::size_t kLongestText = 1024;  // of `predecessor` and `problem`

  std::string uid, name;
  bool is_deleting = false;
  bool is_automatic = false;
  // What it says for as long as NVIDIA's DRA driver serves it; else "".
  std::string predecessor = {};
  // Why it cannot be read, with its name: nothing else but its UID is known then. Else "".
  std::string problem = {};

  [[nodiscard]] bool is_readable() const { return problem.empty(); }

  friend bool operator==(const ListedDomain&, const ListedDomain&) = default;
};

ListedDomain listed_domain(const api::ComputeDomain& domain);

}  // namespace cdom::core
