#include "plugin/main/view_source.h"

#include <cstdlib>

#include "compute_domain/base/text.h"
#include "compute_domain/http/client.h"
#include "compute_domain/kube/client.h"
#include "compute_domain/kube/kubeconfig.h"
#include "compute_domain/plugin/bundle.h"
#include "compute_domain/plugin/read_cluster.h"

namespace cdom::program {

namespace {

using base::cat;

std::string environment(const char* name) {
  const char* value = std::getenv(name);  // NOLINT(concurrency-mt-unsafe): nobody writes it
  return value == nullptr ? "" : value;
}

base::Result<plugin::ClusterView> from_cluster(const PluginFlags& flags) {
  auto access = kube::find_cluster(flags.kubeconfig, environment, flags.context);
  if (!access) return access.error();
  access->http.user_agent = cat("kubectl-compute_domain/", CDOM_VERSION);
  const std::string server = access->http.base_url;
  const base::SystemClock clock;
  const auto transport = http::make_client(access->http, clock);
  kube::Client client(*transport, clock, "kubectl-compute-domain");
  auto view = plugin::read_cluster(client,
                                   {.user = flags.ns.empty() ? access->ns : flags.ns,
                                    .operators = flags.operator_ns,
                                    .nodes = flags.node_ns},
                                   clock);
  transport->shut_down();
  if (!view) {
    return base::Error{view.error().kind,
                       cat("cannot read the cluster at ", server, ": ", view.error().message)};
  }
  return view;
}

}  // namespace

base::Result<plugin::ClusterView> view_of(const PluginFlags& flags) {
  auto view = flags.from.empty() ? from_cluster(flags) : plugin::read_bundle(flags.from);
  if (view && !flags.ns.empty()) view->namespaces.user = flags.ns;
  return view;
}

}  // namespace cdom::program
