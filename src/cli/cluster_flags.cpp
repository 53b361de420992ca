#include "cli/cluster_flags.h"

namespace cdom::cli {

std::vector<Flag> rows_of(ClusterFlags& flags, const std::string& namespace_is_read_by) {
  return {
      {"kubeconfig", "", text(flags.kubeconfig, "FILE"),
       "cluster to work on (KUBECONFIG; else the pod's service account)"},
      {"namespace", "NAMESPACE",
       text(flags.ns, "NAMESPACE", {base::is_dns_label, "a valid name of a namespace"}),
       "the operator's own namespace, where the node lists are", namespace_is_read_by},
  };
}

}  // namespace cdom::cli
