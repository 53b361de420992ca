// UnreadClaims: shared claims whose pods this process has not read, so that it does not know on
// which nodes they are, and what placement counts for them.
//
// How it goes: a node has such a claim where a node list admits it, as lists outlive processes.
// Beside these each pod counts for one seat, anywhere in the claim's clique, from when this process
// decides and has seen the pod, until the pods are read, or for half a minute: a namespace whose
// pods cannot be read keeps nobody else from being placed. Made before what it is held against is
// looked up: what is read in between counts twice, and not never. Reads only.
#pragma once

#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "compute_domain/controller/gather.h"

namespace cdom::controller {

class UnreadClaims {
 public:
  explicit UnreadClaims(const Sources& from);

  // Whether a node list admits one of them on the node, where it can be used still.
  [[nodiscard]] bool are_on(const std::string& node) const;
  // The same for this claim and the lists of the domain; none if it is not one of them.
  [[nodiscard]] std::set<std::string> nodes_of(const std::string& claim_uid,
                                               const std::string& domain_uid) const;
  [[nodiscard]] std::vector<core::UnreadPods> pods() const;
  // Until fewer of these count, if nothing is read before.
  [[nodiscard]] base::Duration pods_count_for() const { return count_for_; }

 private:
  using Claim = kube::Store<api::ResourceClaim>::Snapshot;
  void count_pods(const api::ResourceClaim& claim, const UnreadClaim& unread);

  const Sources& from_;
  std::map<std::string, Claim> claims_;                               // by UID
  std::map<std::pair<std::string, std::string>, std::int64_t> pods_;  // by clique and domain
  base::Duration count_for_{};
};

}  // namespace cdom::controller
