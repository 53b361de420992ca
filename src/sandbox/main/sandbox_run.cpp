#include "sandbox/main/sandbox_run.h"

#include <unistd.h>
#include <cstdio>
#include <filesystem>
#include <thread>

#include "compute_domain/base/text.h"
#include "compute_domain/sandbox/api_front.h"
#include "sandbox/main/embedded_sandbox.h"

namespace cdom::program {
namespace {

std::string default_kubeconfig() {
  std::error_code error;
  auto directory = std::filesystem::temp_directory_path(error);
  if (error) directory = ".";
  return directory / base::cat("compute-domain-sandbox-", getpid(), ".kubeconfig");
}

}  // namespace

int run_sandbox(const SandboxFlags& flags, cli::Signals& signals) {
  const base::SystemClock clock;
  const auto sandbox = EmbeddedSandbox::start(flags, clock);
  if (!sandbox) return cli::failure(kSandboxProgram, sandbox.error().message);

  const std::string file = flags.kubeconfig.empty() ? default_kubeconfig() : flags.kubeconfig;
  const auto written = sandbox::write_kubeconfig(
      file, sandbox::kubeconfig((*sandbox)->address(), (*sandbox)->server().admin_token()));
  if (!written) {
    return cli::failure(kSandboxProgram, base::cat("--kubeconfig: ", written.error().message));
  }

  const std::stop_token stop = signals.token();
  while (!(*sandbox)->is_up() && !stop.stop_requested()) {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  if (!stop.stop_requested()) {
    std::printf("ready: KUBECONFIG=%s\n", file.c_str());
    std::fflush(stdout);
  }
  while (!stop.stop_requested()) std::this_thread::sleep_for(std::chrono::milliseconds(100));

  if (flags.kubeconfig.empty()) std::remove(file.c_str());
  return 0;
}

}  // namespace cdom::program
