// Scheduler: gives pods a node and their claims devices, as kube-scheduler does.
//
// How it goes, for one pod at a time: all its claims exist and stay, or it is held back and told
// nothing; filters on each node; the node that is least full, then the first by name (or in a
// seeded order), on which all devices can be allocated; finalizer, allocation and reservation of
// each claim, and of one more that it makes for devices asked for as extended resources; the
// binding. A pod that fits nowhere is told why (FailedScheduling) and tried again when the cluster
// has changed. It never decides on a state from before its own last write. One thread.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "compute_domain/kube/events.h"
#include "sandbox/cluster/control_plane/extended_resources.h"
#include "sandbox/cluster/informers.h"
#include "sandbox/cluster/json_client.h"
#include "sandbox/cluster/own_writes.h"
#include "sandbox/cluster/scheduler/device_allocator.h"
#include "sandbox/cluster/scheduler/node_fit.h"

namespace cdom::sandbox {

struct SchedulerOptions {
  bool shuffle_equal_nodes = false;  // instead of by name
};

class Scheduler : public Part {
 public:
  // Needs informers of pods, nodes, claims, slices and classes.
  Scheduler(const kube::Client& client, const Informers& informers, const base::Clock& clock,
            base::Random random, SchedulerOptions options = {});

  bool step() override;
  [[nodiscard]] std::optional<base::Duration> next_due() const override;

 private:
  struct Waiting {
    base::Duration due{};
    bool is_parked = false;  // until the cluster changes
    int attempts = 0;
    std::uint64_t turn = 0;
    std::string last_message;
  };
  // Why a pod was not scheduled, in kube-scheduler's words; "" for a race that is tried again.
  using Refusal = std::optional<std::string>;

  void see_pod(const Change& change);
  void wake_parked();
  [[nodiscard]] const api::ObjectName* next_pod() const;

  void schedule(const api::ObjectName& key);
  // The claims of the pod; nullopt: it has to wait for them.
  [[nodiscard]] std::optional<std::vector<ObjectPtr>> claims_of(const json& pod) const;
  Refusal place(const json& pod, const std::vector<ObjectPtr>& claims);
  // The allocations are those of the claims that have none, in order, and then of the `extended`
  // one, which is yet to be made.
  Refusal bind(const json& pod, const std::string& node, const std::vector<ObjectPtr>& claims,
               const std::vector<json>& allocations, const ExtendedRequests& extended);
  base::Result<void> reserve_extended(const json& pod, const ExtendedRequests& extended,
                                      const json& allocation);
  // A claim for extended resources that an attempt which failed has left behind.
  [[nodiscard]] ObjectPtr left_extended_claim(const json& pod) const;
  base::Result<void> remove_extended(json claim);
  base::Result<void> reserve(const json& pod, const json& claim, const json* allocation);
  // Takes the pod out of the claims that it has reserved; they stay allocated.
  void unreserve(const json& pod, const std::vector<ObjectPtr>& claims);
  void park(const api::ObjectName& key, const json& pod, const std::string& message);
  void tell(const json& pod, const std::string& message);
  // Ends the allocation of a claim that is allocated for other nodes, and is unused.
  bool free_claim(json claim);

  JsonClient objects_;
  const base::Clock& clock_;
  base::Random random_;
  const SchedulerOptions options_;
  const Informers& informers_;
  const JsonInformer& pods_;
  const JsonInformer& nodes_;
  const JsonInformer& claims_;
  const JsonInformer& classes_;
  kube::EventRecorder recorder_;
  OwnWrites writes_;
  DeviceAllocator allocator_;
  std::map<api::ObjectName, Waiting> waiting_;
  std::uint64_t turns_ = 0;
};

}  // namespace cdom::sandbox
