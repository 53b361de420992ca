#include "imex/main/metrics_port.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <stdexcept>
#include <system_error>

namespace cdom::program {
namespace {

using Server = base::Result<std::unique_ptr<http::Server>>;

constexpr auto kPatience = std::chrono::seconds(20);

struct Served {
  base::SystemClock clock;
  base::Registry metrics;
  base::Pulses pulses{clock, std::chrono::minutes(1)};
  std::atomic<int> servers = 0, tries = 0;
  int threads = 0;
  std::function<void(int)> on_try = [](int) {};
  std::function<void(int)> on_thread = [](int) {};
  MetricsPort::Means means{
      .serve = [this](const cli::HealthFlags& flags, cli::HealthParts parts) -> Server {
        on_try(++tries);
        auto server = cli::serve_health(flags, std::move(parts));
        if (server) ++servers;
        return server;
      },
      .start =
          [this](const MetricsPort::Work& work) {
            on_thread(++threads);
            return std::jthread(work);
          },
      .between_tries = std::chrono::milliseconds(1)};

  // Whether it comes to serve.
  bool serves(MetricsPort& port) const {
    const auto end = std::chrono::steady_clock::now() + kPatience;
    while (servers == 0 && std::chrono::steady_clock::now() < end) {
      port.tend();
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    return servers == 1;
  }
};

const cli::HealthFlags kAnyPort{.listen = "127.0.0.1:0"};

TEST(MetricsPort, StartsItsThreadWhenTheSystemGivesOne) {
  Served served;
  served.on_thread = [](int thread) {
    if (thread <= 2) {
      throw std::system_error(std::make_error_code(std::errc::resource_unavailable_try_again));
    }
  };
  MetricsPort port(kAnyPort, served.metrics, served.pulses, served.clock, served.means);
  EXPECT_TRUE(served.serves(port));
  EXPECT_EQ(served.threads, 3);
}

TEST(MetricsPort, TriesAgainWhateverIsThrownWhereItServes) {
  Served served;
  served.on_try = [](int count) {
    if (count == 1) throw std::runtime_error("no file descriptor");
    if (count == 2) throw std::bad_alloc();
  };
  MetricsPort port(kAnyPort, served.metrics, served.pulses, served.clock, served.means);
  EXPECT_TRUE(served.serves(port));
  EXPECT_EQ(served.tries, 3);
  EXPECT_EQ(served.threads, 1);
}

TEST(MetricsPort, TriesNoMoreOftenThanItSays) {
  Served served;
  served.on_thread = [](int) {
    throw std::system_error(std::make_error_code(std::errc::io_error));
  };
  served.means.between_tries = std::chrono::seconds(30);
  base::ManualClock clock;
  MetricsPort port(kAnyPort, served.metrics, served.pulses, clock, served.means);
  for (int i = 0; i < 5; ++i) EXPECT_EQ(port.tend(), std::chrono::seconds(30));
  EXPECT_EQ(served.threads, 1);
  clock.advance(std::chrono::seconds(30));
  port.tend();
  EXPECT_EQ(served.threads, 2);
}

TEST(MetricsPort, ServesNothingWithAMistakeInItsFlags) {
  for (const cli::HealthFlags& flags :
       {cli::HealthFlags{.listen = "127.0.0.1:0", .tls_cert = "/tls.crt"},
        cli::HealthFlags{.listen = "127.0.0.1:0", .metrics_path = "/healthz"},
        cli::HealthFlags{}}) {
    Served served;
    MetricsPort port(flags, served.metrics, served.pulses, served.clock, served.means);
    EXPECT_GE(port.tend(), std::chrono::hours(1));
    EXPECT_EQ(served.threads, 0);
  }
}

}  // namespace
}  // namespace cdom::program
