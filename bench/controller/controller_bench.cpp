// The controller against an API server in another process: domains of 18 nodes, each on a rack of
// its own; 278 of them unless it is said.
//
//   bench_controller PROGRAM [DOMAINS]
//
// The API server is the embedded one, in this process. What the controller uses is read from /proc.
#include <malloc.h>

#include <charconv>
#include <cstdio>
#include <cstring>
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
using base::cat;
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

// Waits until it takes less than a fiftieth of a core: its last keys come after the last domain is
// Ready. Until when it took more.
base::Time settle(const bench::ControllerProcess& controller, const base::Clock& clock) {
  constexpr base::Duration kLook = 3s;
  base::Time busy = clock.now();
  for (int looks = 0; looks < 60; ++looks) {
    const double before = controller.cpu_seconds();
    std::this_thread::sleep_for(kLook);
    if (controller.cpu_seconds() - before < seconds(kLook) / 50) break;
    busy = clock.now();
  }
  return busy;
}

constexpr int kUsualDomains = 278;

void measure(const std::string& program, int domains) {
  const base::SystemClock clock;
  bench::BigCluster cluster(clock, domains);
  // The bounds are of the usual size.
  const auto bound = [domains](double most) {
    return domains == kUsualDomains ? std::vector<bench::Bound>{{"max", most}}
                                    : std::vector<bench::Bound>{};
  };
  const std::string size = cat("nodes of ", cluster.node_size(), " bytes");
  {
    const base::Time installed = clock.now();
    const bench::ControllerProcess controller(program, cluster.kubeconfig());
    const base::Time labelled = cluster.wait_for_labels();
    bench::print({"controller: installed -> all nodes have its label",
                  "s",
                  {seconds(labelled - installed)},
                  {},
                  cat(cluster.nodes(), " ", size)});
    bench::print({"controller: CPU until then", "CPU s", {controller.cpu_seconds()}, {}, ""});
  }
  cluster.create_agents();
  {
    const bench::ControllerProcess controller(program, cluster.kubeconfig());
    wait_until_ready(controller, clock);
    const base::Time start = clock.now();
    std::jthread user([&] { cluster.create_domains(); });
    const base::Time made = cluster.wait_for_templates();
    bench::print({cat("controller: ", domains, " domains at once -> all templates made"),
                  "s",
                  {seconds(made - start)},
                  bound(2),
                  cat(cluster.nodes(), " ", size)});
  }
  cluster.create_claims();
  const base::Time start = clock.now();
  const bench::ControllerProcess controller(program, cluster.kubeconfig());
  const base::Time settled = cluster.wait_until_ready();
  bench::print({cat("controller: cold start -> all ", domains, " domains of 18 Ready"),
                "s",
                {seconds(settled - start)},
                bound(15),
                cat(cluster.nodes(), " claims and reports")});
  bench::print({"controller: CPU until then", "CPU s", {controller.cpu_seconds()}, {}, ""});
  const double ready = controller.cpu_seconds();
  const base::Time busy = settle(controller, clock);
  const double after = controller.cpu_seconds();
  bench::print({"controller: CPU from then on until it has settled",
                "CPU s",
                {after - ready},
                {},
                cat("within ", base::short_duration(busy - settled))});
  // It looks for memory to give back ever more seldom.
  cluster.heartbeat(1min);
  const base::Time rests = clock.now();
  const double before = controller.cpu_seconds();
  cluster.heartbeat(1min);
  const double idle = (controller.cpu_seconds() - before) / seconds(clock.now() - rests);
  bench::print(
      {"controller: memory, settled", "MiB", {controller.memory("VmRSS")}, bound(40), "resident"});
  bench::print(
      {"controller: memory, highest", "MiB", {controller.memory("VmHWM")}, {}, "resident"});
  bench::print({"controller: CPU when settled",
                "% of a core",
                {100 * idle},
                bound(1),
                "a minute after it settled, with each node's heartbeat every 5 min"});
}

// 0: it is none.
int number(const char* text) {
  int value = 0;
  const char* end = text + std::strlen(text);
  const auto [at, error] = std::from_chars(text, end, value);
  return error == std::errc() && at == end ? value : 0;
}

}  // namespace

int main(int argc, char** argv) {
  const int domains = argc == 3 ? number(argv[2]) : kUsualDomains;
  if (argc < 2 || argc > 3 || domains <= 0) {
    std::fprintf(stderr, "usage: bench_controller PROGRAM [DOMAINS]\n");
    return 2;
  }
  // The API server here keeps gigabytes: it takes them from the kernel in few and large pieces.
  mallopt(M_ARENA_MAX, 1);       // NOLINT(concurrency-mt-unsafe): no other thread runs yet
  mallopt(M_TOP_PAD, 64 << 20);  // NOLINT(concurrency-mt-unsafe)
  http::initialize_process();
  base::configure_log(base::LogLevel::Error, base::LogFormat::Text);
  try {
    measure(argv[1], domains);
  } catch (const std::exception& failure) {
    std::fprintf(stderr, "bench_controller: %s\n", failure.what());
    return 1;
  }
  return 0;
}
