// How many watch events the client takes, per second and per core.
//
// The server is a child process that writes as fast as its socket takes, so that the CPU time of
// this process is the client's alone. An event is a line of 2.5 KB, as of a ResourceClaim; the
// argument is how many of them come in one chunk: kube-apiserver flushes after each event, but what
// waits in the socket comes together.
#include <arpa/inet.h>
#include <benchmark/benchmark.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "compute_domain/base/text.h"
#include "compute_domain/http/client.h"

namespace cdom::http {
namespace {

constexpr int kEvents = 20'000;
constexpr std::size_t kEventSize = 2500;

bool send_all(int fd, const std::string& bytes) {
  std::size_t sent = 0;
  while (sent < bytes.size()) {
    const ssize_t count = ::send(fd, bytes.data() + sent, bytes.size() - sent, MSG_NOSIGNAL);
    if (count <= 0) return false;
    sent += static_cast<std::size_t>(count);
  }
  return true;
}

// Answers one request for "/N" with kEvents events, N in each chunk.
void serve_events(int fd) {
  char request[4096] = "";
  if (::recv(fd, request, sizeof request - 1, 0) <= 0) return;
  int per_chunk = 1;
  std::sscanf(request, "GET /%d", &per_chunk);
  std::string events;
  for (int i = 0; i < per_chunk; ++i) events += std::string(kEventSize - 1, 'x') + "\n";
  char size[32];
  std::snprintf(size, sizeof size, "%zx\r\n", events.size());
  const std::string chunk = base::cat(std::string(size), events, "\r\n");
  bool sent = send_all(fd, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n");
  for (int i = 0; sent && i < kEvents / per_chunk; ++i) sent = send_all(fd, chunk);
  if (sent) send_all(fd, "0\r\n\r\n");
}

// The base URL of a child process that serves events until this process ends.
std::string start_server() {
  const int listening = ::socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  if (::bind(listening, reinterpret_cast<const sockaddr*>(&address), size) != 0 ||
      ::listen(listening, 16) != 0 ||
      ::getsockname(listening, reinterpret_cast<sockaddr*>(&address), &size) != 0) {
    std::perror("bench_http: cannot listen on 127.0.0.1");
    std::exit(1);
  }
  if (::fork() == 0) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    while (true) {
      const int fd = ::accept(listening, nullptr, nullptr);
      serve_events(fd);
      ::close(fd);
    }
  }
  ::close(listening);
  return base::cat("http://127.0.0.1:", static_cast<int>(ntohs(address.sin_port)));
}

double cpu_seconds() {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_usec) / 1e6;
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

void watch_events(benchmark::State& state, Client& client) {
  double cpu = 0;
  for ([[maybe_unused]] auto _ : state) {
    const double before = cpu_seconds();
    auto opened = client.open({"GET", base::cat("/", state.range(0)), {}, {}});
    int events = 0;
    while (opened && opened->stream) {
      auto read = opened->stream->next(std::chrono::seconds(10));
      if (!read || read->what != StreamRead::What::Line) break;
      benchmark::DoNotOptimize(read->line.data());
      ++events;
    }
    cpu += cpu_seconds() - before;
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
  const std::string url = cdom::http::start_server();  // forks: before any thread
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
