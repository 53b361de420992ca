#include "sandbox/main/embedded_sandbox.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <thread>
#include <utility>

#include "cli/health/health_server.h"
#include "compute_domain/base/log.h"
#include "compute_domain/base/metrics.h"
#include "compute_domain/base/pulses.h"
#include "compute_domain/base/random.h"
#include "compute_domain/base/text.h"
#include "compute_domain/controller/controller.h"
#include "compute_domain/kube/client.h"
#include "compute_domain/kube/leader_election.h"
#include "compute_domain/sandbox/api_front.h"
#include "sandbox/main/agent_pages.h"
#include "sandbox/main/cluster_loop.h"
#include "sandbox/main/embedded_manifests.h"
#include "sandbox/main/sandbox_agent.h"

namespace cdom::program {
namespace {

constexpr char kController[] = "compute-domain-controller";
constexpr char kAgent[] = "compute-domain-agent";
// Every change wakes the loop; this bounds the damage should one be missed.
constexpr base::Duration kPoll = std::chrono::milliseconds(200);
// Longer than a thread of the controller ever waits for one thing.
constexpr base::Duration kStuck = std::chrono::minutes(5);

sandbox::ClusterPorts ports_of(sandbox::ApiServer& server, const SandboxFlags& flags,
                               std::shared_ptr<AgentPages> pages) {
  return {
      .component_client =
          [&server](const std::string&) { return server.client(sandbox::admin_user()); },
      .agent_client =
          [&server](const sandbox::AgentPod& pod) -> base::Result<std::unique_ptr<http::Client>> {
        return server.client(sandbox::service_account_user(pod.ns, pod.service_account, pod.node));
      },
      .agent = agent_factory(
          flags.ns, [settings = node_settings(flags)](const std::string&) { return settings; },
          std::move(pages)),
      .log = [&server](const std::string& ns, const std::string& pod, const std::string& container,
                       const std::string& text) { server.append_log(ns, pod, container, text); }};
}

// A domain may be as large as a rack, which is one clique.
core::Settings settings_of(const SandboxFlags& flags) {
  core::Settings settings{.operator_namespace = flags.ns, .shares_claims = true};
  settings.slots_per_group = std::max<std::int64_t>(settings.slots_per_group, flags.nodes_per_rack);
  return settings;
}

kube::LeaderElectionOptions election_of(const SandboxFlags& flags) {
  return {.lease = {flags.ns, kController},
          .identity = base::cat(kController, "-", base::Random(flags.seed).uuid()),
          .seed = flags.seed};
}

// The controller, on threads of its own, as its ServiceAccount. It holds the Lease of a controller,
// by which others see that one works; but it works without it too, as a process that was asleep
// has lost the Lease and cannot start again by itself.
class ControllerThread {
 public:
  ControllerThread(sandbox::ApiServer& server, const base::Clock& clock, const SandboxFlags& flags)
      : pulses_(clock, kStuck),
        transport_(server.client(sandbox::service_account_user(flags.ns, kController))),
        client_(*transport_, clock, kController, &metrics_),
        election_client_(*transport_, clock, base::cat(kController, "-election"), &metrics_),
        election_thread_([this, &clock, options = election_of(flags)](const std::stop_token& stop) {
          while (!stop.stop_requested()) {
            kube::LeaderElection(election_client_, clock, options, &metrics_).run(stop);
          }
        }),
        controller_(client_, clock, metrics_,
                    {.settings = settings_of(flags),
                     .node_namespace = flags.node_ns,
                     .instance = "sandbox",
                     .seed = flags.seed,
                     .pulses = &pulses_}),
        thread_([this](const std::stop_token& stop) {
          const std::stop_callback shut_down(stop, [this] { transport_->shut_down(); });
          if (const auto done = controller_.run(stop); !done) {
            base::log_error("the controller has stopped", {{"error", done.error().message}});
          }
        }) {}

  // Its health and its metrics. An error: the address cannot be used.
  base::Result<void> serve(const std::string& address, const base::Clock& clock) {
    auto served = cli::serve_health(
        {.listen = address}, {.metrics = metrics_,
                              .pulses = pulses_,
                              .not_ready = [this] { return controller_.not_ready(); },
                              .readers = nullptr,
                              .clock = clock,
                              .more_metrics = [this] { return controller_.scraped_metrics(); }});
    if (!served) return served.error();
    base::log_info("the controller's metrics are served", {{"address", (*served)->address()}});
    health_ = std::move(*served);
    return {};
  }

 private:
  base::Registry metrics_;
  base::Pulses pulses_;
  const std::unique_ptr<http::Client> transport_;
  kube::Client client_;
  const kube::Client election_client_;
  std::jthread election_thread_;
  controller::Controller controller_;
  std::jthread thread_;
  std::unique_ptr<http::Server> health_;
};

}  // namespace

// In the order of dependency: destroyed from the bottom.
struct EmbeddedSandbox::Parts {
  explicit Parts(const SandboxFlags& flags, const base::Clock& clock)
      : server(clock, {.seed = flags.seed}) {}

  sandbox::ApiServer server;
  std::unique_ptr<sandbox::ApiFront> front;
  std::shared_ptr<AgentPages> pages;
  std::unique_ptr<http::Server> pages_server;
  std::optional<sandbox::Cluster> cluster;
  std::optional<ClusterLoop> loop;
  std::shared_ptr<void> waking;
  std::optional<ControllerThread> controller;
};

EmbeddedSandbox::EmbeddedSandbox(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {}
EmbeddedSandbox::~EmbeddedSandbox() = default;

base::Result<std::unique_ptr<EmbeddedSandbox>> EmbeddedSandbox::start(const SandboxFlags& flags,
                                                                      const base::Clock& clock,
                                                                      const Adjust& adjust) {
  auto parts = std::make_unique<Parts>(flags, clock);
  for (const auto& [name, text] : embedded_manifests()) {
    if (const auto loaded = parts->server.load(text); !loaded) {
      return base::Error{base::ErrorKind::Invalid, base::cat(name, ": ", loaded.error().message)};
    }
  }
  // Who applies manifests/default here brings it again, with images of theirs.
  if (const auto applied = parts->server.apply(embedded_agent()); !applied) return applied.error();
  auto front = sandbox::serve(parts->server, flags.listen);
  if (!front) {
    return base::Error{base::ErrorKind::Invalid, base::cat("--listen: ", front.error().message)};
  }
  parts->front = std::move(*front);

  if (!flags.agent_metrics_listen.empty()) {
    parts->pages = std::make_shared<AgentPages>();
    auto served = serve_agent_pages(flags.agent_metrics_listen, *parts->pages);
    if (!served) {
      return base::Error{base::ErrorKind::Invalid,
                         base::cat("--agent-metrics-listen: ", served.error().message)};
    }
    parts->pages_server = *std::move(served);
    base::log_info("the agents' metrics are served", {{"address", parts->pages_server->address()}});
  }
  sandbox::ClusterPorts ports = ports_of(parts->server, flags, parts->pages);
  if (adjust) adjust(ports);
  sandbox::ClusterOptions options = cluster_options(flags);
  options.agent_daemon_set = kAgent;
  ClusterLoop& loop = parts->loop.emplace(
      parts->cluster.emplace(clock, std::move(options), std::move(ports)), clock, kPoll);
  parts->waking = parts->server.on_change([&loop] { loop.wake(); });
  if (flags.run_controller) parts->controller.emplace(parts->server, clock, flags);
  if (flags.run_controller && !flags.metrics_listen.empty()) {
    if (const auto served = parts->controller->serve(flags.metrics_listen, clock); !served) {
      return served.error();
    }
  }
  return std::unique_ptr<EmbeddedSandbox>(new EmbeddedSandbox(std::move(parts)));
}

sandbox::ApiServer& EmbeddedSandbox::server() { return parts_->server; }
std::string EmbeddedSandbox::address() const { return parts_->front->address(); }
bool EmbeddedSandbox::is_up() const { return parts_->loop->is_up(); }

}  // namespace cdom::program
