#include "bin/health_server.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "compute_domain/base/text.h"
#include "compute_domain/http/client.h"

namespace cdom::bin {
namespace {

using std::chrono::seconds;
using ::testing::HasSubstr;

struct Health {
  base::SystemClock clock;
  base::ManualClock time_of_threads;
  base::Registry metrics;
  base::Pulses pulses{time_of_threads, seconds(60)};
  std::string lack;
  std::unique_ptr<http::Server> server;
  std::unique_ptr<http::Client> client;

  explicit Health(const std::string& metrics_path = "/metrics",
                  const std::string& listen = "127.0.0.1:0") {
    metrics.counter("answers_total", "Of this test.", {}).add();
    auto started = serve_health({listen, metrics_path}, metrics, pulses, [this] { return lack; });
    if (!started) throw std::runtime_error(started.error().message);
    server = std::move(*started);
    client = client_at(server->address());
  }
  std::unique_ptr<http::Client> client_at(const std::string& address) {
    return http::make_client({.base_url = base::cat("http://", address)}, clock);
  }
  // "200 ok\n".
  std::string get(const std::string& path) {
    const auto answer = client->send({.method = "GET", .target = path});
    return answer ? base::cat(answer->status, " ", answer->body) : answer.error().message;
  }
};

TEST(HealthServer, TellsAThreadThatIsStuck) {
  Health health;
  base::Pulses::Pulse& pulse = health.pulses.add("kubelet");
  EXPECT_EQ(health.get("/healthz"), "200 ok\n");
  health.time_of_threads.advance(seconds(61));
  EXPECT_EQ(health.get("/healthz"), "503 thread kubelet has been stuck for 61s\n");
  pulse.beat();
  EXPECT_EQ(health.get("/healthz"), "200 ok\n");
}

TEST(HealthServer, TellsWhatReadinessLacks) {
  Health health;
  EXPECT_EQ(health.get("/readyz"), "200 ok\n");
  health.lack = "not synced yet";
  EXPECT_EQ(health.get("/readyz"), "503 not synced yet\n");
  EXPECT_EQ(health.get("/healthz"), "200 ok\n");
}

TEST(HealthServer, AnswersBothFamiliesAtAPortWithoutAnAddress) {
  Health health("/metrics", ":0");
  const std::string address = health.server->address();
  const auto other = http::make_server({.listen = ":0"},
                                       [](const auto&, const auto&) { return http::Response{}; });
  // [::] takes IPv4 too; 0.0.0.0 only on a machine without IPv6.
  EXPECT_EQ(address.substr(0, address.rfind(':')),
            (*other)->address().substr(0, (*other)->address().rfind(':')));
  health.client = health.client_at("127.0.0.1" + address.substr(address.rfind(':')));
  EXPECT_EQ(health.get("/healthz"), "200 ok\n");
}

TEST(HealthServer, ShowsMetricsWhereItIsToldTo) {
  EXPECT_THAT(Health().get("/metrics"), HasSubstr("answers_total 1"));
  Health elsewhere("/numbers");
  EXPECT_THAT(elsewhere.get("/numbers?x=1"), HasSubstr("answers_total 1"));
  EXPECT_EQ(elsewhere.get("/metrics"), "404 try /healthz, /readyz or /numbers\n");
  EXPECT_TRUE(Health("").get("/metrics").starts_with("404 "));
}

}  // namespace
}  // namespace cdom::bin
