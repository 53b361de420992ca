// The controller against an API server in another process: 5,004 nodes, 278 domains of 18.
//
//   bench_controller PROGRAM
//
// The API server is the embedded one, in this process. What the controller uses is read from /proc.
#include <cstdio>
#include <exception>
#include <stdexcept>
#include <thread>

#include "big_cluster.h"
#include "compute_domain/base/log.h"
#include "compute_domain/base/text.h"
#include "compute_domain/http/client.h"
#include "controller_process.h"
#include "figure.h"

namespace {

using namespace cdom;  // NOLINT(google-build-using-namespace): a main file names every module
using namespace std::chrono_literals;

double seconds(base::Duration span) { return std::chrono::duration<double>(span).count(); }

void wait_until_ready(const bench::ControllerProcess& controller, const base::Clock& clock) {
  const auto client = http::make_client({.base_url = controller.health_url()}, clock);
  for (int i = 0; i < 6000; ++i) {
    const auto answer = client->send({.method = "GET", .target = "/readyz"});
    if (answer && answer->status == 200) return;
    std::this_thread::sleep_for(10ms);
  }
  throw std::runtime_error("the controller is not ready after a minute");
}

void measure(const std::string& program) {
  const base::SystemClock clock;
  bench::BigCluster cluster(clock);
  const std::string size = base::cat("nodes of ", cluster.node_size(), " bytes");
  {
    const bench::ControllerProcess controller(program, cluster.kubeconfig());
    wait_until_ready(controller, clock);
    const base::Time start = clock.now();
    std::jthread user([&] { cluster.create_domains(); });
    const base::Time made = cluster.wait_for_templates();
    bench::print({"controller: 278 domains at once -> all templates made",
                  "s",
                  {seconds(made - start)},
                  {{"max", 2}},
                  "5,004 " + size});
  }
  cluster.create_claims();
  const base::Time start = clock.now();
  const bench::ControllerProcess controller(program, cluster.kubeconfig());
  const base::Time settled = cluster.wait_until_ready();
  bench::print({"controller: cold start -> all 278 domains of 18 Ready",
                "s",
                {seconds(settled - start)},
                {{"max", 15}},
                "5,004 claims, lists and reports"});
  bench::print({"controller: CPU until then", "CPU s", {controller.cpu_seconds()}, {}, ""});
  std::this_thread::sleep_for(3s);
  const double before = controller.cpu_seconds();
  constexpr base::Duration kIdle = 20s;
  cluster.heartbeat(kIdle);
  const double idle = controller.cpu_seconds() - before;
  bench::print({"controller: memory, settled",
                "MiB",
                {controller.memory("VmRSS")},
                {{"max", 64}},
                "resident"});
  bench::print(
      {"controller: memory, highest", "MiB", {controller.memory("VmHWM")}, {}, "resident"});
  bench::print({"controller: CPU when settled",
                "% of a core",
                {100 * idle / seconds(kIdle)},
                {{"max", 1}},
                "with each node's heartbeat every 5 min"});
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: bench_controller PROGRAM\n");
    return 2;
  }
  http::initialize_process();
  base::configure_log(base::LogLevel::Error, base::LogFormat::Text);
  try {
    measure(argv[1]);
  } catch (const std::exception& failure) {
    std::fprintf(stderr, "bench_controller: %s\n", failure.what());
    return 1;
  }
  return 0;
}
