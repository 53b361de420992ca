#include "compute_domain/kube/exec_credential.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "kube/base64.h"

namespace cdom::kube {
namespace {

using Json = nlohmann::json;
using testing::HasSubstr;

ExecPlugin plugin() {
  ExecPlugin plugin;
  plugin.where = "config: users[me].user.exec";
  plugin.api_version = "client.authentication.k8s.io/v1";
  plugin.command = "login";
  return plugin;
}

TEST(ExecCredential, IsAskedForInThePluginsVersion) {
  const auto info = exec_info(plugin(), {.base_url = "https://10.0.0.1"}, true);
  ASSERT_TRUE(info);
  EXPECT_EQ(Json::parse(*info), Json::parse(R"({"apiVersion": "client.authentication.k8s.io/v1",
    "kind": "ExecCredential", "spec": {"interactive": true}})"));
}

TEST(ExecCredential, IsAskedForWithTheClusterWhereThePluginWantsToKnow) {
  ExecPlugin asked = plugin();
  asked.wants_cluster = true;
  asked.cluster_config = R"({"audience": "x"})";
  const auto info = exec_info(
      asked, {.base_url = "https://10.0.0.1", .server_name = "api", .ca_pem = "CA\n"}, false);
  ASSERT_TRUE(info);
  EXPECT_EQ(Json::parse(*info)["spec"], Json::parse(R"({"interactive": false, "cluster": {
    "server": "https://10.0.0.1", "tls-server-name": "api",
    "certificate-authority-data": "Q0EK", "config": {"audience": "x"}}})"));
  const auto lost =
      exec_info(asked, {.base_url = "https://10.0.0.1", .ca_file = "/nowhere/ca.pem"}, false);
  ASSERT_FALSE(lost);
  EXPECT_THAT(lost.error().message, HasSubstr("/nowhere/ca.pem: cannot be read"));
}

http::ClientConfig taken(const std::string& status) {
  http::ClientConfig access;
  const auto taken = take_exec_credential(
      plugin(),
      R"({"apiVersion": "client.authentication.k8s.io/v1", "kind": "ExecCredential", "status": )" +
          status + "}",
      access);
  EXPECT_TRUE(taken) << taken.error().message;
  return access;
}

TEST(ExecCredential, IsAskedForAsClientGoDoesWhereTheClusterSaysNothing) {
  ExecPlugin asked = plugin();
  asked.wants_cluster = true;
  const auto info = exec_info(asked, {.base_url = "http://10.0.0.1"}, false);
  ASSERT_TRUE(info);
  EXPECT_EQ(Json::parse(*info)["spec"]["cluster"],
            Json::parse(R"({"server": "http://10.0.0.1", "config": null})"));
}

TEST(ExecCredential, GivesATokenOrACertificateOrBoth) {
  EXPECT_EQ(taken(R"({"token": "t", "expirationTimestamp": "2026-01-01T00:00:00Z"})").token, "t");
  const auto both =
      taken(R"({"token": "t", "clientCertificateData": "CERT", "clientKeyData": "KEY"})");
  EXPECT_EQ(both.token, "t");
  EXPECT_EQ(both.certificate_pem, "CERT");
  EXPECT_EQ(both.key_pem, "KEY");
}

TEST(ExecCredential, LeavesACertificateOfTheKubeconfigBesideAToken) {
  http::ClientConfig access{.certificate_file = "/cert", .key_file = "/key"};
  const std::string head =
      R"({"apiVersion": "client.authentication.k8s.io/v1", "kind": "ExecCredential", "status": )";
  ASSERT_TRUE(take_exec_credential(plugin(), head + R"({"token": "t"}})", access));
  EXPECT_EQ(access.certificate_file, "/cert");
  ASSERT_TRUE(take_exec_credential(
      plugin(), head + R"({"clientCertificateData": "CERT", "clientKeyData": "KEY"}})", access));
  EXPECT_EQ(access.certificate_pem, "CERT");
  EXPECT_EQ(access.certificate_file + access.key_file, "") << "the program's goes before";
}

TEST(ExecCredential, SaysWhatIsWrongWithoutShowingIt) {
  const std::string head = R"({"apiVersion": "client.authentication.k8s.io/v1", )";
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"", "login did not print an ExecCredential as JSON"},
      {"secret", "did not print an ExecCredential as JSON"},
      {R"({"kind": "Status"})", "printed kind \"Status\""},
      {R"({"kind": "ExecCredential", "apiVersion": "client.authentication.k8s.io/v1beta1"})",
       "printed apiVersion \"client.authentication.k8s.io/v1beta1\", and the kubeconfig says "
       "\"client.authentication.k8s.io/v1\": make them the same"},
      {head + R"("kind": "ExecCredential"})", "printed no status"},
      {head + R"("kind": "ExecCredential", "status": {}})", "neither a token nor a client cert"},
      {head + R"("kind": "ExecCredential", "status": {"token": 1}})", "neither a token nor"},
      {head + R"("kind": "ExecCredential", "status": {"clientKeyData": "secret"}})",
       "printed a client key without its certificate"},
      {head + R"("kind": "ExecCredential", "status": {"clientCertificateData": "secret"}})",
       "printed a client certificate without its key"},
  };
  for (const auto& [printed, message] : cases) {
    http::ClientConfig access;
    const auto taken = take_exec_credential(plugin(), printed, access);
    ASSERT_FALSE(taken) << message;
    EXPECT_EQ(taken.error().kind, base::ErrorKind::Invalid);
    EXPECT_THAT(taken.error().message, HasSubstr(message));
    EXPECT_THAT(taken.error().message, HasSubstr("config: users[me].user.exec: login"));
    EXPECT_THAT(taken.error().message, testing::Not(HasSubstr("secret")));
  }
}

TEST(Base64, EncodesWhatItDecodes) {
  EXPECT_EQ(base64_encoded(""), "");
  EXPECT_EQ(base64_encoded("f"), "Zg==");
  EXPECT_EQ(base64_encoded("fo"), "Zm8=");
  EXPECT_EQ(base64_encoded("foobar"), "Zm9vYmFy") << "RFC 4648, section 10";
  for (std::string bytes; bytes.size() < 300; bytes += static_cast<char>(bytes.size())) {
    EXPECT_EQ(base64_decoded(base64_encoded(bytes)), bytes);
  }
}

}  // namespace
}  // namespace cdom::kube
