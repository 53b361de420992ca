// why: the chain from a pod, or from a ComputeDomain, to memory that is shared over NVLink: where
// it stops, the cause, and what to do. Pure.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "compute_domain/base/result.h"
#include "compute_domain/plugin/cluster_view.h"

namespace cdom::plugin {

struct Link {
  enum class State {
    Good,
    Broken,      // here it stops; at most one link is
    NotReached,  // behind the one that is broken
  };
  std::string name;  // "Claim"
  State state = State::NotReached;
  std::string text;

  friend bool operator==(const Link&, const Link&) = default;
};
std::string_view name_of(Link::State state);

struct WhyReport {
  std::string subject;  // "pod team-a/train-0"
  std::vector<Link> links;
  std::string cause, remedy;  // "" when nothing is broken
  std::string command;        // that looks closer, or mends it; "" for none

  // The broken one; null: none is.
  [[nodiscard]] const Link* broken() const;
};

// NotFound: the view has no such pod, or no such ComputeDomain; names those that it has.
base::Result<WhyReport> why_pod(const ClusterView& view, const api::ObjectName& name);
base::Result<WhyReport> why_domain(const ClusterView& view, const api::ObjectName& name);

std::string text_of(const WhyReport& report);
std::string json_of(const WhyReport& report);

}  // namespace cdom::plugin
