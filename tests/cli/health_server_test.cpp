#include "cli/health/health_server.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <future>

#include "base/directory.h"
#include "cli/health/health_certificate.h"
#include "cli/health/metrics_access.h"
#include "cli/metrics_rig.h"
#include "cli/refusal.h"
#include "compute_domain/base/text.h"
#include "compute_domain/http/client.h"
#include "http/test_ca.h"

namespace cdom::cli {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::StartsWith;

struct Health {
  base::SystemClock clock;
  base::ManualClock time_of_threads;
  base::Registry metrics;
  base::Pulses pulses{time_of_threads, seconds(60)};
  std::string lack;
  MetricsRig rig;
  std::string ca_pem;  // HTTPS when there is one
  std::unique_ptr<http::Server> server;
  std::unique_ptr<http::Client> client;

  explicit Health(const std::string& metrics_path = "/metrics",
                  const std::string& listen = "127.0.0.1:0")
      : Health(HealthFlags{.listen = listen, .metrics_path = metrics_path}) {}
  explicit Health(const HealthFlags& flags, std::string ca = "") : ca_pem(std::move(ca)) {
    metrics.counter("answers_total", "Of this test.", {}).add();
    auto started = serve_health(
        flags, {.metrics = metrics,
                .pulses = pulses,
                .not_ready = [this] { return lack; },
                .readers = readers_of(flags.metrics_path, flags, rig.client, rig.clock),
                .clock = rig.clock,
                .more_metrics = [] { return std::string("domains 3\n"); },
                .between_looks = milliseconds(1)});
    if (!started) throw std::runtime_error(started.error().message);
    server = std::move(*started);
    client = client_at(server->address());
  }
  std::unique_ptr<http::Client> client_at(const std::string& address) {
    return http::make_client(
        {.base_url = base::cat(ca_pem.empty() ? "http" : "https", "://", address),
         .ca_pem = ca_pem},
        clock);
  }
  // "200 ok\n".
  std::string get(const std::string& path, const std::string& authorization = "") {
    http::Request request{.method = "GET", .target = path};
    if (!authorization.empty()) request.headers["Authorization"] = authorization;
    const auto answer = client->send(request);
    return answer ? base::cat(answer->status, " ", answer->body) : answer.error().message;
  }
};

// A certificate of the test's own authority, in files.
struct Certificate {
  base::Directory directory;
  http::TestCa ca;

  explicit Certificate(bool with_authentication = false) : authentication(with_authentication) {
    write(ca.issue("compute-domain", "IP:127.0.0.1"));
  }
  void write(const http::Identity& identity) const {
    directory.write("tls.crt", identity.certificate_pem);
    directory.write("tls.key", identity.key_pem);
  }
  [[nodiscard]] HealthFlags flags() const {
    return {.listen = "127.0.0.1:0",
            .tls_cert = directory.at("tls.crt"),
            .tls_key = directory.at("tls.key"),
            .authentication = authentication};
  }
  const bool authentication;
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
  EXPECT_THAT(Health().get("/metrics"),
              AllOf(HasSubstr("answers_total 1"), HasSubstr("domains 3\n"),
                    HasSubstr("process_open_fds ")));
  Health elsewhere("/numbers");
  EXPECT_THAT(elsewhere.get("/numbers?x=1"), HasSubstr("answers_total 1"));
  EXPECT_EQ(elsewhere.get("/metrics"), "404 try /healthz, /readyz or /numbers\n");
  EXPECT_TRUE(Health("").get("/metrics").starts_with("404 "));
}

TEST(HealthServer, ServesNobodyWhenItCannotAskWhoMayRead) {
  const base::ManualClock clock;
  const base::Registry metrics;
  const base::Pulses pulses(clock, seconds(60));
  const auto served = serve_health({.listen = "127.0.0.1:0", .authentication = true},
                                   {.metrics = metrics,
                                    .pulses = pulses,
                                    .not_ready = [] { return std::string(); },
                                    .readers = nullptr,
                                    .clock = clock});
  ASSERT_FALSE(served);
  EXPECT_THAT(served.error().message, HasSubstr("--metrics-authentication"));
}

TEST(HealthServer, ServesAllOfItByTls) {
  const Certificate certificate;
  Health health(certificate.flags(), certificate.ca.pem());
  for (const char* path : {"/healthz", "/readyz"}) EXPECT_EQ(health.get(path), "200 ok\n");
  EXPECT_THAT(health.get("/metrics"), HasSubstr("answers_total 1"));
  EXPECT_THAT(health.rig.line.asked(), testing::IsEmpty());
}

TEST(HealthServer, ShowsMetricsToWhoMayReadThem) {
  const Certificate certificate(true);
  Health health(certificate.flags(), certificate.ca.pem());
  const std::string reader = health.rig.token_of("prometheus");
  for (const std::string& none : {std::string(), std::string("Bearer "), "Basic " + reader, reader,
                                  "Bearer " + reader + ", Bearer x"}) {
    EXPECT_EQ(health.get("/metrics", none), "401 give a valid bearer token\n") << none;
  }
  EXPECT_THAT(health.rig.line.asked(), testing::IsEmpty());
  EXPECT_EQ(health.get("/metrics", "Bearer guess"), "401 give a valid bearer token\n");
  EXPECT_EQ(health.get("/metrics", "Bearer " + health.rig.token_of("stranger")),
            "403 the token's user may not get /metrics\n");
  EXPECT_THAT(health.get("/metrics", "Bearer " + reader),
              AllOf(StartsWith("200 "), HasSubstr("answers_total 1")));
  EXPECT_THAT(health.get("/metrics", "bearer  " + reader), StartsWith("200 "));
  for (const char* path : {"/healthz", "/readyz"}) EXPECT_EQ(health.get(path), "200 ok\n");
}

TEST(HealthServer, IsHealthyWhileTheApiServerHangs) {
  const Certificate certificate(true);
  Health health(certificate.flags(), certificate.ca.pem());
  const std::string reader = "Bearer " + health.rig.token_of("prometheus");
  health.rig.line.cut(true);
  EXPECT_EQ(health.get("/metrics", reader),
            "500 the API server could not be asked; the log says why\n");
  health.rig.line.cut(false);
  health.rig.line.hang(true);
  auto scrape = std::async(std::launch::async, [&] { return health.get("/metrics", reader); });
  health.rig.line.await_one_that_hangs();
  for (const char* path : {"/healthz", "/readyz"}) EXPECT_EQ(health.get(path), "200 ok\n");
  health.rig.line.hang(false);
  EXPECT_THAT(scrape.get(), StartsWith("200 "));
}

TEST(HealthServer, ShowsARenewedCertificate) {
  const Certificate certificate;
  Health health(certificate.flags(), certificate.ca.pem());
  EXPECT_EQ(health.get("/healthz"), "200 ok\n");
  const http::TestCa renewed;
  certificate.write(renewed.issue("compute-domain", "IP:127.0.0.1"));
  health.ca_pem = renewed.pem();
  const auto deadline = std::chrono::steady_clock::now() + seconds(20);
  do {
    health.client = health.client_at(health.server->address());
  } while (health.get("/healthz") != "200 ok\n" && std::chrono::steady_clock::now() < deadline);
  EXPECT_EQ(health.get("/healthz"), "200 ok\n");
}

TEST(HealthServer, ACertificateThatCannotBeUsedIsOneClearError) {
  const Certificate certificate;
  const auto error_with = [](const HealthFlags& flags) {
    const auto read = HealthCertificate::read(flags);
    return read ? std::string() : read.error().message;
  };
  HealthFlags flags = certificate.flags();
  flags.tls_cert = "/nonexistent/tls.crt";
  EXPECT_THAT(error_with(flags),
              StartsWith("--metrics-tls-cert: cannot read /nonexistent/tls.crt"));
  flags = certificate.flags();
  flags.tls_key = "/nonexistent/tls.key";
  EXPECT_THAT(error_with(flags), StartsWith("--metrics-tls-key: cannot read /nonexistent/tls.key"));
  certificate.directory.write("tls.key", certificate.ca.issue("other", "").key_pem);
  EXPECT_THAT(error_with(certificate.flags()),
              AllOf(HasSubstr("--metrics-tls-cert " + certificate.directory.at("tls.crt")),
                    HasSubstr("--metrics-tls-key " + certificate.directory.at("tls.key")),
                    HasSubstr("its private key: ")));
}

TEST(HealthServer, KeepsTheCertificateWhileTheNextOneCannotBeUsed) {
  const Certificate certificate;
  auto read = HealthCertificate::read(certificate.flags());
  ASSERT_TRUE(read) << read.error().message;
  auto server = http::make_server(
      {.certificate_pem = read->pair().certificate_pem, .key_pem = read->pair().key_pem},
      [](const auto&, const auto&) { return http::Response{}; });
  ASSERT_TRUE(server);
  const auto looked = [&] {
    testing::internal::CaptureStderr();
    read->look(**server);
    return testing::internal::GetCapturedStderr();
  };
  const base::SystemClock clock;
  const auto is_served = [&](const http::TestCa& ca) {
    const auto client = http::make_client(
        {.base_url = "https://" + (*server)->address(), .ca_pem = ca.pem()}, clock);
    return bool(client->send({}));
  };

  const http::TestCa renewed;
  const http::Identity next = renewed.issue("compute-domain", "IP:127.0.0.1");
  certificate.directory.write("tls.crt", next.certificate_pem);
  EXPECT_EQ(looked(), "");  // the key may be on its way
  EXPECT_THAT(looked(), HasSubstr("the one before it stays in use"));
  EXPECT_EQ(looked(), "");
  EXPECT_TRUE(is_served(certificate.ca));
  certificate.directory.write("tls.key", next.key_pem);
  EXPECT_THAT(looked(), HasSubstr("renewed certificate"));
  EXPECT_TRUE(is_served(renewed));
  EXPECT_FALSE(is_served(certificate.ca));
  EXPECT_EQ(looked(), "");
}

TEST(HealthFlags, NameWhatIsMissing) {
  const auto mistake_with = [](const auto& change) {
    HealthFlags flags{.listen = ":8080"};
    change(flags);
    return mistake_in(flags);
  };
  EXPECT_EQ(mistake_with([](HealthFlags&) {}), "");
  for (std::string HealthFlags::*one : {&HealthFlags::tls_cert, &HealthFlags::tls_key}) {
    EXPECT_THAT(mistake_with([&](HealthFlags& f) { f.*one = "/tls/file"; }),
                StartsWith("--metrics-tls-cert and --metrics-tls-key: only one is given"));
  }
  EXPECT_EQ(mistake_with([](HealthFlags& f) { f.metrics_path = "/healthz"; }),
            "--metrics-path: \"/healthz\" is not a path of its own, such as /metrics");
  EXPECT_THAT(mistake_with([](HealthFlags& f) { f.authentication = true; }),
              StartsWith("--metrics-authentication: needs --metrics-tls-cert"));
  EXPECT_EQ(mistake_with([](HealthFlags& f) {
              f.tls_cert = f.tls_key = "/tls/file";
              f.authentication = true;
            }),
            "");

  HealthFlags flags;
  const CommandLine line{.program = "program", .flags = rows_of(flags)};
  for (const char* path : {"metrics", "/healthz", "/readyz"}) {
    EXPECT_THAT(refusal({base::cat("--metrics-path=", path)}, line),
                StartsWith("program: --metrics-path: "));
  }
  EXPECT_EQ(refusal({"--metrics-path=", "--metrics-authentication"}, line), "");
  EXPECT_EQ(flags.metrics_path, "");
  EXPECT_TRUE(flags.authentication);
}

}  // namespace
}  // namespace cdom::cli
