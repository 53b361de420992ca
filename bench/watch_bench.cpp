// Watch events that an informer takes, per second of CPU time: out of the socket, cut into lines,
// decoded into ResourceClaims, and put into the store; and, in turns with it, what an informer of
// client-go takes of the same events from the same server (bench/client_go). And what decoding
// alone costs, by either way of reading.
#include <cstdio>
#include <stdexcept>

#include "api/reading.h"
#include "compute_domain/api/core.h"
#include "compute_domain/api/resource.h"
#include "compute_domain/base/text.h"
#include "compute_domain/http/client.h"
#include "compute_domain/kube/informer.h"
#include "cpu_time.h"
#include "figure.h"
#include "watch_events.h"
#include "watch_peer.h"

namespace {

using namespace cdom;  // NOLINT(google-build-using-namespace): a main file names every module
using base::cat;

constexpr int kEvents = 20'000;
constexpr int kRuns = 5;
constexpr int kDecodes = 5'000;

// What takes the events, and how many per second of CPU time in each run.
struct Side {
  std::string name;
  std::function<double()> cpu_seconds;
  std::vector<bench::Bound> bounds = {};
  std::vector<double> rates = {};
};

double informer_cpu_seconds(const std::string& url, const base::Clock& clock) {
  // What is measured is not whom it trusts.
  const auto transport =
      http::make_client({.base_url = url, .insecure_skip_tls_verify = true}, clock);
  const kube::Client client(*transport, clock, "bench");
  kube::Informer<api::ResourceClaim> informer(client, clock, {});
  const double before = bench::own_cpu_seconds();
  int taken = 0;
  informer.on_change([&](const auto*, const auto*) { ++taken; });
  while (taken < kEvents) {
    if (informer.step(std::chrono::seconds(1)) == kube::WatchLoop::Step::Failed) {
      throw std::runtime_error(base::to_string(*informer.last_error()));
    }
  }
  const double spent = bench::own_cpu_seconds() - before;
  informer.stop();
  return spent;
}

void measure(std::vector<Side>& sides) {
  // The first round is for what each of them does but once.
  for (int round = -1; round < kRuns; ++round) {
    for (Side& side : sides) {
      const double rate = kEvents / side.cpu_seconds();
      if (round >= 0) side.rates.push_back(rate);
    }
  }
}

void print_multiple(const Side& ours, const Side& theirs) {
  std::vector<double> multiples;
  for (std::size_t i = 0; i < ours.rates.size(); ++i) {
    multiples.push_back(ours.rates[i] / theirs.rates[i]);
  }
  bench::print({cat(ours.name, ": as a multiple of ", theirs.name),
                "ratio",
                multiples,
                {{"p50", 5, bench::Bound::Side::AtLeast}},
                "run by run"});
}

void measure_informers(const std::string& watch_peer, const std::string& claim) {
  const base::SystemClock clock;
  bench::WatchPeer server(watch_peer, "serve", kEvents);
  bench::WatchPeer client_go(watch_peer, "take", kEvents);
  const std::string urls = server.ask(claim);
  const std::string http = urls.substr(0, urls.find(' ')), https = urls.substr(http.size() + 1);
  const auto ours = [&clock](const std::string& url) {
    return [&clock, url] { return informer_cpu_seconds(url, clock); };
  };
  const auto theirs = [&client_go](const std::string& encoding, const std::string& url) {
    return [&client_go, line = cat(encoding, " ", url)] { return std::stod(client_go.ask(line)); };
  };
  std::vector<Side> sides = {
      {"informer", ours(http)},
      {"client-go, protobuf", theirs("protobuf", http)},
      {"client-go, JSON", theirs("json", http)},
      {"informer, TLS", ours(https), {{"p50", 200'000, bench::Bound::Side::AtLeast}}},
      {"client-go, TLS, protobuf", theirs("protobuf", https)},
      {"client-go, TLS, JSON", theirs("json", https)},
  };
  measure(sides);
  for (const Side& side : sides) {
    bench::print({cat(side.name, ": watch events taken"), "events per CPU s", side.rates,
                  side.bounds, cat("claims of ", claim.size(), " bytes; in turns")});
  }
  print_multiple(sides[0], sides[1]);
  print_multiple(sides[3], sides[4]);
}

template <class T>
double cost_of(const std::string& line, api::Reading reading) {
  const double before = bench::own_cpu_seconds();
  for (int i = 0; i < kDecodes; ++i) {
    const auto event = api::decode_watch_event<T>(line, reading);
    if (!event || event->unreadable) std::abort();
  }
  return (bench::own_cpu_seconds() - before) * 1e6 / kDecodes;
}

template <class T>
void print_cost(const std::string& line) {
  std::vector<double> thorough, quick;
  for (int run = 0; run < kRuns; ++run) {
    thorough.push_back(cost_of<T>(line, api::Reading::Thorough));
    quick.push_back(cost_of<T>(line, api::Reading::Quick));
  }
  const std::string note = cat("of ", line.size(), " bytes; in turns");
  const std::string_view kind = api::kind_of<T>().kind;
  bench::print(
      {cat("decoding a watch event of a ", kind, ", read thoroughly"), "us", thorough, {}, note});
  bench::print({cat("decoding a watch event of a ", kind), "us", quick, {{"p50", 4}}, note});
}

}  // namespace

// Without an argument, which is the program of bench/client_go, decoding alone.
int main(int argc, char** argv) {
  http::initialize_process();
  const std::string claim = bench::claim_event();
  try {
    if (argc > 1) measure_informers(argv[1], claim);
  } catch (const std::exception& e) {
    std::fprintf(stderr, "bench_watch: %s\n", e.what());
    return 1;
  }
  print_cost<api::Node>(bench::node_event());
  print_cost<api::ResourceClaim>(claim);
  return 0;
}
