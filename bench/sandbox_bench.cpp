// Formation in the process of compute-domain-sandbox: its in-process API server, its simulated
// control plane and 18 nodes with the real agents, the real controller; as that program runs them.
#include <cstdio>
#include <exception>
#include <string>
#include <thread>

#include "compute_domain/base/log.h"
#include "compute_domain/base/text.h"
#include "figure.h"
#include "formation.h"
#include "sandbox/main/embedded_sandbox.h"

namespace {

using namespace cdom;  // NOLINT(google-build-using-namespace): a main file names every module
using namespace std::chrono_literals;

double milliseconds(base::Duration span) {
  return std::chrono::duration<double, std::milli>(span).count();
}

struct Samples {
  std::vector<double> prepared, ready;
};

Samples measure(bench::Formation& formation, bench::Moments& moments, const std::string& name,
                int runs, const bench::FormationOptions& options) {
  Samples samples;
  for (int run = 0; run < runs; ++run) {
    const std::string domain = base::cat(name, "-", run);
    const bench::FormationTimes times = formation.run(domain, options);
    const base::Time bound = moments.seen().last_bound;
    samples.prepared.push_back(milliseconds(times.last_prepared - bound));
    samples.ready.push_back(milliseconds(times.ready - bound));
    formation.take_down(domain, options);
  }
  return samples;
}

}  // namespace

int main(int argc, char** argv) {
  http::initialize_process();
  base::configure_log(base::LogLevel::Error, base::LogFormat::Text);
  const int runs = argc > 1 ? std::stoi(argv[1]) : 200;
  const int spread_runs = argc > 2 ? std::stoi(argv[2]) : 20;
  try {
    const base::SystemClock clock;
    bench::Moments moments(clock);
    program::SandboxFlags flags;
    flags.racks = 1;
    const auto sandbox = program::EmbeddedSandbox::start(
        flags, clock, [&](sandbox::ClusterPorts& ports) { moments.observe(ports); });
    if (!sandbox) throw std::runtime_error(sandbox.error().message);
    while (!(*sandbox)->is_up()) std::this_thread::sleep_for(10ms);
    std::this_thread::sleep_for(500ms);
    const auto user = (*sandbox)->server().client(sandbox::admin_user());
    bench::Formation formation(*user, clock, moments);
    const bench::FormationOptions at_once;
    measure(formation, moments, "warm-up", 3, at_once);
    const Samples fast = measure(formation, moments, "once", runs, at_once);
    bench::print({"sandbox: last of 18 pods bound -> last claim prepared",
                  "ms",
                  fast.prepared,
                  {{"p50", 25}, {"p99", 100}},
                  "pods created at once"});
    bench::print({"sandbox: last of 18 pods bound -> domain Ready, all connected",
                  "ms",
                  fast.ready,
                  {},
                  "the same runs"});
    const Samples spread = measure(formation, moments, "spread", spread_runs, {.spread = 2s});
    bench::print({"sandbox: the same, pods arriving over 2 s: prepared",
                  "ms",
                  spread.prepared,
                  {},
                  "IMEX back-off as documented"});
    bench::print({"sandbox: the same, pods arriving over 2 s: Ready",
                  "ms",
                  spread.ready,
                  {},
                  "IMEX back-off as documented"});
  } catch (const std::exception& failure) {
    std::fprintf(stderr, "sandbox_bench: %s\n", failure.what());
    return 1;
  }
  return 0;
}
