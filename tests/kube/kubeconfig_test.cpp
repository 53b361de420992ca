#include "compute_domain/kube/kubeconfig.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "compute_domain/base/text.h"
#include "kube/base64.h"

namespace cdom::kube {
namespace {

using testing::HasSubstr;

// A directory of its own for each test, gone after it.
struct KubeconfigTest : testing::Test {
  std::filesystem::path directory =
      std::filesystem::path(testing::TempDir()) /
      base::cat("kubeconfig-", testing::UnitTest::GetInstance()->current_test_info()->name(), "-",
                ::getpid());
  KubeconfigTest() { std::filesystem::create_directories(directory); }
  ~KubeconfigTest() override {
    std::error_code ignored;
    std::filesystem::remove_all(directory, ignored);
  }

  std::string write(const std::string& name, const std::string& content) const {
    std::ofstream(directory / name) << content;
    return (directory / name).string();
  }

  // A kubeconfig with one cluster and user, whose further fields are given.
  std::string config(const std::string& cluster, const std::string& user) const {
    return write("config", base::cat("apiVersion: v1\nkind: Config\ncurrent-context: main\n",
                                     "contexts:\n- name: main\n  context: {cluster: prod, user: me,"
                                     " namespace: team}\n",
                                     "clusters:\n- name: prod\n  cluster: {", cluster, "}\n",
                                     "users:\n- name: me\n  user: {", user, "}\n"));
  }
};

constexpr char kServer[] = "server: 'https://10.0.0.1:6443'";

TEST_F(KubeconfigTest, ReadsClusterUserAndNamespace) {
  const auto access = load_kubeconfig(
      config("server: 'https://10.0.0.1:6443/', tls-server-name: api, "
             "certificate-authority-data: Q0EK",
             "client-certificate-data: Q0VSVA==, client-key-data: S0VZ, token: secret"));
  ASSERT_TRUE(access) << access.error().message;
  EXPECT_EQ(access->http.base_url, "https://10.0.0.1:6443");
  EXPECT_EQ(access->http.server_name, "api");
  EXPECT_EQ(access->http.ca_pem, "CA\n");
  EXPECT_EQ(access->http.certificate_pem, "CERT");
  EXPECT_EQ(access->http.key_pem, "KEY");
  EXPECT_EQ(access->http.token, "secret");
  EXPECT_EQ(access->ns, "team");
  EXPECT_EQ(access->source, (directory / "config").string() + ", context main");
}

TEST_F(KubeconfigTest, FindsFilesBesideTheKubeconfig) {
  write("ca.pem", "CA");
  write("token", "secret");
  const auto access = load_kubeconfig(
      config(base::cat(kServer, ", certificate-authority: ca.pem"), "tokenFile: token"));
  ASSERT_TRUE(access) << access.error().message;
  EXPECT_EQ(access->http.ca_file, (directory / "ca.pem").string());
  EXPECT_EQ(access->http.token_file, (directory / "token").string());
}

TEST_F(KubeconfigTest, TheFirstFileThatDefinesANameWins) {
  const std::string first = write("first",
                                  "apiVersion: v1\nkind: Config\ncurrent-context: main\n"
                                  "clusters:\n- {name: prod, cluster: {server: 'http://one'}}\n");
  const std::string second =
      config("server: 'http://two'", "") + ":" + (directory / "missing").string();
  const auto access = load_kubeconfig(first + ":" + second);
  ASSERT_TRUE(access) << access.error().message;
  EXPECT_EQ(access->http.base_url, "http://one");
  EXPECT_EQ(access->ns, "team");
}

TEST_F(KubeconfigTest, PassesOverAnEmptyFileAmongOthers) {
  for (const std::string& empty :
       {write("empty", ""), write("blank", "# none yet\n\n"), std::string("/dev/null")}) {
    const auto access = load_kubeconfig(empty + ":" + config(kServer, ""));
    ASSERT_TRUE(access) << access.error().message;
    EXPECT_EQ(access->ns, "team");
  }
}

TEST_F(KubeconfigTest, SaysWhatIsThereInPlaceOfAKubeconfig) {
  const std::vector<std::pair<std::string, std::string>> cases{
      {"/dev/null", "it is empty"},
      {write("empty", ""), "it is empty"},
      {directory.string(), "it is a folder: name a file in it"}};
  for (const auto& [file, what] : cases) {
    const auto access = load_kubeconfig(file);
    ASSERT_FALSE(access);
    EXPECT_EQ(access.error().message, base::cat(file, ": not a kubeconfig: ", what));
  }
}

TEST_F(KubeconfigTest, AContextWithoutUserIsAnonymous) {
  const auto access =
      load_kubeconfig(write("c",
                            "apiVersion: v1\nkind: Config\ncurrent-context: x\n"
                            "contexts: [{name: x, context: {cluster: x}}]\n"
                            "clusters: [{name: x, cluster: {server: 'http://127.0.0.1:8001'}}]\n"));
  ASSERT_TRUE(access) << access.error().message;
  EXPECT_EQ(access->ns, "default");
}

TEST_F(KubeconfigTest, SaysWhatIsWrongWithAField) {
  struct Case {
    std::string cluster, user, message;
  };
  const std::vector<Case> cases = {
      {"", "", "clusters[prod].cluster.server must be the URL of an API server"},
      {"server: 7", "", "clusters[prod].cluster.server must be a text"},
      {base::cat(kServer, ", certificate-authority: ca.pem"), "",
       "clusters[prod].cluster.certificate-authority names "},
      {base::cat(kServer, ", certificate-authority-data: '?'"), "",
       "clusters[prod].cluster.certificate-authority-data is not base64"},
      {base::cat(kServer, ", certificate-authority-data: Q0EK, insecure-skip-tls-verify: true"), "",
       "insecure-skip-tls-verify contradicts certificate-authority: remove one of them"},
      {base::cat(kServer, ", insecure-skip-tls-verify: maybe"), "", "must be true or false"},
      {base::cat(kServer, ", proxy-url: 'http://p'"), "",
       "clusters[prod].cluster.proxy-url is not supported: remove it where the server can be "
       "reached without it, or go through `kubectl proxy`"},
      {kServer, "exec: {command: aws}", "users[me].user.exec is not supported: use a client"},
      {kServer, "username: u, password: p", "users[me].user.username is not supported"},
      {kServer, "as: 7", "users[me].user.as must be a text"},
      {kServer, "as: \"a\\nb\"", "users[me].user.as must not have control characters"},
      {kServer, "as: a, as-groups: x", "users[me].user.as-groups must be a list"},
      {kServer, "as: a, as-groups: [1]", "users[me].user.as-groups must be a list of texts"},
      {kServer, "as: a, as-user-extra: [x]", "as-user-extra must be lists of texts by their names"},
      {kServer, "as: a, as-user-extra: {x: y}", "as-user-extra must be lists of texts by"},
      {kServer, "as-groups: [x]", "users[me].user.as is missing: as-groups is for a user"},
      {kServer, "client-certificate-data: Q0VSVA==", "users[me].user.client-key is missing"},
      {kServer, "client-key-data: S0VZ", "users[me].user.client-certificate is missing"},
  };
  for (const Case& c : cases) {
    const auto access = load_kubeconfig(config(c.cluster, c.user));
    ASSERT_FALSE(access) << c.message;
    EXPECT_EQ(access.error().kind, base::ErrorKind::Invalid);
    EXPECT_THAT(access.error().message, HasSubstr(c.message));
    EXPECT_THAT(access.error().message, HasSubstr((directory / "config").string()));
  }
}

TEST_F(KubeconfigTest, ActsForWhomTheUserNames) {
  const auto access = load_kubeconfig(
      config(kServer,
             "token: secret, as: 'jane@example.com', as-uid: '42', as-groups: [dev, ops], "
             "as-user-extra: {'example.com/Scope': [a, b]}"));
  ASSERT_TRUE(access) << access.error().message;
  EXPECT_THAT(access->http.fields,
              testing::ElementsAre(testing::Pair("Impersonate-User", "jane@example.com"),
                                   testing::Pair("Impersonate-Uid", "42"),
                                   testing::Pair("Impersonate-Group", "dev"),
                                   testing::Pair("Impersonate-Group", "ops"),
                                   testing::Pair("Impersonate-Extra-example.com%2FScope", "a"),
                                   testing::Pair("Impersonate-Extra-example.com%2FScope", "b")));
}

constexpr char kExec[] =
    "exec: {apiVersion: client.authentication.k8s.io/v1, interactiveMode: Never, "
    "command: ./bin/login, args: [get-token, --region, eu], env: [{name: PROFILE, value: dev}], "
    "installHint: 'see the wiki', provideClusterInfo: true}";

TEST_F(KubeconfigTest, ReadsWhoGivesTheCredentials) {
  const auto access = load_kubeconfig(
      config(base::cat(kServer,
                       ", extensions: [{name: other, extension: 1}, {name: "
                       "client.authentication.k8s.io/exec, extension: {audience: x}}]"),
             kExec),
      {}, ExecUse::Allowed);
  ASSERT_TRUE(access) << access.error().message;
  ASSERT_TRUE(access->exec);
  EXPECT_EQ(access->exec->api_version, "client.authentication.k8s.io/v1");
  EXPECT_EQ(access->exec->command, (directory / "./bin/login").string()) << "beside the kubeconfig";
  EXPECT_THAT(access->exec->arguments, testing::ElementsAre("get-token", "--region", "eu"));
  EXPECT_THAT(access->exec->environment, testing::ElementsAre("PROFILE=dev"));
  EXPECT_EQ(access->exec->install_hint, "see the wiki");
  EXPECT_EQ(access->exec->interaction, Interaction::Never);
  EXPECT_TRUE(access->exec->wants_cluster);
  EXPECT_EQ(access->exec->cluster_config, R"({"audience":"x"})");
}

TEST_F(KubeconfigTest, ATokenOfItsOwnGoesBeforeAProgram) {
  const auto access =
      load_kubeconfig(config(kServer, base::cat("token: secret, ", kExec)), {}, ExecUse::Allowed);
  ASSERT_TRUE(access) << access.error().message;
  EXPECT_FALSE(access->exec);
}

TEST_F(KubeconfigTest, ACertificateOfItsOwnGoesBesideAProgram) {
  const auto access = load_kubeconfig(
      config(kServer,
             base::cat("client-certificate-data: Q0VSVA==, client-key-data: S0VZ, ", kExec)),
      {}, ExecUse::Allowed);
  ASSERT_TRUE(access) << access.error().message;
  EXPECT_TRUE(access->exec);
  EXPECT_EQ(access->http.certificate_pem, "CERT");
}

TEST_F(KubeconfigTest, WhatIsNullIsNotThere) {
  for (const ExecUse use : {ExecUse::Refused, ExecUse::Allowed}) {
    const auto access =
        load_kubeconfig(config(kServer, "exec: null, auth-provider: null, as: null"), {}, use);
    ASSERT_TRUE(access) << access.error().message;
    EXPECT_FALSE(access->exec);
  }
}

TEST_F(KubeconfigTest, SaysWhatIsWrongWithWhoGivesTheCredentials) {
  const std::string v1 = "apiVersion: client.authentication.k8s.io/v1";
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"exec: aws", "users[me].user.exec must hold fields"},
      {"exec: {command: aws}", "users[me].user.exec.apiVersion must be client.authentication"},
      {"exec: {apiVersion: client.authentication.k8s.io/v1alpha1, command: aws}",
       "users[me].user.exec.apiVersion must be"},
      {base::cat("exec: {", v1, ", interactiveMode: Never}"), "exec.command is missing"},
      {base::cat("exec: {", v1, ", command: aws}"), "exec.interactiveMode must be Never"},
      {base::cat("exec: {", v1, ", command: aws, interactiveMode: Never, args: x}"),
       "exec.args must be a list"},
      {base::cat("exec: {", v1, ", command: aws, interactiveMode: Never, args: [1]}"),
       "exec.args must be a list of texts"},
      {base::cat("exec: {", v1, ", command: aws, interactiveMode: Never, env: [A=b]}"),
       "exec.env must be a list of names and values"},
      {base::cat("exec: {", v1, ", command: aws, interactiveMode: Never, env: [{name: 1}]}"),
       "exec.env[].name must be a text"},
  };
  for (const auto& [user, message] : cases) {
    const auto access = load_kubeconfig(config(kServer, user), {}, ExecUse::Allowed);
    ASSERT_FALSE(access) << message;
    EXPECT_THAT(access.error().message, HasSubstr(message));
  }
  EXPECT_TRUE(load_kubeconfig(config(kServer, base::cat("exec: {", v1, "beta1, command: aws}")), {},
                              ExecUse::Allowed))
      << "v1beta1 may say nothing of how it asks";
}

TEST_F(KubeconfigTest, AContextThatIsNamedGoesBeforeTheCurrentOneAndBeforeThePodsAccount) {
  const std::string file =
      write("two",
            "apiVersion: v1\nkind: Config\ncurrent-context: a\n"
            "contexts: [{name: a, context: {cluster: x}}, {name: b, context: {cluster: x, "
            "namespace: team-b}}]\n"
            "clusters: [{name: x, cluster: {server: 'http://127.0.0.1:8001'}}]\n");
  const auto in_pod = [&](const char* name) -> std::string {
    if (std::string_view(name) == "KUBERNETES_SERVICE_HOST") return "10.96.0.1";
    return std::string_view(name) == "HOME" ? directory.string() : "";
  };
  const auto named = find_cluster(file, in_pod, "b");
  ASSERT_TRUE(named) << named.error().message;
  EXPECT_EQ(named->ns, "team-b");
  const auto none = find_cluster(file, in_pod, "c");
  ASSERT_FALSE(none);
  EXPECT_THAT(none.error().message, testing::HasSubstr("context \"c\" is not in contexts"));
  const auto at_home = find_cluster("", in_pod, "b");
  ASSERT_FALSE(at_home);
  EXPECT_THAT(at_home.error().message, testing::HasSubstr("/.kube/config"));
}

TEST_F(KubeconfigTest, SaysWhatIsWrongWithAFile) {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"", "not a kubeconfig"},
      {"a: b: c", "config:1"},
      {"apiVersion: v1\nkind: Config\nclusters: 7\n", "clusters must be a list"},
      {"apiVersion: v1\nkind: Config\nusers: [{user: {}}]\n", "users[0].name is missing"},
      {"apiVersion: v1\nkind: Config\ncurrent-context: x\n",
       "current-context \"x\" is not in contexts"},
      {"apiVersion: v1\nkind: Config\ncurrent-context: x\n"
       "contexts: [{name: x, context: {cluster: other}}]\n",
       "contexts[x].context.cluster names \"other\", which is not in clusters"},
      {"apiVersion: v1\nkind: Config\ncurrent-context: x\n"
       "contexts: [{name: x, context: {}}]\n",
       "contexts[x].context.cluster is missing"},
  };
  for (const auto& [content, message] : cases) {
    const auto access = load_kubeconfig(write("config", content));
    ASSERT_FALSE(access) << message;
    EXPECT_THAT(access.error().message, HasSubstr(message));
  }
}

TEST_F(KubeconfigTest, SaysWhenThereIsNoFile) {
  const auto access = load_kubeconfig((directory / "none").string());
  ASSERT_FALSE(access);
  EXPECT_THAT(access.error().message, HasSubstr("there is no such file"));
}

TEST_F(KubeconfigTest, UsesThePodsServiceAccount) {
  write("token", "secret");
  write("ca.crt", "CA");
  write("namespace", "nvidia\n");
  const auto access = in_cluster("10.96.0.1", "443", directory.string());
  ASSERT_TRUE(access) << access.error().message;
  EXPECT_EQ(access->http.base_url, "https://10.96.0.1:443");
  EXPECT_EQ(access->http.token_file, (directory / "token").string());
  EXPECT_EQ(access->ns, "nvidia");
}

TEST_F(KubeconfigTest, ReachesAServerWithAnIpv6Address) {
  write("token", "secret");
  write("ca.crt", "CA");
  const auto access = in_cluster("fd00::1", "443", directory.string());
  ASSERT_TRUE(access) << access.error().message;
  EXPECT_EQ(access->http.base_url, "https://[fd00::1]:443");
}

TEST_F(KubeconfigTest, SaysThatThePodHasNoServiceAccount) {
  const auto access = in_cluster("10.96.0.1", "443", directory.string());
  ASSERT_FALSE(access);
  EXPECT_THAT(access.error().message, HasSubstr("automountServiceAccountToken"));
}

TEST_F(KubeconfigTest, PrefersTheFlagThenTheVariableThenThePod) {
  const std::string file = config("server: 'http://file'", "");
  const auto in_pod = [&](const char* name) -> std::string {
    return std::string(name) == "KUBERNETES_SERVICE_HOST" ? "10.96.0.1" : "";
  };
  const auto with_variable = [&](const char* name) -> std::string {
    return std::string(name) == "KUBECONFIG" ? file : in_pod(name);
  };
  EXPECT_TRUE(find_cluster(file, in_pod));
  EXPECT_TRUE(find_cluster("", with_variable));
  const auto pod = find_cluster("", in_pod);
  ASSERT_FALSE(pod) << "this test does not run in a pod";
  EXPECT_THAT(pod.error().message, HasSubstr("serviceaccount/token"));
}

TEST(Base64, DecodesEveryLength) {
  EXPECT_EQ(base64_decoded(""), "");
  EXPECT_EQ(base64_decoded("Zg=="), "f");
  EXPECT_EQ(base64_decoded("Zm8="), "fo");
  EXPECT_EQ(base64_decoded("Zm9v\nYmFy\n"), "foobar");
  EXPECT_EQ(base64_decoded("/+8="), "\xff\xef");
}

TEST(Base64, RefusesWhatIsNone) {
  for (const char* text : {"Z", "Zg", "Zg=", "Zm8==", "Zg==Zg==", "Z*==", "===="}) {
    EXPECT_EQ(base64_decoded(text), std::nullopt) << text;
  }
}

}  // namespace
}  // namespace cdom::kube
