// page: a ClusterView as one HTML document that needs nothing else: the topology, and for each
// ComputeDomain who reaches whom and its timeline. Pure.
//
// It makes no request, and its Content-Security-Policy allows none. What objects say is text in it,
// never markup. Troubles come first. It stays below kMostPageBytes: what has no room is counted,
// and said to be left out.
#pragma once

#include <cstddef>
#include <string>

#include "compute_domain/base/result.h"
#include "compute_domain/plugin/cluster_view.h"

namespace cdom::plugin {

inline constexpr std::size_t kMostPageBytes = 5'000'000;

// `source` is where the view is from, for people: "bundle b.tar.gz".
std::string html_of(const ClusterView& view, const std::string& source);

// The page of one ComputeDomain and of the cliques that it uses. NotFound: the view has no such
// ComputeDomain.
base::Result<std::string> html_of(const ClusterView& view, const api::ObjectName& domain,
                                  const std::string& source);

}  // namespace cdom::plugin
