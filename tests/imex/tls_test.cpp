// TLS between the daemons: what they know each other by comes from a mounted folder, and is renewed
// there while they run.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "http/test_ca.h"
#include "imex/daemon/config.h"
#include "imex/daemon/tls_files.h"
#include "imex/rig.h"

namespace cdom::imex {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

constexpr char kName[] = "DNS:compute-domain-imex";

// As a Secret's volume changes: all files at once.
void mount_credentials(const Node& node, const http::TestCa& ca, const std::string& name = kName) {
  const http::Identity identity = ca.issue("node", name);
  node.dir.write("tls/tls.key", identity.key_pem);
  node.dir.write("tls/tls.crt", identity.certificate_pem);
  node.dir.write("tls/ca.crt", ca.pem());
}

// Nodes that are not open yet.
struct TlsRig : Rig {
  explicit TlsRig(int count) : Rig(0, count) {
    for (int i = 0; i < count; ++i) {
      nodes.push_back(std::make_unique<Node>(i));
      node(i).options.tls_directory = node(i).dir.at("tls");
      node(i).options.tls_interval = std::chrono::milliseconds(20);
    }
  }
  void open_all() {
    for (const auto& one : nodes) {
      if (const auto opened = one->open(); !opened) throw std::logic_error(opened.error().message);
    }
  }
};

TEST(ImexTls, IsOffUnlessAFolderIsGiven) {
  const std::string text = config_text({.address = "10.0.0.1"});
  EXPECT_THAT(text, HasSubstr("IMEX_ENABLE_AUTH_ENCRYPTION=0\n"));
  EXPECT_THAT(text, Not(HasSubstr("IMEX_SERVER_KEY")));
}

TEST(ImexTls, ConfiguresServerAndClientWithTheFilesOfTheFolder) {
  const std::string text = config_text(
      {.address = "10.0.0.1",
       .tls = TlsFiles{.key = "/t/tls.key", .certificate = "/t/tls.crt", .authority = "/t/ca.crt"},
       .tls_name = "compute-domain-imex"});
  for (const char* line :
       {"IMEX_ENABLE_AUTH_ENCRYPTION=1\n", "IMEX_AUTH_ENCRYPTION_MODE=SSL_TLS\n",
        "IMEX_AUTH_SOURCE=FILE\n", "IMEX_SERVER_KEY=/t/tls.key\n", "IMEX_SERVER_CERT=/t/tls.crt\n",
        "IMEX_SERVER_CERT_AUTH=/t/ca.crt\n", "IMEX_CLIENT_KEY=/t/tls.key\n",
        "IMEX_CLIENT_CERT=/t/tls.crt\n", "IMEX_CLIENT_CERT_AUTH=/t/ca.crt\n",
        "IMEX_SECURITY_TARGET_OVERRIDE=compute-domain-imex\n"}) {
    EXPECT_THAT(text, HasSubstr(line));
  }
}

TEST(ImexTls, WithoutAFileNoDaemonStartsAndTheFileIsNamed) {
  TlsRig rig(1);
  rig.node(0).dir.write("tls/tls.key", "key");
  rig.node(0).dir.write("tls/tls.crt", " \n");
  rig.open_all();
  const auto error = rig.ask(rig.node(0), rig.want(0));
  ASSERT_TRUE(error);
  EXPECT_EQ(error->kind, base::ErrorKind::Invalid);
  EXPECT_THAT(error->message, HasSubstr("tls/tls.crt is empty"));
  EXPECT_THAT(error->message, HasSubstr("--tls-directory"));
  ASSERT_TRUE(rig.until([&] { return rig.node(0).agent->state.has_value(); }));
  EXPECT_THAT(rig.node(0).agent->state->cannot_start, HasSubstr("tls/tls.crt is empty"));
}

TEST(ImexTls, ConnectsThoseOfOneAuthorityAndRefusesStrangers) {
  const http::TestCa ours, theirs;
  TlsRig rig(5);
  mount_credentials(rig.node(0), ours);
  mount_credentials(rig.node(1), ours);
  mount_credentials(rig.node(2), theirs);
  mount_credentials(rig.node(3), ours, "DNS:somebody-else");
  rig.node(4).options.tls_directory = "";
  rig.open_all();
  for (int i = 0; i < 5; ++i) rig.start(i);
  ASSERT_TRUE(rig.until_letter(0, 1, 'C') && rig.until_letter(1, 0, 'C'));
  for (int stranger = 2; stranger < 5; ++stranger) {
    EXPECT_TRUE(rig.until_letter(0, stranger, 'N')) << stranger;
    EXPECT_TRUE(rig.until_letter(1, stranger, 'N')) << stranger;
  }
}

// Its options name the files of both; nothing public says that they are the same.
TEST(ImexTls, AClientMayHaveFilesOfItsOwn) {
  const http::TestCa ours, clients;
  TlsRig rig(2);
  for (int i = 0; i < 2; ++i) {
    Node& node = rig.node(i);
    mount_credentials(node, ours);
    const http::Identity client = clients.issue("client", kName);
    node.dir.write("client.key", client.key_pem);
    node.dir.write("client.crt", client.certificate_pem);
    node.dir.write("clients.crt", clients.pem());
    node.options.imex_options["IMEX_CLIENT_KEY"] = node.dir.at("client.key");
    node.options.imex_options["IMEX_CLIENT_CERT"] = node.dir.at("client.crt");
    // A server believes clients of their authority.
    node.options.imex_options["IMEX_SERVER_CERT_AUTH"] = node.dir.at("clients.crt");
  }
  rig.open_all();
  rig.start(0);
  rig.start(1);
  EXPECT_TRUE(rig.until_letter(0, 1, 'C') && rig.until_letter(1, 0, 'C'));
}

TEST(ImexTls, WhatIsRenewedIsReadWithoutANewDaemon) {
  const http::TestCa ours, theirs;
  TlsRig rig(2);
  mount_credentials(rig.node(0), ours);
  mount_credentials(rig.node(1), theirs);
  rig.open_all();
  rig.start(0);
  rig.start(1);
  ASSERT_TRUE(rig.until_letter(0, 1, 'N') && rig.until_phase(1, DaemonPhase::Ready));
  const std::string instance = rig.node(1).agent->state->instance;
  mount_credentials(rig.node(1), ours);
  EXPECT_TRUE(rig.until_letter(1, 0, 'C'));
  EXPECT_EQ(rig.node(1).agent->state->instance, instance);
}

}  // namespace
}  // namespace cdom::imex
