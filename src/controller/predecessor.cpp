#include "compute_domain/controller/predecessor.h"

#include <algorithm>

#include "compute_domain/base/log.h"
#include "compute_domain/base/text.h"

namespace cdom::controller {

namespace {

using base::cat;

// Of its chart; and the Lease of its chart, and that of its program without one.
constexpr char kControllerLabel[] = "dra-driver-nvidia-gpu-component=controller";
constexpr const char* kLeases[] = {"dra-driver-nvidia-gpu-controller",
                                   "nvidia-compute-domain-controller"};

template <class T>
std::vector<T> list(const kube::Client& client, const kube::Selection& of) {
  auto objects = client.list_all<T>(of);
  if (objects) return *std::move(objects);
  base::log_debug(
      "cannot see whether NVIDIA's ComputeDomain controller runs",
      {{"kind", std::string(api::kind_of<T>().kind)}, {"error", objects.error().message}});
  return {};
}

bool is_held(const api::Lease& lease, base::Time now) {
  return !lease.holder.empty() && lease.renewed &&
         *lease.renewed + std::chrono::seconds(lease.duration_seconds) > now;
}

}  // namespace

std::optional<std::string> find_predecessor(const kube::Client& client, base::Time now,
                                            const api::ObjectName& own_lease) {
  for (const auto& deployment :
       list<api::Deployment>(client, {.label_selector = kControllerLabel})) {
    if (deployment.ready_replicas == 0) continue;
    return cat("Deployment ", api::to_string(api::name_of(deployment.meta)));
  }
  for (const char* name : kLeases) {
    const std::string selector = cat("metadata.name=", name);
    for (const auto& lease : list<api::Lease>(client, {.field_selector = selector})) {
      if (api::name_of(lease.meta) == own_lease || !is_held(lease, now)) continue;
      return cat("Lease ", api::to_string(api::name_of(lease.meta)), ", held by ", lease.holder);
    }
  }
  return std::nullopt;
}

}  // namespace cdom::controller
