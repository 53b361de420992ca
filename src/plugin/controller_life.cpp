#include "plugin/controller_life.h"

#include <algorithm>

#include "compute_domain/api/names.h"
#include "compute_domain/base/text.h"
#include "plugin/age.h"

namespace cdom::plugin {

namespace {

using base::cat;
using State = ControllerLife::State;

constexpr char kController[] = "compute-domain-controller";
// A Lease that is not renewed for so many of its durations belongs to nobody; clocks differ a bit.
constexpr int kSpans = 2;
// What is longer is a mistake, and no reason to believe in a controller for longer.
constexpr std::int64_t kLongestLease = 24L * 3600 * 365;  // seconds

template <class T>
const T* find_controller(const std::vector<T>& objects) {
  const auto it = std::ranges::find(objects, kController, [](const T& t) { return t.meta.name; });
  return it == objects.end() ? nullptr : &*it;
}

ControllerLife silent(const ClusterView& view, std::string found) {
  return {State::Silent, std::move(found), "see why the controller does not run, and read its log",
          cat("kubectl get pods -n ", view.namespaces.operators, " -l app=", kController)};
}

// Nobody else writes a status with a generation.
bool has_looked_after(const api::ComputeDomain& domain) {
  return domain.status && domain.status->observed_generation == domain.meta.generation &&
         domain.meta.generation > 0;
}

bool all_are_looked_after(const ClusterView& view) {
  return !view.domains.empty() && std::ranges::all_of(view.domains, has_looked_after);
}

// With leader election a pod that is ready takes a free Lease within seconds, if it may; where that
// has been switched off the Lease stays as the last holder left it. Neither shows from here.
ControllerLife by_free_lease(const ClusterView& view, const api::DeploymentRollout* deployment,
                             const std::string& lease) {
  if (deployment == nullptr || deployment->ready == 0) return silent(view, lease);
  return {State::Unseen,
          cat(deployment->ready, " of ", deployment->wanted,
              " pods of the Deployment are ready, but ", lease),
          "that is right where leader election is off; else read the controller's log",
          cat("kubectl logs -n ", view.namespaces.operators, " deployment/", kController)};
}

ControllerLife by_lease(const ClusterView& view, const api::Lease& lease,
                        const api::DeploymentRollout* deployment) {
  if (lease.holder.empty() || !lease.renewed) {
    return by_free_lease(view, deployment, "no controller holds the Lease");
  }
  const std::string renewed = cat("renewed ", age(view.taken, *lease.renewed));
  const std::chrono::seconds lasts(
      std::clamp<std::int64_t>(lease.duration_seconds, 1, kLongestLease));
  if (between(*lease.renewed, view.taken) > kSpans * lasts) {
    return by_free_lease(view, deployment,
                         cat("the Lease of ", lease.holder, " was last ", renewed));
  }
  return {State::Works, cat(lease.holder, " holds the Lease, ", renewed), "", ""};
}

}  // namespace

ControllerLife controller_life(const ClusterView& view) {
  const api::DeploymentRollout* deployment = find_controller(view.deployments);
  if (const api::Lease* lease = find_controller(view.leases))
    return by_lease(view, *lease, deployment);
  if (deployment != nullptr && deployment->ready > 0) {
    return {State::Works,
            cat(deployment->ready, " of ", deployment->wanted,
                " pods of the Deployment are ready; there is no Lease"),
            "", ""};
  }
  if (deployment != nullptr) {
    return silent(view, "no pod of the Deployment is ready");
  }
  const std::string& ns = view.namespaces.operators;
  const std::string missing =
      cat("there is neither a Lease nor a Deployment ", kController, " in namespace ", ns);
  if (all_are_looked_after(view)) {
    return {State::Unseen, cat("the ComputeDomains are looked after, although ", missing),
            "name the operator's namespace with --operator-namespace, unless the controller runs "
            "outside the cluster, as that of the sandbox may",
            ""};
  }
  return {State::Missing, missing,
          "install the operator, or name its namespace with --operator-namespace", ""};
}

}  // namespace cdom::plugin
