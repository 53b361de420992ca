// FilledCluster: what the controller reads of a cluster, filled by hand: from files, or from what
// somebody else has read. One thread.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "compute_domain/base/clock.h"
#include "compute_domain/controller/gather.h"

namespace cdom::controller {

class FilledCluster {
 public:
  // `clock` must outlive it.
  FilledCluster(core::Settings settings, const base::Clock& clock);

  // T of WatchedKinds; as it is, or as the informers would store it: stored().
  template <class T>
  void put(Stored<T> object) {
    filled_.of<T>().put(std::move(object));
  }
  void put(api::Job job) { jobs_.push_back(std::move(job)); }
  void put_pod(core::PodFacts pod) { pods_.push_back(std::move(pod)); }

  // Once all is there: what the running controller learns of pods and Jobs. The namespaces with
  // claims that name no domain.
  std::set<std::string> learn_workloads();
  // Decides, once, who gets which clique, and keeps the verdicts for later keys; with what the plan
  // would write in the place of what was.
  core::PlacementPlan place();
  // The agents' pods that were put are all that there are: a node without one has had none for
  // long; unless there is none at all.
  void learn_agents();

  [[nodiscard]] Sources sources() const {
    return {stores_, memory_, settings_, clock_, workloads_};
  }
  [[nodiscard]] const Stores& stores() const { return stores_; }

 private:
  const core::Settings settings_;
  const base::Clock& clock_;
  FilledStores filled_;
  const Stores stores_ = filled_.view();
  Memory memory_;
  Workloads workloads_;
  std::vector<api::Job> jobs_;
  std::vector<core::PodFacts> pods_;
};

}  // namespace cdom::controller
