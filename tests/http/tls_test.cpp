// TLS, client against server, with authorities made by the test.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <fstream>

#include "http/local.h"
#include "http/test_ca.h"

namespace cdom::http {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

// Answers with the name in the client's certificate.
std::unique_ptr<Server> serve_tls(const Identity& identity, const std::string& client_ca_pem = {},
                                  const std::string& listen = "127.0.0.1:0") {
  ServerConfig config;
  config.listen = listen;
  config.certificate_pem = identity.certificate_pem;
  config.key_pem = identity.key_pem;
  config.client_ca_pem = client_ca_pem;
  return serve(
      [](const Request&, const Peer& peer) -> Reply {
        return Response{200, {}, "hello " + peer.common_name};
      },
      config);
}

ClientConfig trusting(const Server& server, const std::string& ca_pem) {
  ClientConfig config = config_for("https://" + server.address());
  config.ca_pem = ca_pem;
  return config;
}

// The body of an answer, or the error; the same for a request and for a stream.
std::string answer_to(const ClientConfig& config) {
  const auto client = connect(config);
  const auto opened = client->open({"GET", "/", {}, {}});
  const std::string streamed = opened ? next_of(*opened->stream) : base::to_string(opened.error());
  const auto answer = client->send({"GET", "/", {}, {}});
  std::string whole = answer ? answer->body : base::to_string(answer.error());
  // cpprest does not tell what a server says of a client that it refuses.
  if (whole.ends_with("Failed to read HTTP status line")) {
    EXPECT_THAT(streamed, StartsWith("Unavailable: "));
  } else {
    EXPECT_EQ(streamed, whole);
  }
  return whole;
}

TEST(Tls, TakesAServerOfTheRightAuthority) {
  const TestCa ca;
  const auto server = serve_tls(ca.issue("server", "IP:127.0.0.1"));
  EXPECT_EQ(answer_to(trusting(*server, ca.pem())), "hello ");
}

// False on a machine without IPv6.
bool has_ipv6() {
  return make_server({.listen = "[::1]:0"},
                     [](const Request&, const Peer&) -> Reply { return Response{}; })
      .has_value();
}

TEST(Tls, TakesAServerWithAnIpv6AddressOfTheRightAuthority) {
  if (!has_ipv6()) GTEST_SKIP() << "no IPv6 here";
  const TestCa ca, other;
  const auto server = serve_tls(ca.issue("server", "IP:::1"), {}, "[::1]:0");
  EXPECT_EQ(answer_to(trusting(*server, ca.pem())), "hello ");
  EXPECT_THAT(answer_to(trusting(*server, other.pem())), HasSubstr("certificate of ::1 refused"));
  const auto elsewhere = serve_tls(ca.issue("server", "IP:::2"), {}, "[::1]:0");
  EXPECT_THAT(answer_to(trusting(*elsewhere, ca.pem())), HasSubstr("IP address mismatch"));
}

TEST(Tls, RefusesAServerOfAnotherAuthority) {
  const TestCa ca, other;
  const auto server = serve_tls(ca.issue("server", "IP:127.0.0.1"));
  const std::string url = "https://" + server->address();
  EXPECT_EQ(answer_to(trusting(*server, other.pem())),
            "Unavailable: GET " + url +
                "/: certificate of 127.0.0.1 refused: unable to get local issuer certificate");
}

// As Go's x509.CertPool: what is configured is trusted for itself, be it a root or not.
TEST(Tls, TrustsAnIntermediateAuthorityWithoutItsRoot) {
  const TestCa root;
  const TestCa ca = root.intermediate();
  const auto server = serve_tls(ca.issue("server", "IP:127.0.0.1"), ca.pem());
  ClientConfig config = trusting(*server, ca.pem());
  const Identity admin = ca.issue("kubernetes-admin", "");
  config.certificate_pem = admin.certificate_pem;
  config.key_pem = admin.key_pem;
  EXPECT_EQ(answer_to(config), "hello kubernetes-admin");
}

TEST(Tls, TrustsARootByAChainOfThree) {
  const TestCa root;
  const TestCa ca = root.intermediate();
  Identity identity = ca.issue("server", "IP:127.0.0.1");
  EXPECT_THAT(answer_to(trusting(*serve_tls(identity), root.pem())), StartsWith("Unavailable: "));
  identity.certificate_pem += ca.pem();
  EXPECT_EQ(answer_to(trusting(*serve_tls(identity), root.pem())), "hello ");
}

TEST(Tls, PassesOverAnAuthorityThatCannotBeRead) {
  const TestCa ca;
  const auto server = serve_tls(ca.issue("server", "IP:127.0.0.1"));
  const std::string odd =
      "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"
      "-----BEGIN CERTIFICATE-----\n!!!!\n-----END CERTIFICATE-----\n";
  EXPECT_EQ(answer_to(trusting(*server, odd + ca.pem() + odd)), "hello ");
  EXPECT_THAT(answer_to(trusting(*server, odd)), HasSubstr("no PEM certificate in it"));
}

TEST(Tls, RefusesAnExpiredCertificate) {
  const TestCa ca;
  const auto server = serve_tls(ca.issue("server", "IP:127.0.0.1", -60));
  EXPECT_THAT(answer_to(trusting(*server, ca.pem())), HasSubstr("certificate has expired"));
}

TEST(Tls, RefusesAnotherName) {
  const TestCa ca;
  const auto server = serve_tls(ca.issue("server", "IP:127.0.0.2,DNS:localhost"));
  EXPECT_THAT(answer_to(trusting(*server, ca.pem())), HasSubstr("IP address mismatch"));

  ClientConfig named = trusting(*server, ca.pem());
  named.server_name = "kubernetes.default.svc";
  EXPECT_THAT(answer_to(named), HasSubstr("certificate of kubernetes.default.svc refused: "
                                          "hostname mismatch"));
}

TEST(Tls, RefusesANameThatIsOnlyTheCommonName) {
  const TestCa ca;
  const auto with_other_name = serve_tls(ca.issue("127.0.0.1", "DNS:other"));
  EXPECT_THAT(answer_to(trusting(*with_other_name, ca.pem())), StartsWith("Unavailable: "));
  const auto without_names = serve_tls(ca.issue("127.0.0.1", ""));
  EXPECT_THAT(answer_to(trusting(*without_names, ca.pem())), StartsWith("Unavailable: "));
}

TEST(Tls, AsksForTheServerNameWhenOneIsConfigured) {
  const TestCa ca;
  const auto server = serve_tls(ca.issue("server", "DNS:kubernetes.default.svc"));
  ClientConfig config = trusting(*server, ca.pem());
  config.server_name = "kubernetes.default.svc";
  EXPECT_EQ(answer_to(config), "hello ");
}

TEST(Tls, TakesAnyServerWhenToldToSkipVerification) {
  const TestCa ca;
  const auto server = serve_tls(ca.issue("server", "DNS:other", -60));
  ClientConfig config = trusting(*server, {});
  config.insecure_skip_tls_verify = true;
  EXPECT_EQ(answer_to(config), "hello ");
}

TEST(Tls, ShowsTheClientCertificate) {
  const TestCa ca;
  const auto server = serve_tls(ca.issue("server", "IP:127.0.0.1"), ca.pem());
  ClientConfig config = trusting(*server, ca.pem());
  EXPECT_THAT(answer_to(config), StartsWith("Unavailable: "));
  const Identity admin = ca.issue("kubernetes-admin", "");
  config.certificate_pem = admin.certificate_pem;
  config.key_pem = admin.key_pem;
  EXPECT_EQ(answer_to(config), "hello kubernetes-admin");
}

TEST(Tls, NamesTheFileOrFieldThatCannotBeUsed) {
  const TestCa ca;
  const auto server = serve_tls(ca.issue("server", "IP:127.0.0.1"));
  ClientConfig config = trusting(*server, {});
  config.ca_file = "/nonexistent/ca.crt";
  EXPECT_THAT(answer_to(config),
              HasSubstr("certificate authority: /nonexistent/ca.crt: No such file or directory"));
  config = trusting(*server, "not PEM");
  EXPECT_THAT(answer_to(config), HasSubstr("certificate authority: no PEM certificate in it"));
  config = trusting(*server, ca.pem());
  config.certificate_pem = ca.issue("a", "").certificate_pem;
  config.key_pem = ca.issue("b", "").key_pem;
  EXPECT_THAT(answer_to(config), HasSubstr("client certificate: its private key: "));
}

TEST(Tls, ReadsTheCaFileAnewForEachConnection) {
  const TestCa before, after;
  const std::string file = ::testing::TempDir() + "/http_rotated_ca.crt";
  const auto write = [&](const std::string& pem) { std::ofstream(file) << pem; };
  const auto server = serve_tls(after.issue("server", "IP:127.0.0.1"));
  ClientConfig config = trusting(*server, {});
  config.ca_file = file;
  const auto client = connect(config);
  write(before.pem());
  EXPECT_FALSE(client->send({"GET", "/", {}, {}}));
  write(after.pem());
  EXPECT_TRUE(client->send({"GET", "/", {}, {}}));
  std::remove(file.c_str());
}

TEST(Tls, ARenewedCertificateIsForConnectionsFromNowOn) {
  const TestCa before, after;
  const auto server = serve_tls(before.issue("server", "IP:127.0.0.1"));
  const auto kept = connect(trusting(*server, before.pem()));
  EXPECT_TRUE(kept->send({"GET", "/", {}, {}}));
  const Identity renewed = after.issue("server", "IP:127.0.0.1");
  const auto mixed =
      server->set_certificate(renewed.certificate_pem, before.issue("server", "").key_pem);
  ASSERT_FALSE(mixed);
  EXPECT_THAT(mixed.error().message, StartsWith("server certificate: its private key: "));
  EXPECT_EQ(answer_to(trusting(*server, before.pem())), "hello ");
  ASSERT_TRUE(server->set_certificate(renewed.certificate_pem, renewed.key_pem));
  EXPECT_EQ(answer_to(trusting(*server, after.pem())), "hello ");
  EXPECT_THAT(answer_to(trusting(*server, before.pem())), HasSubstr("refused"));
  EXPECT_TRUE(kept->send({"GET", "/", {}, {}}));
}

TEST(Tls, CarriesStreamsAndBigBodies) {
  const TestCa ca;
  const Identity identity = ca.issue("server", "IP:127.0.0.1");
  ServerConfig config;
  config.certificate_pem = identity.certificate_pem;
  config.key_pem = identity.key_pem;
  const auto server = serve(
      [](const Request& request, const Peer&) -> Reply {
        if (request.method == "PUT") return Response{200, {}, request.body};
        return StreamReply{{}, [](const auto& writer) {
                             for (const char* line : {"one\n", "two\n"})
                               writer->write(shared(line));
                             writer->finish();
                           }};
      },
      config);
  const auto client = connect(trusting(*server, ca.pem()));
  const std::string body(3u << 20, 'x');
  const auto answer = client->send({"PUT", "/", {}, body});
  ASSERT_TRUE(answer) << answer.error().message;
  EXPECT_TRUE(answer->body == body);
  auto opened = client->open({"GET", "/", {}, {}});
  ASSERT_TRUE(opened) << opened.error().message;
  for (const char* line : {"one", "two", "END"}) EXPECT_EQ(next_of(*opened->stream), line);
}

TEST(Tls, AServerWithAnUnusableIdentityIsInvalid) {
  ServerConfig config;
  config.certificate_pem = "not PEM";
  const auto server = make_server(config, [](const Request&, const Peer&) { return Response{}; });
  ASSERT_FALSE(server);
  EXPECT_EQ(server.error().kind, base::ErrorKind::Invalid);
  EXPECT_THAT(server.error().message, HasSubstr("server certificate: no PEM certificate in it"));
}

}  // namespace
}  // namespace cdom::http
