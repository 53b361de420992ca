// A Job with the domain that is made for it, against the same Job with a domain that was applied
// before: in generations, in the process of compute-domain-sandbox. From the POST of the Job to the
// last claim prepared.
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

constexpr int kNodes = 18;

double milliseconds(base::Duration span) {
  return std::chrono::duration<double, std::milli>(span).count();
}

double measure(bench::Formation& formation, const std::string& name, bool is_automatic) {
  const base::Duration took = formation.run_job(name, kNodes, is_automatic);
  formation.take_down_job(name, is_automatic);
  return milliseconds(took);
}

}  // namespace

int main(int argc, char** argv) {
  http::initialize_process();
  base::configure_log(base::LogLevel::Error, base::LogFormat::Text);
  const int runs = argc > 1 ? std::stoi(argv[1]) : 50;
  try {
    const base::SystemClock clock;
    bench::Moments moments(clock);
    program::SandboxFlags flags;
    flags.racks = 1;
    const auto sandbox = program::EmbeddedSandbox::start(
        flags, clock, [&](sandbox::ClusterPorts& ports) { moments.observe(ports); });
    if (!sandbox) throw std::runtime_error(sandbox.error().message);
    while (!(*sandbox)->is_up()) std::this_thread::sleep_for(10ms);
    const auto user = (*sandbox)->server().client(sandbox::admin_user());
    bench::Formation formation(*user, clock, moments);
    std::vector<double> applied, automatic, ratio;
    for (int run = -1; run < runs; ++run) {
      const double first = measure(formation, base::cat("applied-", run + 1), false);
      const double second = measure(formation, base::cat("automatic-", run + 1), true);
      if (run < 0) continue;  // the first one warms up
      applied.push_back(first);
      automatic.push_back(second);
      ratio.push_back(second / first);
    }
    const std::string what = "automatic: Job of 18 posted -> last claim prepared, ";
    bench::print({what + "domain applied before", "ms", applied, {}, ""});
    bench::print(
        {what + "domain made for it", "ms", automatic, {}, "in generations with the above"});
    bench::print({what + "as a multiple", "ratio", ratio, {{"p50", 1.2}}, ""});
  } catch (const std::exception& failure) {
    std::fprintf(stderr, "automatic_bench: %s\n", failure.what());
    return 1;
  }
  return 0;
}
