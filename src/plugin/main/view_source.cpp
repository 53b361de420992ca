#include "plugin/main/view_source.h"

#include <filesystem>

#include "cli/environment.h"
#include "compute_domain/base/text.h"
#include "compute_domain/http/client.h"
#include "compute_domain/kube/client.h"
#include "compute_domain/kube/kubeconfig.h"
#include "compute_domain/plugin/bundle.h"
#include "compute_domain/plugin/read_cluster.h"
#include "plugin/main/credential_program.h"

namespace cdom::program {

namespace {

using base::cat;

base::Result<SourcedView> from_bundle(const PluginFlags& flags) {
  auto view = plugin::read_bundle(flags.from);
  if (!view) return view.error();
  // What its folders are called concerns nobody else.
  const std::string file = std::filesystem::path(flags.from).filename();
  return SourcedView{*std::move(view), cat("bundle ", file)};
}

base::Result<SourcedView> from_cluster(const PluginFlags& flags,
                                       const plugin::TellPerson& tell_of_logs) {
  auto access =
      kube::find_cluster(flags.kubeconfig, cli::variable, flags.context, kube::ExecUse::Allowed);
  if (!access) return access.error();
  if (const auto got = get_credentials(*access); !got) return got.error();
  access->http.user_agent = cat("kubectl-compute_domain/", CDOM_VERSION);
  const std::string server = http::without_user(access->http.base_url);
  const base::SystemClock clock;
  const auto transport = http::make_client(access->http, clock);
  kube::Client client(*transport, clock, "kubectl-compute-domain");
  auto view = plugin::read_cluster(client,
                                   {.user = flags.ns.empty() ? access->ns : flags.ns,
                                    .operators = flags.operator_ns,
                                    .nodes = flags.node_ns},
                                   clock);
  std::vector<plugin::PodLog> logs;
  if (view && tell_of_logs) logs = plugin::read_logs(client, *view, tell_of_logs);
  transport->shut_down();
  if (!view) {
    const std::string who =
        view.error().is_unauthenticated ? cat(" (", access->source, ")") : std::string();
    return base::Error{view.error().kind,
                       cat("cannot read the cluster at ", server, who, ": ", view.error().message)};
  }
  const std::string context =
      access->context.empty() ? "" : cat(" (context ", access->context, ")");
  return SourcedView{*std::move(view), cat(server, context), std::move(logs)};
}

}  // namespace

base::Result<SourcedView> view_of(const PluginFlags& flags,
                                  const plugin::TellPerson& tell_of_logs) {
  auto found = flags.from.empty() ? from_cluster(flags, tell_of_logs) : from_bundle(flags);
  if (found && !flags.ns.empty()) found->view.namespaces.user = flags.ns;
  return found;
}

}  // namespace cdom::program
