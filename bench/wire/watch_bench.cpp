// Watch events that an informer takes, per second of CPU time: out of the socket, cut into frames
// of protobuf, decoded into ResourceClaims, and put into the store; and, in turns with it, what an
// informer of client-go takes of the same events from the same server (bench/client_go). And what
// decoding alone costs, in protobuf and in JSON.
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

double cost_of(const auto& decode) {
  const double before = bench::own_cpu_seconds();
  for (int i = 0; i < kDecodes; ++i) {
    const auto event = decode();
    if (!event || event->unreadable) std::abort();
  }
  return (bench::own_cpu_seconds() - before) * 1e6 / kDecodes;
}
template <class T>
double cost_of(const std::string& line, api::Reading reading) {
  return cost_of([&] { return api::decode_watch_event<T>(line, reading); });
}
template <class T>
double cost_of_message(const std::string& message) {
  return cost_of([&] { return api::decode_watch_event<T>(message); });
}

// Of a line of JSON by both readers, and of the same event in protobuf, if there is one.
template <class T>
void print_cost(const std::string& line, const std::string& message) {
  std::vector<double> thorough, quick, of_message;
  for (int run = 0; run < kRuns; ++run) {
    thorough.push_back(cost_of<T>(line, api::Reading::Thorough));
    quick.push_back(cost_of<T>(line, api::Reading::Quick));
    if (!message.empty()) of_message.push_back(cost_of_message<T>(message));
  }
  const std::string note = cat("of ", line.size(), " bytes; in turns");
  const std::string what = cat("decoding a watch event of a ", api::kind_of<T>().kind);
  bench::print({cat(what, ", JSON, read thoroughly"), "us", thorough, {}, note});
  bench::print({cat(what, ", JSON"), "us", quick, {}, note});
  if (message.empty()) return;
  bench::print({cat(what, ", as it comes"),
                "us",
                of_message,
                {{"p50", 4}},
                cat("in protobuf, of ", message.size(), " bytes; in turns")});
}

std::string bytes_of(std::string_view digits) {
  std::string bytes;
  for (std::size_t i = 0; i + 1 < digits.size(); i += 2) {
    bytes += static_cast<char>(std::stoi(std::string(digits.substr(i, 2)), nullptr, 16));
  }
  return bytes;
}

}  // namespace

// Without an argument, which is the program of bench/client_go, decoding alone.
int main(int argc, char** argv) {
  http::initialize_process();
  const std::string claim = bench::claim_event(), node = bench::node_event();
  std::string claim_message, node_message;
  try {
    if (argc > 1) {
      measure_informers(argv[1], claim);
      bench::WatchPeer client_go(argv[1], "encode", 0);
      claim_message = bytes_of(client_go.ask(claim));
      node_message = bytes_of(client_go.ask(node));
    }
  } catch (const std::exception& e) {
    std::fprintf(stderr, "bench_watch: %s\n", e.what());
    return 1;
  }
  print_cost<api::Node>(node, node_message);
  print_cost<api::ResourceClaim>(claim, claim_message);
  return 0;
}
