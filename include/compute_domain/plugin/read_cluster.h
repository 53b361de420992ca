// read_cluster: a ClusterView by lists from the API server.
//
// Only reads. Each kind is one list, in pages; nothing of a list is kept that no sub-command needs.
#pragma once

#include "compute_domain/base/clock.h"
#include "compute_domain/base/result.h"
#include "compute_domain/kube/client.h"
#include "compute_domain/plugin/cluster_view.h"

namespace cdom::plugin {

// Forbidden: names the right that is missing. NotFound: the server has no resource.k8s.io that we
// speak. A CustomResourceDefinition that is not there is no error here: definitions and objects of
// its kind are empty.
base::Result<ClusterView> read_cluster(kube::Client& client, const Namespaces& namespaces,
                                       const base::Clock& clock);

}  // namespace cdom::plugin
