#include "controller/main/predecessor_watch.h"

#include <utility>

#include "compute_domain/base/pause.h"
#include "compute_domain/controller/predecessor.h"

namespace cdom::program {

namespace {

using controller::Look;

// Reading all Deployments of a cluster costs more than reading a few pods.
constexpr int kPodLooksPerDeploymentLook = 10;

}  // namespace

PredecessorWatch::PredecessorWatch(const kube::Client& client, base::Pulses& pulses,
                                   std::string own_namespace,
                                   std::function<void(const std::string&)> on_found,
                                   base::Duration between_looks)
    : thread_([&client, &pulse = pulses.add("predecessor"), ns = std::move(own_namespace),
               on_found = std::move(on_found), between_looks](const std::stop_token& stop) {
        for (int look = 1;; ++look) {
          pulse.beat();
          if (!base::pause(stop, between_looks)) break;
          pulse.beat();
          const bool looks_far = look % kPodLooksPerDeploymentLook == 0;
          const auto found =
              controller::find_predecessor(client, looks_far ? Look::AtDeployments : Look::AtPods,
                                           ns, [&pulse] { pulse.beat(); });
          if (!found) continue;
          on_found(*found);
          break;
        }
        pulse.rest();
      }) {}

}  // namespace cdom::program
