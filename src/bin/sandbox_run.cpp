#include "bin/sandbox_run.h"

#include <unistd.h>
#include <cstdio>
#include <filesystem>
#include <thread>

#include "bin/cluster_loop.h"
#include "bin/embedded_manifests.h"
#include "bin/sandbox_agent.h"
#include "compute_domain/base/log.h"
#include "compute_domain/base/metrics.h"
#include "compute_domain/base/text.h"
#include "compute_domain/controller/controller.h"
#include "compute_domain/kube/client.h"
#include "compute_domain/sandbox/api_front.h"
#include "compute_domain/sandbox/api_server.h"

namespace cdom::bin {
namespace {

constexpr char kController[] = "compute-domain-controller";
// Every change wakes the loop; this bounds the damage should one be missed.
constexpr base::Duration kPoll = std::chrono::milliseconds(200);

int fail(const std::string& what) {
  std::fprintf(stderr, "compute-domain-sandbox: %s\n", what.c_str());
  return 1;
}

std::string default_kubeconfig() {
  std::error_code error;
  auto directory = std::filesystem::temp_directory_path(error);
  if (error) directory = ".";
  return directory / base::cat("compute-domain-sandbox-", getpid(), ".kubeconfig");
}

sandbox::ClusterPorts ports_of(sandbox::ApiServer& server, const SandboxFlags& flags) {
  return {
      .component_client =
          [&server](const std::string&) { return server.client(sandbox::admin_user()); },
      .agent_client =
          [&server](const sandbox::AgentPod& pod) -> base::Result<std::unique_ptr<http::Client>> {
        return server.client(sandbox::service_account_user(pod.ns, pod.service_account, pod.node));
      },
      .agent = agent_factory(flags.ns),
      .log = [&server](const std::string& ns, const std::string& pod, const std::string& container,
                       const std::string& text) { server.append_log(ns, pod, container, text); }};
}

// The controller, on threads of its own, as its ServiceAccount.
class ControllerThread {
 public:
  ControllerThread(sandbox::ApiServer& server, const base::Clock& clock, const SandboxFlags& flags)
      : transport_(server.client(sandbox::service_account_user(flags.ns, kController))),
        client_(*transport_, clock, kController, &metrics_),
        controller_(client_, clock, metrics_,
                    {.settings = {.operator_namespace = flags.ns},
                     .instance = "sandbox",
                     .seed = flags.seed}),
        thread_([this](const std::stop_token& stop) {
          const std::stop_callback shut_down(stop, [this] { transport_->shut_down(); });
          if (const auto done = controller_.run(stop); !done) {
            base::log_error("the controller has stopped", {{"error", done.error().message}});
          }
        }) {}

 private:
  base::Registry metrics_;
  const std::unique_ptr<http::Client> transport_;
  kube::Client client_;
  controller::Controller controller_;
  std::jthread thread_;
};

}  // namespace

int run_sandbox(const SandboxFlags& flags, Signals& signals) {
  const base::SystemClock clock;
  sandbox::ApiServer server(clock, {.seed = flags.seed});
  for (const auto& [name, text] : embedded_manifests()) {
    if (const auto loaded = server.load(text); !loaded) {
      return fail(base::cat(name, ": ", loaded.error().message));
    }
  }
  auto front = sandbox::serve(server, flags.listen);
  if (!front) return fail(base::cat("--listen: ", front.error().message));

  sandbox::Cluster cluster(clock, cluster_options(flags), ports_of(server, flags));
  ClusterLoop loop(cluster, clock, kPoll);
  server.on_change([&loop] { loop.wake(); });
  std::optional<ControllerThread> controller;
  if (flags.run_controller) controller.emplace(server, clock, flags);

  const std::string file = flags.kubeconfig.empty() ? default_kubeconfig() : flags.kubeconfig;
  const auto written = sandbox::write_kubeconfig(
      file, sandbox::kubeconfig((*front)->address(), server.admin_token()));
  if (!written) return fail(base::cat("--kubeconfig: ", written.error().message));

  const std::stop_token stop = signals.token();
  while (!loop.is_up() && !stop.stop_requested()) {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  if (!stop.stop_requested()) {
    std::printf("ready: KUBECONFIG=%s\n", file.c_str());
    std::fflush(stdout);
  }
  while (!stop.stop_requested()) std::this_thread::sleep_for(std::chrono::milliseconds(100));

  controller.reset();
  server.on_change({});
  if (flags.kubeconfig.empty()) std::remove(file.c_str());
  return 0;
}

}  // namespace cdom::bin
