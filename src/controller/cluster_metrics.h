// ClusterMetrics: domains, cliques and nodes as the stores show them, for a scrape.
//
// Made for each scrape, so that what is gone has no series. When there is more than the bounds
// allow, objects in trouble come first, and a metric of its own says how many are left out.
// Thread-safe.
#pragma once

#include <cstddef>
#include <string>

#include "compute_domain/controller/gather.h"

namespace cdom::controller {

// How many of each have series of their own.
struct MetricsBounds {
  std::size_t domains = 2'000;
  std::size_t cliques = 2'000;
  std::size_t nodes = 2'000;  // only those that lack something have any
};

// Prometheus text format.
std::string cluster_metrics(const Sources& from, const MetricsBounds& bounds = {});

}  // namespace cdom::controller
