// Isolation by channel against isolation by domain: the same 18 pods on the same kind of cluster,
// in generations, for IMEX daemons that are READY at once, as fast as is documented, and slowly.
#include <cstdio>
#include <exception>
#include <memory>
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

// One of the two clusters, with a formation of its own.
class Side {
 public:
  Side(const base::Clock& clock, const std::string& isolation, base::Duration imex_delay)
      : moments_(clock) {
    program::SandboxFlags flags;
    flags.racks = 1;
    flags.nodes_per_rack = kNodes;
    flags.isolation = isolation;
    flags.imex_delay = imex_delay;
    auto sandbox = program::EmbeddedSandbox::start(
        flags, clock, [&](sandbox::ClusterPorts& ports) { moments_.observe(ports); });
    if (!sandbox) throw std::runtime_error(sandbox.error().message);
    sandbox_ = *std::move(sandbox);
    while (!sandbox_->is_up()) std::this_thread::sleep_for(10ms);
    user_ = sandbox_->server().client(sandbox::admin_user());
    formation_ = std::make_unique<bench::Formation>(*user_, clock, moments_);
    for (int i = 1; i <= kNodes; ++i) {
      options_.on.push_back(base::cat(i < 10 ? "n0" : "n", i));
    }
    // Daemons of the clique come up, and what came with the nodes is written.
    std::this_thread::sleep_for(5s);
  }

  // From the last pod bound to the last answer to kubelet.
  double form(const std::string& name) {
    const bench::FormationTimes times = formation_->run(name, options_);
    const base::Duration took = times.last_prepared - moments_.seen().last_bound;
    formation_->take_down(name, options_);
    return milliseconds(took);
  }

 private:
  bench::Moments moments_;
  bench::FormationOptions options_;
  std::unique_ptr<program::EmbeddedSandbox> sandbox_;
  std::unique_ptr<http::Client> user_;
  std::unique_ptr<bench::Formation> formation_;
};

// `delay` is what a daemon takes to be READY; `most`: of the ratio.
std::vector<double> compare(const base::Clock& clock, int runs, base::Duration delay,
                            const std::string& name, double most) {
  Side by_domain(clock, "domain", delay), by_channel(clock, "channel", delay);
  std::vector<double> domain, channel, ratios;
  for (int run = 0; run < runs + 1; ++run) {
    const std::string pods = base::cat("run-", run);
    const double one = by_domain.form(pods), other = by_channel.form(pods);
    if (run == 0) continue;  // to warm up
    domain.push_back(one);
    channel.push_back(other);
    ratios.push_back(other / one);
  }
  const std::string what = base::cat("isolation, daemons ", name, ": last of 18 pods bound -> ",
                                     "last claim prepared, ");
  bench::print({what + "by domain", "ms", domain, {}, ""});
  bench::print({what + "by channel", "ms", channel, {}, ""});
  bench::print({what + "the second as a multiple of the first",
                "ratio",
                ratios,
                {{"p50", most}},
                "one after the other in generations"});
  return channel;
}

}  // namespace

int main(int argc, char** argv) {
  http::initialize_process();
  base::configure_log(base::LogLevel::Error, base::LogFormat::Text);
  const int runs = argc > 1 ? std::stoi(argv[1]) : 20;
  try {
    const base::SystemClock clock;
    const auto at_once = compare(clock, runs, 0s, "READY at once", 1.0);
    compare(clock, runs, 100ms, "READY after 100 ms", 0.5);
    const auto slow = compare(clock, runs / 2, 2s, "READY after 2 s", 0.5);
    bench::print({"isolation by channel: daemons that take 2 s, as a multiple of at once",
                  "ratio",
                  {bench::quantile(slow, 0.5) / bench::quantile(at_once, 0.5)},
                  {{"p50", 1.2}},
                  "of the medians"});
  } catch (const std::exception& failure) {
    std::fprintf(stderr, "isolation_bench: %s\n", failure.what());
    return 1;
  }
  return 0;
}
