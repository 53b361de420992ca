// Proofs: what a live read of the API server has to show before a plan may go on.
//
// A cache that does not show an object proves nothing. Each operator() is one action of a plan, and
// deletes first what shall not be there. One plan's; not thread-safe.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "compute_domain/controller/apply.h"
#include "compute_domain/controller/memory.h"
#include "compute_domain/core/plan.h"
#include "compute_domain/core/world.h"
#include "compute_domain/kube/client.h"
#include "roll_call.h"

namespace cdom::controller {

inline api::Precondition version_of(const api::ObjectMeta& meta) {
  return {meta.uid, meta.resource_version};
}

// Whoever removed the object has done what this was for.
template <class T>
base::Result<void> unless_gone(const base::Result<T>& done) {
  if (done || done.error().kind == base::ErrorKind::NotFound) return {};
  return done.error();
}

class Proofs {
 public:
  Proofs(const kube::Client& client, Memory& memory, const base::Clock& clock, RollCall& roll_call,
         std::optional<ListedDomains>& domains, const Apply::Beat& beat)
      : client_(client),
        memory_(memory),
        clock_(clock),
        roll_call_(roll_call),
        domains_(domains),
        beat_(beat) {}

  base::Result<void> operator()(const core::EnsureTemplateAbsent& action);
  base::Result<void> operator()(const core::EnsureNodeListsAbsent& action);
  base::Result<void> operator()(const core::EnsureDomainGone& action);
  base::Result<void> operator()(const core::EnsureDomainLives& action);
  base::Result<void> operator()(const core::EnsureClaimsReleased& action);
  base::Result<void> operator()(const core::EnsurePredecessorGone& action);
  base::Result<void> operator()(const core::EnsureNodeGone& action);
  base::Result<void> operator()(const core::EnsureNodeUnused& action);

 protected:
  // kube::Client::list_kept, which may take as many requests as a tenant has objects.
  template <class T, class Keep>
  auto list_kept(const kube::Selection& of, const Keep& keep,
                 std::vector<api::Unreadable>* unreadable = nullptr) const {
    const auto keep_alive = [&](T& object) {
      beat_();
      return keep(object);
    };
    return client_.list_kept<T>(of, keep_alive, unreadable);
  }

 private:
  base::Result<void> absence_among_listed(const std::string& uid);
  [[nodiscard]] base::Result<ListedDomains> domains_now() const;
  base::Result<std::shared_ptr<const ClaimsOnNodes>> claims_on_nodes();
  [[nodiscard]] base::Result<std::vector<api::ConfigMap>> lists_of(
      const std::string& ns, const std::string& domain_uid) const;
  [[nodiscard]] base::Result<std::vector<core::StoredList>> lists_that_may_admit(
      const core::EnsureClaimsReleased& action) const;
  [[nodiscard]] base::Result<std::vector<api::ResourceClaim>> allocated_claims(
      const core::EnsureClaimsReleased& action) const;
  template <class T, class IsOurs>
  base::Result<void> ensure_absent(const api::ObjectName& name, const IsOurs& is_ours);
  template <class T>
  base::Result<void> release(const api::ObjectMeta& meta);
  template <class T>
  base::Result<void> ensure_all_absent(const kube::Selection& of);
  base::Result<void> ensure_no_pods(const kube::Selection& of);
  base::Result<void> remove_node_labels(const std::string& labelled);

  const kube::Client& client_;
  Memory& memory_;
  const base::Clock& clock_;
  RollCall& roll_call_;
  std::optional<ListedDomains>& domains_;  // one list for a decision, which may name hundreds
  const Apply::Beat& beat_;
};

}  // namespace cdom::controller
