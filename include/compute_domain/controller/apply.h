// apply: carries out a Plan, in order, up to the first action that does not succeed.
//
// Every write has its precondition in the request. What the API server answers never goes into a
// store: the versions written are given back, and the key waits until the informers have seen them.
// Thread-safe; one call per key at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "compute_domain/api/codec.h"
#include "compute_domain/api/meta.h"
#include "compute_domain/base/metrics.h"
#include "compute_domain/base/result.h"
#include "compute_domain/controller/memory.h"
#include "compute_domain/controller/workloads.h"
#include "compute_domain/core/plan.h"
#include "compute_domain/kube/client.h"
#include "compute_domain/kube/events.h"

namespace cdom::controller {

// What a key has to see in its stores before it is reconciled again.
struct Written {
  std::uint64_t domains = 0, templates = 0, lists = 0, slices = 0, cliques = 0, nodes = 0;

  friend bool operator==(const Written&, const Written&) = default;
};

Written newest_of(const Written& a, const Written& b);

struct Applied {
  base::Result<void> result;
  Written written;
  std::size_t actions = 0;  // that succeeded, with Events that were dropped
  // Which of them those are, by their place in the plan.
  std::set<std::size_t> dropped = {};
  // Some of those are of objects that the next plan has an Event for, too: it is worth a look
  // later, when there may be a place.
  bool has_untold = false;
};

// All ComputeDomains that exist, as one live list had them.
struct ListedDomains {
  std::map<std::string, api::ObjectName> by_uid;
  std::vector<api::Unreadable> unreadable;
};

class RollCall;

class Apply {
 public:
  Apply(const kube::Client& client, kube::EventRecorder& events, Memory& memory,
        Workloads& workloads, const base::Clock& clock, base::Registry* metrics);
  ~Apply();

  // The pulse of who calls: beaten before each action, and within those that send many requests.
  using Beat = std::function<void()>;

  Applied operator()(
      const core::Plan& plan, const Beat& beat = [] {}) const;
  // The same for a plan that is one of several of one decision. Their proofs share `domains`, which
  // are listed once one of them needs it.
  Applied operator()(const core::Plan& plan, std::optional<ListedDomains>& domains,
                     const Beat& beat) const;

 private:
  void note_unheard(const core::Plan& plan, std::size_t at, const base::Error& error) const;

  const kube::Client& client_;
  kube::EventRecorder& events_;
  Memory& memory_;
  Workloads& workloads_;
  const base::Clock& clock_;
  base::Registry* const metrics_;
  const std::unique_ptr<RollCall> roll_call_;  // of all plans
};

}  // namespace cdom::controller
