// How many watch events the HTTP client takes as lines, per second and per core. An event is a line
// of 2.5 KB, as of a ResourceClaim; the argument is how many of them come in one chunk:
// kube-apiserver flushes after each event, but what waits in the socket comes together.
#include <benchmark/benchmark.h>

#include <string>

#include "compute_domain/base/text.h"
#include "compute_domain/http/client.h"
#include "cpu_time.h"
#include "event_server.h"

namespace cdom::http {
namespace {

constexpr int kEvents = 20'000;
constexpr std::size_t kEventSize = 2500;

void watch_events(benchmark::State& state, Client& client) {
  double cpu = 0;
  for ([[maybe_unused]] auto _ : state) {
    const double before = bench::own_cpu_seconds();
    auto opened = client.open({"GET", base::cat("/", state.range(0)), {}, {}});
    int events = 0;
    while (opened && opened->stream) {
      auto read = opened->stream->next(std::chrono::seconds(10));
      if (!read || read->what != StreamRead::What::Line) break;
      benchmark::DoNotOptimize(read->line.data());
      ++events;
    }
    cpu += bench::own_cpu_seconds() - before;
    if (events != kEvents / state.range(0) * state.range(0)) {
      state.SkipWithError("the stream ended early");
      return;
    }
  }
  const double events = static_cast<double>(state.iterations()) * kEvents;
  state.counters["events_per_s"] = benchmark::Counter(events, benchmark::Counter::kIsRate);
  state.counters["events_per_s_and_core"] = events / cpu;
}

}  // namespace
}  // namespace cdom::http

int main(int argc, char** argv) {
  const std::string url = cdom::bench::start_event_server(
      {.line = std::string(cdom::http::kEventSize - 1, 'x') + "\n", .events = cdom::http::kEvents});
  cdom::http::initialize_process();
  const cdom::base::SystemClock clock;
  cdom::http::ClientConfig config;
  config.base_url = url;
  const auto client = cdom::http::make_client(config, clock);
  benchmark::RegisterBenchmark(
      "watch_events/per_chunk",
      [&](benchmark::State& state) { cdom::http::watch_events(state, *client); })
      ->Arg(1)
      ->Arg(20)
      ->UseRealTime()
      ->Unit(benchmark::kMillisecond);
  benchmark::Initialize(&argc, argv);
  benchmark::RunSpecifiedBenchmarks();
}
