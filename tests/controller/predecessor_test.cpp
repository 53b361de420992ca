// NVIDIA's controller as its charts install it, on the sandbox's API server with our own rights.
#include "compute_domain/controller/predecessor.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "compute_domain/api/codec.h"
#include "compute_domain/base/text.h"
#include "compute_domain/sandbox/api_server.h"
#include "controller/empty_server.h"
#include "source_tree/source_tree.h"

namespace cdom::controller {
namespace {

using base::cat;
using nlohmann::json;

constexpr char kOurs[] = "compute-domain-operator";

json object_in(const std::string& yaml) {
  const auto objects = api::objects_in_yaml(yaml, "fixture");
  return json::parse(objects.value().at(0));
}

class Predecessor : public testing::Test {
 protected:
  void SetUp() override {
    for (const char* file : {"crds/computedomains.yaml", "manifests/base/namespace.yaml",
                             "manifests/base/controller-rbac.yaml"}) {
      load(source_text(file));
    }
    load("{apiVersion: v1, kind: Namespace, metadata: {name: nvidia}}");
  }

  std::optional<std::string> found(Look look = Look::AtPods) {
    return find_predecessor(client_, look, kOurs);
  }

  void load(const std::string& yaml) {
    const auto loaded = server_.load(yaml);
    ASSERT_TRUE(loaded) << loaded.error().message;
  }

  static json fixture(const std::string& name) {
    return object_in(source_text(cat("tests/controller/fixtures/", name, ".yaml")));
  }

  // The Deployment, the pod that its controllers make of it, and what they say of both.
  void install(const json& deployment) {
    load(deployment.dump());
    json pod = deployment["spec"]["template"];
    pod["apiVersion"] = "v1";
    pod["kind"] = "Pod";
    pod["metadata"]["name"] = "its-pod";
    pod["metadata"]["namespace"] = deployment["metadata"]["namespace"];
    load(pod.dump());
    set_ready(deployment, true);
  }
  void set_ready(const json& deployment, bool is_ready) {
    const std::string& ns = deployment["metadata"]["namespace"];
    const std::string& name = deployment["metadata"]["name"];
    set_status(cat("/apis/apps/v1/namespaces/", ns, "/deployments/", name),
               {{"readyReplicas", is_ready ? 1 : 0}});
    set_status(cat("/api/v1/namespaces/", ns, "/pods/its-pod"),
               {{"phase", "Running"},
                {"conditions", {{{"type", "Ready"}, {"status", is_ready ? "True" : "False"}}}}});
  }
  // As a role of its chart does, which a person of the cluster has applied.
  void give_rights(const json& deployment, const std::string& verb = "update") {
    const std::string& ns = deployment["metadata"]["namespace"];
    const std::string account =
        deployment["spec"]["template"]["spec"].value("serviceAccountName", "default");
    load(cat(R"(
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: theirs}
rules: [{apiGroups: [resource.nvidia.com], resources: [computedomains], verbs: [get, list, watch, )",
             verb, R"(]}]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {name: theirs}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: theirs}
subjects: [{kind: ServiceAccount, name: )",
             account, ", namespace: ", ns, "}]\n"));
  }

 private:
  void set_status(const std::string& path, const json& status) {
    const http::Request request{.method = "PATCH",
                                .target = path + "/status",
                                .headers = {{"Content-Type", "application/merge-patch+json"}},
                                .body = json{{"status", status}}.dump()};
    const auto answer = server_.handle(request, sandbox::admin_user());
    ASSERT_EQ(answer.status, 200) << answer.body;
  }

  base::ManualClock clock_;
  sandbox::ApiServer server_{clock_};
  const std::unique_ptr<http::Client> transport_ =
      server_.client(sandbox::service_account_user(kOurs, "compute-domain-controller"));
  const kube::Client client_{*transport_, clock_, "test"};
};

// One server for each chart: the API server refuses a pod of another spec under the same name.
class PredecessorOfChart : public Predecessor, public testing::WithParamInterface<const char*> {};

TEST_P(PredecessorOfChart, IsFoundByItsPods) {
  const json deployment = fixture(GetParam());
  install(deployment);
  give_rights(deployment);
  EXPECT_EQ(found(), "Pod nvidia/its-pod");
  set_ready(deployment, false);
  EXPECT_EQ(found(), std::nullopt);
}

INSTANTIATE_TEST_SUITE_P(HoweverItWasInstalled, PredecessorOfChart,
                         testing::Values("chart", "chart-25", "gpu-operator"));

TEST_F(Predecessor, IsFoundByItsCommandUnderAnyLabels) {
  json renamed = fixture("chart");
  renamed["spec"]["selector"]["matchLabels"] = {{"gpu-stack-component", "controller"}};
  renamed["spec"]["template"]["metadata"]["labels"] = {{"gpu-stack-component", "controller"}};
  renamed["spec"]["template"]["spec"]["containers"][0]["command"] = {
      "/usr/bin/compute-domain-controller", "-v", "4"};
  install(renamed);
  give_rights(renamed);
  EXPECT_EQ(found(Look::AtPods), std::nullopt);
  EXPECT_EQ(found(Look::AtDeployments), "Deployment nvidia/dra-driver-nvidia-gpu-controller");
}

TEST_F(Predecessor, IsNotATenantsPodThatLooksLikeIt) {
  const json deployment = fixture("chart");
  install(deployment);
  EXPECT_EQ(found(Look::AtDeployments), std::nullopt) << "its account may not write ComputeDomains";
  give_rights(deployment, "patch");
  EXPECT_NE(found(), std::nullopt);
}

TEST_F(Predecessor, IsNotOurselvesButThisOperatorInAnotherNamespace) {
  json ours = fixture("chart");
  ours["metadata"] = {{"name", "compute-domain-controller"}, {"namespace", kOurs}};
  json& pods = ours["spec"]["template"];
  pods["metadata"]["labels"] = {{"app", "compute-domain-controller"}};
  pods["spec"]["serviceAccountName"] = "compute-domain-controller";
  ours["spec"]["selector"]["matchLabels"] = pods["metadata"]["labels"];
  install(ours);
  EXPECT_EQ(found(Look::AtDeployments), std::nullopt);

  ours["metadata"]["namespace"] = "nvidia";
  install(ours);
  give_rights(ours, "patch");
  EXPECT_EQ(found(Look::AtDeployments), "Deployment nvidia/compute-domain-controller");
}

TEST(NoPredecessor, IsFoundWhereWeMayNotLook) {
  const base::ManualClock clock;
  sandbox::ApiServer server(clock);
  const auto transport = server.client(sandbox::service_account_user("nobody", "nobody"));
  const kube::Client client(*transport, clock, "test");
  EXPECT_EQ(find_predecessor(client, Look::AtDeployments, kOurs), std::nullopt);
}

// A tenant may have hundreds of Deployments with that command.
TEST(PredecessorByDeployments, AsksOnceAboutEachAccount) {
  EmptyServer server;
  std::vector<std::string> tenants;
  tenants.reserve(400);
  for (int i = 0; i < 400; ++i) {
    tenants.push_back(cat(R"({"metadata":{"namespace":"team-a","name":"d)", i, R"("},"spec":{
        "template":{"spec":{"containers":[{"name":"c","command":["compute-domain-controller"]}]}}},
        "status":{"readyReplicas":1}})"));
  }
  server.put("deployments", base::join(tenants, ","));
  const base::ManualClock clock;
  const kube::Client client(server, clock, "test");
  EXPECT_EQ(find_predecessor(client, Look::AtDeployments, kOurs), std::nullopt);
  EXPECT_EQ(server.created().size(), 2U) << "may it update, may it patch";
}

}  // namespace
}  // namespace cdom::controller
