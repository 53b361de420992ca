#include "sandbox/main/joined_nodes.h"

#include <optional>
#include <thread>

#include "compute_domain/base/log.h"
#include "compute_domain/base/text.h"
#include "compute_domain/kube/client.h"
#include "sandbox/main/cluster_loop.h"
#include "sandbox/main/sandbox_agent.h"

namespace cdom::program {
namespace {

// A socket does not wake the loop.
constexpr base::Duration kStep = std::chrono::milliseconds(2);

// Of resource.k8s.io. A server that does not answer is waited for.
base::Result<std::string> served_version(http::Client& administrator, const base::Clock& clock,
                                         const std::stop_token& stop) {
  kube::Client client(administrator, clock, kSandboxProgram);
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

struct JoinedNodes::Parts {
  Parts(http::ClientConfig access_in, const base::Clock& clock_in)
      : access(std::move(access_in)),
        clock(clock_in),
        administrator(http::make_client(access, clock)) {}

  base::Result<std::unique_ptr<http::Client>> agent_client(const sandbox::AgentPod& pod) const {
    auto token = sandbox::request_token(*administrator, pod);
    if (!token) {
      base::log_warning("no token for an agent", {{"pod", base::cat(pod.ns, "/", pod.name)},
                                                  {"error", token.error().message}});
      return token.error();
    }
    http::ClientConfig as_agent = access;
    as_agent.certificate_file = as_agent.certificate_pem = "";
    as_agent.key_file = as_agent.key_pem = as_agent.token_file = "";
    as_agent.token = *std::move(token);
    as_agent.user_agent = "compute-domain-agent";
    return http::make_client(std::move(as_agent), clock);
  }

  const http::ClientConfig access;
  const base::Clock& clock;
  const std::unique_ptr<http::Client> administrator;
  std::optional<sandbox::Cluster> cluster;
  std::optional<ClusterLoop> loop;
};

JoinedNodes::JoinedNodes(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {}
JoinedNodes::~JoinedNodes() = default;

base::Result<std::unique_ptr<JoinedNodes>> JoinedNodes::join(const SandboxFlags& flags,
                                                             http::ClientConfig access,
                                                             const base::Clock& clock,
                                                             const std::stop_token& stop,
                                                             const Adjust& adjust) {
  auto made = std::make_unique<Parts>(std::move(access), clock);
  auto version = served_version(*made->administrator, clock, stop);
  if (!version) return version.error();

  const Parts& parts = *made;
  sandbox::ClusterPorts ports{
      .component_client =
          [&parts](const std::string&) { return http::make_client(parts.access, parts.clock); },
      .agent_client = [&parts](const sandbox::AgentPod& pod) { return parts.agent_client(pod); },
      .agent = agent_factory(
          flags.ns, [settings = node_settings(flags)](const std::string&) { return settings; }),
      .log = {}};
  if (adjust) adjust(ports);
  sandbox::ClusterOptions options = cluster_options(flags);
  options.control_plane = false;
  options.resource_version = *std::move(version);
  made->cluster.emplace(clock, std::move(options), std::move(ports));
  made->loop.emplace(*made->cluster, clock, kStep);
  return std::unique_ptr<JoinedNodes>(new JoinedNodes(std::move(made)));
}

std::size_t JoinedNodes::count() const { return parts_->cluster->nodes().size(); }
bool JoinedNodes::is_up() const { return parts_->loop->is_up(); }

}  // namespace cdom::program
