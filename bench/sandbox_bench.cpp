// The process of compute-domain-sandbox: its in-process API server, its simulated control plane and
// nodes with the real agents, the real controller, as that program runs them. How fast 18 pods form
// a domain, what 144 cost, and how fast a watcher that fell behind gets its backlog.
#include <cstdio>
#include <exception>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "compute_domain/base/log.h"
#include "compute_domain/base/text.h"
#include "compute_domain/http/client.h"
#include "compute_domain/sandbox/api_front.h"
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

class Sandbox {
 public:
  Sandbox(const base::Clock& clock, int nodes) : moments(clock) {
    program::SandboxFlags flags;
    flags.racks = 1;
    flags.nodes_per_rack = nodes;
    auto started = program::EmbeddedSandbox::start(
        flags, clock, [&](sandbox::ClusterPorts& ports) { moments.observe(ports); });
    if (!started) throw std::runtime_error(started.error().message);
    sandbox_ = *std::move(started);
    while (!sandbox_->is_up()) std::this_thread::sleep_for(10ms);
    std::this_thread::sleep_for(500ms);
    user_ = sandbox_->server().client(sandbox::admin_user());
  }
  http::Client& user() { return *user_; }

  bench::Moments moments;

 private:
  std::unique_ptr<program::EmbeddedSandbox> sandbox_;
  std::unique_ptr<http::Client> user_;
};

void measure_18(const base::Clock& clock, int runs, int spread_runs) {
  Sandbox sandbox(clock, 18);
  bench::Formation formation(sandbox.user(), clock, sandbox.moments);
  const bench::FormationOptions at_once;
  measure(formation, sandbox.moments, "warm-up", 3, at_once);
  const Samples fast = measure(formation, sandbox.moments, "once", runs, at_once);
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
  const Samples spread =
      measure(formation, sandbox.moments, "spread", spread_runs, {.spread = 2s, .on = {}});
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
}

// Members of one clique, all of a sandbox's nodes.
void measure_144(const base::Clock& clock, int runs) {
  constexpr int kNodes = 144;
  Sandbox sandbox(clock, kNodes);
  bench::Formation formation(sandbox.user(), clock, sandbox.moments);
  std::vector<double> cpu;
  for (int run = 0; run < runs; ++run) {
    const bench::FormationOptions all{.nodes = kNodes, .on = {}};
    const std::string name = base::cat("large-", run);
    cpu.push_back(formation.run(name, all).cpu_seconds);
    formation.take_down(name, all);
  }
  bench::print({"sandbox: a domain of 144: CPU",
                "CPU-s",
                cpu,
                {{"p50", 5}},
                "the whole process, pods POSTed -> Ready"});
}

// A watcher that takes nothing while the objects are written, and then all there is.
void measure_backlog(const base::Clock& clock, int runs) {
  constexpr int kEvents = 10'000;
  constexpr char kMaps[] = "/api/v1/namespaces/default/configmaps";
  std::vector<double> seconds;
  for (int run = 0; run < runs; ++run) {
    sandbox::ApiServer server(clock);
    const auto front = sandbox::serve(server, "127.0.0.1:0");
    if (!front) throw std::runtime_error(front.error().message);
    const auto write = [&](const std::string& target, const std::string& body) {
      const auto answer = server.handle({.method = "POST",
                                         .target = target,
                                         .headers = {{"Content-Type", "application/json"}},
                                         .body = body},
                                        sandbox::admin_user());
      if (answer.status != 201) throw std::runtime_error(answer.body);
    };
    write("/api/v1/namespaces", R"({"metadata":{"name":"default"}})");
    const auto client =
        http::make_client({.base_url = base::cat("http://", (*front)->address())}, clock);
    const auto opened = client->open(
        {.target = base::cat(kMaps, "?watch=true&resourceVersion=", server.resource_version())});
    if (!opened || !opened->stream) throw std::runtime_error("cannot watch ConfigMaps");
    const std::string fill(1000, 'x');
    for (int i = 0; i < kEvents; ++i) {
      write(kMaps,
            base::cat(R"({"metadata":{"name":"m)", i, R"("},"data":{"fill":")", fill, R"("}})"));
    }
    const base::Duration start = clock.elapsed();
    for (int i = 0; i < kEvents; ++i) {
      const auto read = opened->stream->next(10s);
      if (!read || read->what != http::StreamRead::What::Line) {
        throw std::runtime_error(base::cat("the watcher was cut off after ", i, " events"));
      }
    }
    seconds.push_back(milliseconds(clock.elapsed() - start) / 1000);
  }
  bench::print({"sandbox: a backlog of 10,000 events -> taken",
                "s",
                seconds,
                {{"p100", 2}},
                "1.3 KB each, over the socket"});
}

}  // namespace

int main(int argc, char** argv) {
  http::initialize_process();
  base::configure_log(base::LogLevel::Error, base::LogFormat::Text);
  const auto runs_of = [&](int argument, int otherwise) {
    return argc > argument ? std::stoi(argv[argument]) : otherwise;
  };
  try {
    const base::SystemClock clock;
    if (const int runs = runs_of(1, 200); runs > 0) measure_18(clock, runs, runs_of(2, 20));
    if (const int runs = runs_of(3, 5); runs > 0) measure_144(clock, runs);
    if (const int runs = runs_of(4, 5); runs > 0) measure_backlog(clock, runs);
  } catch (const std::exception& failure) {
    std::fprintf(stderr, "sandbox_bench: %s\n", failure.what());
    return 1;
  }
  return 0;
}
