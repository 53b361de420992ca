// What is read of an API server, and what it says that is missing.
#include "compute_domain/plugin/read_cluster.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "compute_domain/controller/definitions.h"
#include "compute_domain/plugin/check.h"
#include "compute_domain/plugin/pod_logs.h"
#include "compute_domain/sandbox/api_server.h"
#include "source_tree/source_tree.h"

namespace cdom::plugin {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::SizeIs;

// An API server, some of whose answers are others.
class Altered : public http::Client {
 public:
  using Answer = std::optional<base::Result<http::Response>>;

  Altered(std::shared_ptr<http::Client> server, std::function<Answer(const std::string&)> alter)
      : server_(std::move(server)), alter_(std::move(alter)) {}

  base::Result<http::Response> send(const http::Request& request) override {
    targets.push_back(request.target);
    const Answer other = alter_(request.target);
    return other ? *other : server_->send(request);
  }
  base::Result<http::Opened> open(const http::Request& request) override {
    return server_->open(request);
  }
  void shut_down() override {}

  std::vector<std::string> targets;

 private:
  std::shared_ptr<http::Client> server_;
  std::function<Answer(const std::string&)> alter_;
};

http::Response answer_of(int status, std::string body) {
  return {.status = status, .headers = {}, .body = std::move(body)};
}

class ReadCluster : public ::testing::Test {
 protected:
  void load(const std::string& yaml) {
    const auto loaded = server_.load(yaml);
    ASSERT_TRUE(loaded) << loaded.error().message;
  }
  void load_definitions() {
    for (const char* name : {"computedomains", "computedomainnodes", "computedomaincliques"}) {
      load(source_text(std::string("crds/") + name + ".yaml"));
    }
  }
  base::Result<ClusterView> read(const sandbox::User& user = sandbox::admin_user()) {
    const auto transport = server_.client(user);
    kube::Client client(*transport, clock_, "test");
    return read_cluster(client, {.user = "team-a"}, clock_);
  }
  // From a server that answers so to what has this in its target.
  base::Result<ClusterView> read_altered(const std::string& part, const http::Response& answer) {
    Altered transport(server_.client(sandbox::admin_user()),
                      [&](const std::string& target) -> Altered::Answer {
                        if (target.find(part) == std::string::npos) return std::nullopt;
                        return answer;
                      });
    kube::Client client(transport, clock_, "test");
    return read_cluster(client, {.user = "team-a"}, clock_);
  }

  base::ManualClock clock_;
  sandbox::ApiServer server_{clock_};
};

TEST_F(ReadCluster, HasWhatIsThere) {
  load_definitions();
  load("{apiVersion: v1, kind: Namespace, metadata: {name: team-a}}");
  load("{apiVersion: v1, kind: Namespace, metadata: {name: team-b}}");
  load(R"({apiVersion: resource.nvidia.com/v1beta1, kind: ComputeDomain,
      metadata: {name: train, namespace: team-a},
      spec: {numNodes: 2, channel: {resourceClaimTemplate: {name: train-channel}}}})");
  load(R"({apiVersion: v1, kind: Pod, metadata: {name: a, namespace: team-a},
      spec: {containers: [{name: c, image: i, env: [{name: PASSWORD, value: hunter2}]}],
             resourceClaims: [{name: x, resourceClaimTemplateName: train-channel}]}})");
  for (const char* ns : {"team-a", "team-b"}) {
    load(std::string("{apiVersion: v1, kind: Pod, metadata: {name: plain, namespace: ") + ns +
         "}, spec: {containers: [{name: c, image: i}]}}");
  }
  const auto view = read();
  ASSERT_TRUE(view) << view.error().message;
  EXPECT_THAT(view->definitions, SizeIs(3));
  EXPECT_THAT(view->domains, SizeIs(1));
  ASSERT_THAT(view->pods, SizeIs(1));
  EXPECT_EQ(view->pods.front().claims.front().template_name, "train-channel");
  EXPECT_TRUE(is_of_others<api::PodState>(*view, {"team-a", "plain"}));
  EXPECT_FALSE(is_of_others<api::PodState>(*view, {"team-b", "plain"}));
  EXPECT_EQ(view->pods_read_in, "team-a");
  EXPECT_EQ(lacking_api(*view), "");
}

// What a namespace's users may make as large as they like.
TEST_F(ReadCluster, KeepsNothingOfOthers) {
  load_definitions();
  load("{apiVersion: v1, kind: Namespace, metadata: {name: team-a}}");
  load(R"({apiVersion: resource.k8s.io/v1, kind: ResourceClaim,
      metadata: {name: other, namespace: team-a, annotations: {note: large}},
      spec: {devices: {requests: [{name: x, exactly: {deviceClassName: gpu.example.com}}]}}})");
  load(R"({apiVersion: v1, kind: Event, metadata: {name: e, namespace: team-a},
      message: large, involvedObject: {kind: Pod, name: gone, namespace: team-a, uid: none}})");
  const auto view = read();
  ASSERT_TRUE(view) << view.error().message;
  EXPECT_THAT(view->claims, SizeIs(0));
  EXPECT_TRUE(is_of_others<api::ResourceClaim>(*view, {"team-a", "other"}));
  EXPECT_THAT(view->events, SizeIs(0));
}

// Why a DaemonSet has no pods is told by Events on itself.
TEST_F(ReadCluster, HasTheEventsOfTheOperatorsNamespacesOnce) {
  load_definitions();
  load("{apiVersion: v1, kind: Namespace, metadata: {name: compute-domain-nodes}}");
  load(R"({apiVersion: v1, kind: Pod, metadata: {name: a, namespace: compute-domain-nodes, uid: u},
      spec: {containers: [{name: c, image: i}]}})");
  for (const char* kind : {"DaemonSet", "Pod"}) {
    load(std::string("{apiVersion: v1, kind: Event, metadata: {namespace: compute-domain-nodes, "
                     "name: on-") +
         (kind[0] == 'P' ? "pod" : "set") + "}, message: quota, involvedObject: {kind: " + kind +
         ", name: compute-domain-agent, namespace: compute-domain-nodes, uid: v}}");
  }
  load(
      "{apiVersion: v1, kind: Event, metadata: {namespace: compute-domain-nodes, name: foreign}, "
      "message: quota, involvedObject: {kind: DaemonSet, name: vault, namespace: "
      "compute-domain-nodes, uid: w}}");
  const auto view = read();
  ASSERT_TRUE(view) << view.error().message;
  EXPECT_THAT(view->events, SizeIs(2));
}

TEST_F(ReadCluster, NamesTheLogsThatItCannotRead) {
  load_definitions();
  load("{apiVersion: v1, kind: Namespace, metadata: {name: compute-domain-nodes}}");
  load(R"({apiVersion: v1, kind: Pod, metadata: {name: agent, namespace: compute-domain-nodes,
      labels: {app: compute-domain-agent}}, spec: {containers: [{name: c, image: i}]}})");
  // Others may live in that namespace, too.
  load(R"({apiVersion: v1, kind: Pod, metadata: {name: vault, namespace: compute-domain-nodes,
      labels: {app: vault}}, spec: {containers: [{name: c, image: i}]}})");
  const auto view = read();
  ASSERT_TRUE(view) << view.error().message;
  const auto told_to = [&](const sandbox::User& user) {
    const auto transport = server_.client(user);
    const kube::Client client(*transport, clock_, "test");
    std::vector<std::string> told;
    const auto tell = [&](const std::string& sentence) { told.push_back(sentence); };
    EXPECT_THAT(read_logs(client, *view, tell), SizeIs(0));
    return told;
  };
  const auto waits =
      HasSubstr("reading the logs of 1 pod; each node that does not answer takes up to 10 s");
  EXPECT_THAT(told_to(sandbox::admin_user()),
              ElementsAre(waits, AllOf(HasSubstr("without the log of pod agent, container c: "),
                                       HasSubstr("is waiting to start"))));
  EXPECT_THAT(told_to(sandbox::service_account_user("team-a", "nobody")),
              ElementsAre(waits,
                          "without logs of namespace compute-domain-nodes: you lack the "
                          "right \"get\" on pods/log there"));
}

api::PodState operators_pod(const std::string& name, const std::string& node) {
  api::PodState pod;
  pod.meta.name = name;
  pod.meta.ns = Namespaces().nodes;
  pod.meta.labels = {{"app", "compute-domain-agent"}};
  pod.node = node;
  pod.container_specs = {{.name = "a", .image = {}, .claims = {}},
                         {.name = "b", .image = {}, .claims = {}}};
  return pod;
}

// Each such request takes until it times out.
TEST_F(ReadCluster, AsksANodeThatDoesNotAnswerForOneLogOnly) {
  ClusterView view;
  view.pods = {operators_pod("p1", "n1"), operators_pod("p2", "n1"), operators_pod("p3", "n2")};
  Altered server(server_.client(sandbox::admin_user()),
                 [](const std::string& target) -> Altered::Answer {
                   if (target.find("/pods/p3/") != std::string::npos) return answer_of(200, "log");
                   return base::Error{base::ErrorKind::Unavailable, "timed out"};
                 });
  const kube::Client client(server, clock_, "test");
  std::vector<std::string> told;
  const auto logs = read_logs(client, view, [&](const std::string& sentence) {
    told.push_back(sentence + (server.targets.empty() ? " (first)" : ""));
  });
  EXPECT_THAT(server.targets, SizeIs(1 + 4));
  EXPECT_THAT(logs, SizeIs(4));
  EXPECT_THAT(told,
              ElementsAre("reading the logs of 3 pods; each node that does not answer takes up "
                          "to 10 s (first)",
                          "without the log of pod p1, container a: timed out",
                          "without the logs of pod p2: its node n1 has not answered before"));
}

TEST_F(ReadCluster, ReadsDefinitionsThatAreWhatThisReleaseIsMadeFor) {
  load_definitions();
  const auto view = read();
  ASSERT_TRUE(view) << view.error().message;
  for (const api::Definition& expected : controller::expected_definitions()) {
    const auto it = std::ranges::find(view->definitions, expected.meta.name,
                                      [](const auto& d) { return d.meta.name; });
    ASSERT_NE(it, view->definitions.end()) << expected.meta.name;
    EXPECT_EQ(it->versions, expected.versions);
  }
}

TEST_F(ReadCluster, SaysThatThereIsNoSuchKind) {
  const auto view = read();
  ASSERT_TRUE(view) << view.error().message;
  EXPECT_THAT(lacking_api(*view),
              HasSubstr("CRD computedomains.resource.nvidia.com is not installed"));
}

TEST_F(ReadCluster, PassesOverAVersionThatIsNoText) {
  load_definitions();
  for (const char* version : {R"({"gitVersion": 7})", R"({"gitVersion": null})", "[]", "<html>"}) {
    const auto view = read_altered("/version", answer_of(200, version));
    ASSERT_TRUE(view) << view.error().message;
    EXPECT_EQ(view->server_version, "");
  }
}

// Without it no node could report, and each would be blamed for its silence.
TEST_F(ReadCluster, SaysThatThereIsNoKindForTheReportsOfNodes) {
  load(source_text("crds/computedomains.yaml"));
  const auto view = read();
  ASSERT_TRUE(view) << view.error().message;
  EXPECT_EQ(lacking_api(*view),
            "the cluster has no ComputeDomainNodes: CRD computedomainnodes.resource.nvidia.com is "
            "not installed; install the operator (docs/install.md)");
}

TEST_F(ReadCluster, SaysThatTheDefinitionServesAnotherVersion) {
  std::string text = source_text("crds/computedomains.yaml");
  text.replace(text.find("name: v1beta1"), 13, "name: v2alpha1");
  load(text);
  const auto view = read();
  ASSERT_TRUE(view) << view.error().message;
  EXPECT_THAT(lacking_api(*view), AllOf(HasSubstr("in version v2alpha1"), HasSubstr("v1beta1")));
}

TEST_F(ReadCluster, NamesTheRightThatIsMissing) {
  load_definitions();
  const auto view = read(sandbox::service_account_user("team-a", "nobody"));
  ASSERT_FALSE(view);
  EXPECT_EQ(view.error().kind, base::ErrorKind::Forbidden);
  EXPECT_THAT(view.error().message,
              AllOf(HasSubstr("you lack the right \"get\" on customresourcedefinitions"),
                    HasSubstr("ask a platform administrator"),
                    HasSubstr("kubectl describe computedomain NAME -n team-a")));
}

// From the start, or once a token has expired on the way.
TEST_F(ReadCluster, BlamesTheCredentialsWhereTheServerDoesNotKnowThem) {
  load_definitions();
  const std::string body =
      R"({"kind":"Status","status":"Failure","message":"Unauthorized","reason":"Unauthorized","code":401})";
  for (const char* part : {"", "/nodes"}) {
    const auto view = read_altered(part, answer_of(401, body));
    ASSERT_FALSE(view);
    EXPECT_TRUE(view.error().is_unauthenticated);
    EXPECT_THAT(view.error().message,
                ::testing::EndsWith("Unauthorized: the API server does not take the credentials, "
                                    "which are wrong or have expired: log in again, or name other "
                                    "ones with --kubeconfig or --context"));
    EXPECT_THAT(view.error().message, ::testing::Not(HasSubstr("you lack the right")));
  }
}

TEST(ReadOldCluster, SaysThatTheServerHasNoDynamicResourceAllocation) {
  const base::ManualClock clock;
  sandbox::ApiServer server(clock,
                            {.disabled_versions = {"resource.k8s.io/v1", "resource.k8s.io/v1beta2",
                                                   "resource.k8s.io/v1beta1"}});
  const auto transport = server.client(sandbox::admin_user());
  kube::Client client(*transport, clock, "test");
  const auto view = read_cluster(client, {}, clock);
  ASSERT_FALSE(view);
  EXPECT_THAT(view.error().message, HasSubstr("resource.k8s.io in none of the versions"));
}

}  // namespace
}  // namespace cdom::plugin
