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

  explicit Health(const std::string& metrics_path = "/metrics") {
    metrics.counter("answers_total", "Of this test.", {}).add();
    auto started =
        serve_health({"127.0.0.1:0", metrics_path}, metrics, pulses, [this] { return lack; });
    if (!started) throw std::runtime_error(started.error().message);
    server = std::move(*started);
    client = http::make_client({.base_url = base::cat("http://", server->address())}, clock);
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

TEST(HealthServer, ShowsMetricsWhereItIsToldTo) {
  EXPECT_THAT(Health().get("/metrics"), HasSubstr("answers_total 1"));
  Health elsewhere("/numbers");
  EXPECT_THAT(elsewhere.get("/numbers?x=1"), HasSubstr("answers_total 1"));
  EXPECT_EQ(elsewhere.get("/metrics"), "404 try /healthz, /readyz or /numbers\n");
  EXPECT_TRUE(Health("").get("/metrics").starts_with("404 "));
}

}  // namespace
}  // namespace cdom::bin
