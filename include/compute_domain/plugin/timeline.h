// timeline: what happened to a ComputeDomain, from the creation of its pods to Ready and after, by
// the times that objects, conditions and Events have. Pure.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "compute_domain/base/clock.h"
#include "compute_domain/base/result.h"
#include "compute_domain/plugin/cluster_view.h"

namespace cdom::plugin {

struct TimelineEntry {
  base::Time time{};
  std::string subject;  // "pods", "claim train-0-x7k2p", "node n01"
  std::string what;
  bool is_warning = false;
  bool is_event = false;  // known from an Event; else from the object itself

  friend bool operator==(const TimelineEntry&, const TimelineEntry&) = default;
};

// How long a part of the way to Ready took.
struct TimelinePhase {
  std::string key;   // for programs: "PodsCreated"
  std::string name;  // for people: "pods created"
  base::Duration took{};

  friend bool operator==(const TimelinePhase&, const TimelinePhase&) = default;
};

struct TimelineReport {
  std::string domain;
  base::Time zero{};                   // the first pod, or the domain while there is none
  bool has_pods = false;               // zero is that of a pod
  std::vector<TimelineEntry> entries;  // by time
  std::vector<TimelinePhase> phases;   // one after the other; only when it got Ready after zero
  // When it was first Ready, as far as that is known: with these pods, else with earlier ones.
  std::optional<base::Time> ready;
  // No time is known, and it is older than the Events that are kept: it may have been Ready.
  bool may_have_been_ready = false;
};

// NotFound: the view has no such ComputeDomain.
base::Result<TimelineReport> timeline(const ClusterView& view, const api::ObjectName& name);

std::string text_of(const TimelineReport& report);
std::string json_of(const TimelineReport& report);

}  // namespace cdom::plugin
