// Simulated nodes for the cluster of a kubeconfig, until a signal comes.
#include <cstdio>
#include <thread>

#include "compute_domain/kube/kubeconfig.h"
#include "sandbox/main/joined_nodes.h"
#include "sandbox/main/sandbox_run.h"

namespace cdom::program {

int run_nodes(const SandboxFlags& flags, cli::Signals& signals) {
  const base::SystemClock clock;
  const auto access = kube::load_kubeconfig(flags.kubeconfig);
  if (!access) return cli::failure(kSandboxProgram, access.error().message, 2);
  http::ClientConfig config = access->http;
  config.user_agent = kSandboxProgram;
  const std::stop_token stop = signals.token();
  const auto nodes = JoinedNodes::join(flags, std::move(config), clock, stop);
  if (!nodes) return cli::failure(kSandboxProgram, nodes.error().message);

  bool has_told = false;
  while (!stop.stop_requested()) {
    if (!has_told && (*nodes)->is_up()) {
      std::printf("ready: %zu nodes\n", (*nodes)->count());
      std::fflush(stdout);
      has_told = true;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
  return 0;
}

}  // namespace cdom::program
