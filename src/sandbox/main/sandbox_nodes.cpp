// Simulated nodes for the cluster of a kubeconfig, until a signal comes.
#include <cstdio>
#include <thread>

#include "compute_domain/kube/kubeconfig.h"
#include "sandbox/main/joined_nodes.h"
#include "sandbox/main/sandbox_run.h"

namespace cdom::program {
namespace {

int fail(const base::Error& error, int code) {
  std::fprintf(stderr, "compute-domain-sandbox: %s\n", error.message.c_str());
  return code;
}

}  // namespace

int run_nodes(const SandboxFlags& flags, cli::Signals& signals) {
  const base::SystemClock clock;
  const auto access = kube::load_kubeconfig(flags.kubeconfig);
  if (!access) return fail(access.error(), 2);
  http::ClientConfig config = access->http;
  config.user_agent = "compute-domain-sandbox";
  const std::stop_token stop = signals.token();
  const auto nodes = JoinedNodes::join(flags, std::move(config), clock, stop);
  if (!nodes) return fail(nodes.error(), 1);

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
