// Simulated nodes for the cluster of a kubeconfig: kubelets, IMEX and real node agents, of which
// each has a token of its ServiceAccount that is bound to its pod, so that permissions are real.
#include <cstdio>
#include <thread>

#include "bin/cluster_loop.h"
#include "bin/sandbox_agent.h"
#include "bin/sandbox_run.h"
#include "compute_domain/base/log.h"
#include "compute_domain/base/text.h"
#include "compute_domain/kube/client.h"
#include "compute_domain/kube/kubeconfig.h"

namespace cdom::bin {
namespace {

// A socket does not wake the loop.
constexpr base::Duration kPoll = std::chrono::milliseconds(2);

// Of resource.k8s.io. A server that does not answer is waited for.
base::Result<std::string> served_version(http::Client& administrator, const base::Clock& clock,
                                         const std::stop_token& stop) {
  kube::Client client(administrator, clock, "compute-domain-sandbox");
  auto discovered = client.discover();
  while (!discovered && discovered.error().kind == base::ErrorKind::Unavailable &&
         !stop.stop_requested()) {
    std::this_thread::sleep_for(std::chrono::milliseconds(200));
    discovered = client.discover();
  }
  if (!discovered) return discovered.error();
  return client.version_of(api::kind_of<api::ResourceClaim>());
}

}  // namespace

int run_nodes(const SandboxFlags& flags, Signals& signals) {
  const base::SystemClock clock;
  const auto access = kube::load_kubeconfig(flags.kubeconfig);
  if (!access) {
    std::fprintf(stderr, "compute-domain-sandbox: %s\n", access.error().message.c_str());
    return 2;
  }
  http::ClientConfig config = access->http;
  config.user_agent = "compute-domain-sandbox";
  const auto administrator = http::make_client(config, clock);

  sandbox::ClusterPorts ports{
      .component_client = [&](const std::string&) { return http::make_client(config, clock); },
      .agent_client =
          [&](const sandbox::AgentPod& pod) -> base::Result<std::unique_ptr<http::Client>> {
        auto token = sandbox::request_token(*administrator, pod);
        if (!token) {
          base::log_warning("no token for an agent", {{"pod", base::cat(pod.ns, "/", pod.name)},
                                                      {"error", token.error().message}});
          return token.error();
        }
        http::ClientConfig as_agent = config;
        as_agent.certificate_file = as_agent.certificate_pem = "";
        as_agent.key_file = as_agent.key_pem = as_agent.token_file = "";
        as_agent.token = *std::move(token);
        as_agent.user_agent = "compute-domain-agent";
        return http::make_client(std::move(as_agent), clock);
      },
      .agent = agent_factory(flags.ns),
      .log = {}};
  sandbox::ClusterOptions options = cluster_options(flags);
  options.control_plane = false;
  const std::stop_token stop = signals.token();
  const auto version = served_version(*administrator, clock, stop);
  if (!version) {
    std::fprintf(stderr, "compute-domain-sandbox: %s\n", version.error().message.c_str());
    return 1;
  }
  options.resource_version = *version;
  sandbox::Cluster cluster(clock, std::move(options), std::move(ports));
  const std::size_t count = cluster.nodes().size();
  ClusterLoop loop(cluster, clock, kPoll);

  bool has_told = false;
  while (!stop.stop_requested()) {
    if (!has_told && loop.is_up()) {
      std::printf("ready: %zu nodes\n", count);
      std::fflush(stdout);
      has_told = true;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
  return 0;
}

}  // namespace cdom::bin
