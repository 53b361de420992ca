// The admission policies that are shipped, on the embedded API server: what a token of the operator
// can write with the rights that its roles give, and what not.
#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "compute_domain/base/clock.h"
#include "compute_domain/sandbox/api_server.h"
#include "sandbox/apiserver/api_client.h"
#include "sandbox/main/embedded_manifests.h"
#include "source_tree/source_tree.h"

namespace cdom::system_test {
namespace {

using sandbox::Answer;
using sandbox::ApiClient;
using testing::HasSubstr;
using json = nlohmann::json;

constexpr char kOperator[] = "compute-domain-operator";
constexpr char kNodes[] = "compute-domain-nodes";

class Policies : public ::testing::Test {
 protected:
  Policies() {
    for (const auto& [name, text] : program::embedded_manifests()) load(text);
    load(
        "{apiVersion: v1, kind: Namespace, metadata: {name: team-a,"
        " labels: {resource.kubernetes.io/admin-access: 'true'}}}");
    load("{apiVersion: v1, kind: Node, metadata: {name: n1, labels: {kept: 'yes'}}}");
  }
  void load(const std::string& yaml) {
    const auto done = server_.load(yaml);
    ASSERT_TRUE(done) << done.error().message;
  }
  // Refused by a policy that says so.
  static void expect_refused(const Answer& answer, const std::string& message) {
    EXPECT_EQ(answer.status, 403) << answer.body;
    EXPECT_THAT(answer.body.value("message", ""), HasSubstr(message));
  }

  base::ManualClock clock_;
  sandbox::ApiServer server_{clock_};
  ApiClient admin_{server_};
  ApiClient agent_{server_, sandbox::service_account_user(kNodes, "compute-domain-agent", "n1")};
  ApiClient controller_{server_,
                        sandbox::service_account_user(kOperator, "compute-domain-controller")};
};

constexpr char kSlices[] = "/apis/resource.k8s.io/v1/resourceslices";

json slice_in_pool(const std::string& pool,
                   const std::string& name = "n1-compute-domain.nvidia.com") {
  return {{"metadata", {{"name", name}}},
          {"spec",
           {{"driver", "compute-domain.nvidia.com"},
            {"nodeName", "n1"},
            {"pool", {{"name", pool}, {"generation", 1}, {"resourceSliceCount", 1}}},
            {"devices", json::array()}}}};
}

TEST_F(Policies, AnAgentPublishesDevicesInThePoolOfItsNodeOnly) {
  expect_refused(agent_.post(kSlices, slice_in_pool("n2")),
                 R"(the agent of node "n1" may not publish devices in the pool "n2")");
  EXPECT_EQ(agent_.post(kSlices, slice_in_pool("n1")).status, 201);
}

TEST_F(Policies, AnAgentPublishesOneSlice) {
  EXPECT_EQ(agent_.post(kSlices, slice_in_pool("n1")).status, 201);
  for (const char* name :
       {"n1-compute-domain.nvidia.com-2", "0123456789abcdef-compute-domain.nvidia.com"}) {
    expect_refused(agent_.post(kSlices, slice_in_pool("n1", name)),
                   "may create the ResourceSlice n1-compute-domain.nvidia.com only");
  }
}

// As agents publish them, and those of 0.1.0: core/node/report/slice.cpp.
json devices_of_an_agent(int count, bool has_fabric = true) {
  json devices = json::array();
  for (int i = 0; i < count; ++i) {
    json attributes = {{"type", {{"string", "channel"}}}, {"id", {{"int", 0}}}};
    if (has_fabric) attributes["clique"] = {{"string", "u.1"}};
    devices.push_back({{"name", "channel-" + std::to_string(i)}, {"attributes", attributes}});
  }
  return devices;
}

TEST_F(Policies, AnAgentPublishesTheDevicesThatItHas) {
  json slice = slice_in_pool("n1");
  slice["spec"]["devices"] = devices_of_an_agent(1, /*has_fabric=*/false);
  EXPECT_EQ(agent_.post(kSlices, slice).status, 201);
  for (const int count : {0, 1, 8, 128}) {
    const json change = {{"spec", {{"devices", devices_of_an_agent(count)}}}};
    EXPECT_EQ(agent_.merge(std::string(kSlices) + "/n1-compute-domain.nvidia.com", change).status,
              200);
  }
}

// The selectors of device classes read these of every device: where an attribute is missing or of
// another type, some selectors end the search for a node for every pod, whatever other nodes offer.
TEST_F(Policies, AnAgentPublishesDevicesWithTypeAndIdOnly) {
  const json type = {{"string", "channel"}}, id = {{"int", 0}}, clique = {{"string", "u.1"}};
  for (const json& attributes :
       {json::object(), json{{"type", type}}, json{{"id", id}},
        json{{"type", {{"version", "1.0.0"}}}, {"id", id}},
        json{{"type", {{"string", "shared-channel"}}}, {"id", id}},
        json{{"type", {{"bool", true}}}, {"id", id}},
        json{{"type", type}, {"id", {{"string", "0"}}}}, json{{"type", type}, {"id", {{"int", 1}}}},
        json{{"type", type}, {"id", id}, {"clique", {{"version", "1.0.0"}}}},
        json{{"type", type}, {"id", id}, {"clique", {{"int", 0}}}},
        json{{"type", type}, {"id", id}, {"clique", clique}, {"more", clique}},
        json{{"type", type}, {"id", id}, {"compute-domain.nvidia.com/clique", clique}}}) {
    json slice = slice_in_pool("n1");
    slice["spec"]["devices"] = devices_of_an_agent(3);
    slice["spec"]["devices"][1]["attributes"] = attributes;
    expect_refused(agent_.post(kSlices, slice), "an agent may publish devices with the attributes");
  }
  json slice = slice_in_pool("n1");
  slice["spec"]["devices"] = {{{"name", "channel-0"}}};
  expect_refused(agent_.post(kSlices, slice), "an agent may publish devices with the attributes");
}

TEST_F(Policies, AnAgentPublishesNothingElseOfADevice) {
  const json fields = {
      {"capacity", {{"bw", {{"value", "1"}}}}},
      {"taints", {{{"key", "k"}, {"effect", "NoExecute"}}}},
      {"consumesCounters", {{{"counterSet", "a"}, {"counters", {{"b", {{"value", "1"}}}}}}}},
      {"nodeName", "n1"},
      {"allNodes", true},
      {"bindingConditions", {"c"}},
      {"allowMultipleAllocations", true}};
  for (const auto& [field, value] : fields.items()) {
    json slice = slice_in_pool("n1");
    slice["spec"]["devices"] = devices_of_an_agent(2);
    slice["spec"]["devices"][1][field] = value;
    expect_refused(agent_.post(kSlices, slice), "an agent may publish devices channel-0");
  }
  for (const char* name :
       {"daemon-0", "channel-a", "channel-0a", "channel-1000", "gpu-channel-0"}) {
    json slice = slice_in_pool("n1");
    slice["spec"]["devices"] = devices_of_an_agent(1);
    slice["spec"]["devices"][0]["name"] = name;
    expect_refused(agent_.post(kSlices, slice), "an agent may publish devices channel-0");
  }
  json slice = slice_in_pool("n1");
  slice["spec"]["sharedCounters"] = {{{"name", "a"}, {"counters", {{"b", {{"value", "1"}}}}}}};
  expect_refused(agent_.post(kSlices, slice), "an agent may publish devices of its node only");
}

TEST_F(Policies, WhatAnAgentPublishesIsPinnedInOlderVersionsToo) {
  const std::string path = "/apis/resource.k8s.io/v1beta1/resourceslices";
  const auto slice_with = [](const json& basic) {
    json slice = slice_in_pool("n1");
    slice["spec"]["devices"] = {{{"name", "channel-0"}, {"basic", basic}}};
    return slice;
  };
  const json attributes = devices_of_an_agent(1)[0]["attributes"];
  expect_refused(agent_.post(path, slice_with(json::object())), "with the attributes type");
  expect_refused(agent_.post(path, slice_with({{"attributes", {{"id", {{"int", 0}}}}}})),
                 "with the attributes type");
  expect_refused(agent_.post(path, slice_with({{"attributes", attributes}, {"allNodes", true}})),
                 "an agent may publish devices channel-0");
  EXPECT_EQ(agent_.post(path, slice_with({{"attributes", attributes}})).status, 201);
}

TEST_F(Policies, AnAgentOfANodeWithALongNamePublishesASliceWithAHashedName) {
  const std::string node(230, 'n');
  ApiClient agent(server_, sandbox::service_account_user(kNodes, "compute-domain-agent", node));
  json slice = slice_in_pool(node, "0123456789abcdef-compute-domain.nvidia.com");
  slice["spec"]["nodeName"] = node;
  EXPECT_EQ(agent.post(kSlices, slice).status, 201);
  slice["metadata"]["name"] = "another";
  expect_refused(agent.post(kSlices, slice), "may create the ResourceSlice ");
}

constexpr char kNode[] = "/api/v1/nodes/n1";
constexpr char kAgentLabel[] = "resource.nvidia.com/compute-domain-agent";

json labels(const json& values) { return {{"metadata", {{"labels", values}}}}; }

TEST_F(Policies, TheControllerChangesTheAgentLabelOfANodeOnly) {
  const std::vector<json> refused = {
      {{"spec", {{"unschedulable", true}}}},
      {{"spec", {{"taints", {{{"key", "stolen"}, {"effect", "NoExecute"}}}}}}},
      {{"metadata", {{"finalizers", {"stolen/token"}}}}},
      {{"metadata", {{"annotations", {{"stolen", "yes"}}}}}},
      labels({{"kept", nullptr}}),
      labels({{"nvidia.com/gpu.clique", "u.1"}}),
      labels({{"resource.nvidia.com/computeDomain", "uid"}}),
      labels({{"node-role.kubernetes.io/control-plane", ""}}),
      labels({{kAgentLabel, "false"}})};
  for (const json& change : refused) {
    expect_refused(controller_.merge(kNode, change), "the controller may");
  }
  EXPECT_EQ(controller_.merge(kNode, labels({{kAgentLabel, "detected"}})).status, 200);
  EXPECT_EQ(controller_.merge(kNode, labels({{kAgentLabel, nullptr}})).status, 200);
  EXPECT_EQ(admin_.merge(kNode, labels({{kAgentLabel, "false"}})).status, 200);
  expect_refused(controller_.merge(kNode, labels({{kAgentLabel, nullptr}})), "\"detected\"");
}

TEST_F(Policies, TheControllerRemovesTheLabelOfAnAdoptedDomainFromANode) {
  const std::string label = "resource.nvidia.com/computeDomain";
  EXPECT_EQ(admin_.merge(kNode, labels({{label, "uid"}})).status, 200);
  EXPECT_EQ(controller_.merge(kNode, labels({{label, nullptr}})).status, 200);
}

constexpr char kReports[] = "/apis/resource.nvidia.com/v1beta1/computedomainnodes";

TEST_F(Policies, TheReportIsTheNodesAndWhetherItIsStaleTheControllers) {
  const auto status = [](const json& fields) { return json{{"status", fields}}; };
  const json stale = {{"state", "Unknown"},
                      {"reason", "NodeUnknown"},
                      {"message", "its kubelet is silent"},
                      {"since", "2026-11-20T00:00:00Z"}};
  EXPECT_EQ(agent_.post(kReports, {{"metadata", {{"name", "n1"}}}}).status, 201);
  const std::string path = std::string(kReports) + "/n1/status";
  EXPECT_EQ(agent_.merge(path, status({{"bootID", "b1"}, {"clique", "u.1"}})).status, 200);

  for (const json& change : {json{{"bootID", "b2"}}, json{{"address", "10.0.0.1"}},
                             json{{"clique", nullptr}, {"stale", stale}}}) {
    expect_refused(controller_.merge(path, status(change)), "may change status.stale and");
  }
  EXPECT_EQ(controller_.merge(path, status({{"stale", stale}})).status, 200);

  expect_refused(agent_.merge(path, status({{"stale", nullptr}})), "may not change status.stale");
  json another = stale;
  another["reason"] = "Other";
  expect_refused(agent_.merge(path, status({{"stale", another}})), "may not change status.stale");
  const Answer said = agent_.merge(path, status({{"address", "10.0.0.1"}}));
  EXPECT_EQ(said.status, 200);
  EXPECT_EQ(said.body["status"]["stale"], stale) << "a report leaves it there";
  EXPECT_EQ(controller_.merge(path, status({{"stale", nullptr}})).status, 200);
}

TEST_F(Policies, TheControllerTellsAnAgentOfItsNodeAndNothingElse) {
  const std::string report = std::string(kReports) + "/n1";
  EXPECT_EQ(agent_.post(kReports, {{"metadata", {{"name", "n1"}}}}).status, 201);
  const auto annotations = [](const json& values) {
    return json{{"metadata", {{"annotations", values}}}};
  };
  EXPECT_EQ(
      controller_.merge(report, annotations({{"resource.nvidia.com/pause", "cordoned"}})).status,
      200);
  for (const json& change :
       {annotations({{"resource.nvidia.com/fenced", "boot-1"}}), labels({{"stolen", "yes"}}),
        json{{"metadata", {{"finalizers", {"stolen/token"}}}}}}) {
    expect_refused(controller_.merge(report, change),
                   "the annotation resource.nvidia.com/pause only");
  }
  EXPECT_EQ(controller_.merge(report, annotations({{"resource.nvidia.com/pause", nullptr}})).status,
            200);
}

constexpr char kDomains[] = "/apis/resource.nvidia.com/v1beta1/namespaces/team-a/computedomains";

TEST_F(Policies, TheControllerMakesAndDeletesDomainsOfWorkloadsOnly) {
  const json users = {{"metadata", {{"name", "train"}}}, {"spec", {{"numNodes", 2}}}};
  const json automatic = {{"metadata", {{"name", "auto"}}},
                          {"spec", {{"workload", {{"kind", "Job"}, {"name", "job"}}}}}};
  expect_refused(controller_.post(kDomains, users), "with spec.workload only");
  EXPECT_EQ(controller_.post(kDomains, automatic).status, 201);
  EXPECT_EQ(admin_.post(kDomains, users).status, 201);
  const std::string train = std::string(kDomains) + "/train";
  expect_refused(controller_.remove(train), "with spec.workload only");
  EXPECT_EQ(controller_.remove(std::string(kDomains) + "/auto").status, 200);

  expect_refused(controller_.merge(train, {{"spec", {{"numNodes", 3}}}}), "its finalizer only");
  expect_refused(controller_.merge(train, labels({{"stolen", "yes"}})), "its finalizer only");
  const auto finalizers = [](const json& names) {
    return json{{"metadata", {{"finalizers", names}}}};
  };
  const std::string ours = "resource.nvidia.com/computeDomain";
  expect_refused(controller_.merge(train, finalizers({"stolen/token"})), "the finalizer");
  EXPECT_EQ(controller_.merge(train, finalizers({ours})).status, 200);
  EXPECT_EQ(admin_.merge(train, finalizers({ours, "a.user/s"})).status, 200);
  expect_refused(controller_.merge(train, finalizers({ours})), "the finalizer");
  EXPECT_EQ(controller_.merge(train, finalizers({"a.user/s"})).status, 200);
}

constexpr char kTemplates[] = "/apis/resource.k8s.io/v1/namespaces/team-a/resourceclaimtemplates";

json claim_template(const std::string& name, const json& exactly,
                    const std::string& driver = "compute-domain.nvidia.com") {
  return {
      {"metadata", {{"name", name}, {"labels", {{"resource.nvidia.com/computeDomain", "uid"}}}}},
      {"spec",
       {{"spec",
         {{"devices",
           {{"requests", {{{"name", "channel"}, {"exactly", exactly}}}},
            {"config", {{{"opaque", {{"driver", driver}, {"parameters", json::object()}}}}}}}}}}}}};
}

TEST_F(Policies, TheControllerMakesTemplatesForChannelsOnly) {
  const json channel = {{"deviceClassName", "compute-domain-default-channel.nvidia.com"}};
  EXPECT_EQ(controller_.post(kTemplates, claim_template("own", channel)).status, 201);
  json admin_access = channel;
  admin_access["adminAccess"] = true;
  expect_refused(controller_.post(kTemplates, claim_template("a", admin_access)), "for channels");
  expect_refused(
      controller_.post(kTemplates, claim_template("b", {{"deviceClassName", "gpu.nvidia.com"}})),
      "for channels");
  expect_refused(controller_.post(kTemplates, claim_template("c", channel, "gpu.nvidia.com")),
                 "for channels");
  json unlabelled = claim_template("users", channel);
  unlabelled["metadata"].erase("labels");
  expect_refused(controller_.post(kTemplates, unlabelled), "with the label");
  EXPECT_EQ(admin_.post(kTemplates, unlabelled).status, 201);
  expect_refused(controller_.remove(std::string(kTemplates) + "/users"), "with the label");
  EXPECT_EQ(controller_.remove(std::string(kTemplates) + "/own").status, 200);
}

TEST_F(Policies, TheControllerWritesConfigMapsOfNodeListsOnly) {
  const std::string maps = std::string("/api/v1/namespaces/") + kOperator + "/configmaps";
  const json trust = {{"metadata", {{"name", "kube-root-ca.crt"}}}, {"data", {{"ca.crt", "ours"}}}};
  expect_refused(controller_.post(maps, trust), "node lists only");
  EXPECT_EQ(admin_.post(maps, trust).status, 201);
  expect_refused(controller_.merge(maps + "/kube-root-ca.crt", {{"data", {{"ca.crt", "x"}}}}),
                 "node lists only");
  expect_refused(controller_.remove(maps + "/kube-root-ca.crt"), "node lists only");
  const json list = {{"metadata", {{"name", "compute-domain-group-0123456789abcdef"}}}};
  EXPECT_EQ(controller_.post(maps, list).status, 201);
}

constexpr char kDaemonSets[] = "/apis/apps/v1/namespaces/team-a/daemonsets";

json daemon_set(const std::string& name, const json& labels) {
  const json selected = {{"app", "daemon"}};
  return {
      {"metadata",
       {{"name", name}, {"labels", labels}, {"finalizers", {"resource.nvidia.com/computeDomain"}}}},
      {"spec",
       {{"selector", {{"matchLabels", selected}}},
        {"template",
         {{"metadata", {{"labels", selected}}},
          {"spec", {{"containers", {{{"name", "daemon"}, {"image", "nvidia"}}}}}}}}}}};
}

TEST_F(Policies, ToAdoptIsToRemoveDaemonSetsOfTheReferenceDriverOnly) {
  for (const char* file : {"policy", "rbac"}) {
    load(source_text(std::string("manifests/adopt/") + file + ".yaml"));
  }
  const json of_domain = {{"resource.nvidia.com/computeDomain", "uid"}};
  EXPECT_EQ(admin_.post(kDaemonSets, daemon_set("computedomain-daemon-uid", of_domain)).status,
            201);
  EXPECT_EQ(admin_.post(kDaemonSets, daemon_set("network", json::object())).status, 201);
  EXPECT_EQ(admin_.post(kDaemonSets, daemon_set("labelled", of_domain)).status, 201);
  const json other_image = {
      {"spec",
       {{"template", {{"spec", {{"containers", {{{"name", "daemon"}, {"image", "stolen"}}}}}}}}}}};
  const json released = {{"metadata", {{"finalizers", json::array()}}}};
  for (const std::string name : {"network", "labelled"}) {
    const std::string path = std::string(kDaemonSets) + "/" + name;
    expect_refused(controller_.merge(path, released), "of NVIDIA's DRA driver only");
    expect_refused(controller_.merge(path, labels(of_domain)), "of NVIDIA's DRA driver only");
    expect_refused(controller_.remove(path), "of NVIDIA's DRA driver only");
  }
  const std::string theirs = std::string(kDaemonSets) + "/computedomain-daemon-uid";
  expect_refused(controller_.merge(theirs, other_image), "the finalizer");
  EXPECT_EQ(controller_.remove(theirs).status, 200);
  EXPECT_EQ(controller_.merge(theirs, released).status, 200);
}

TEST_F(Policies, OfAdviceRefuseNothing) {
  load(source_text("manifests/base/user-policy.yaml"));
  const Answer made = admin_.post(
      "/apis/resource.nvidia.com/v1beta1/namespaces/team-a/computedomains",
      {{"metadata", {{"name", "train"}}},
       {"spec",
        {{"numNodes", 0}, {"channel", {{"resourceClaimTemplate", {{"name", "Not_A_Name"}}}}}}}});
  EXPECT_EQ(made.status, 201) << made.body;
}

TEST_F(Policies, OneCliqueRequiresANumberOfNodes) {
  const auto with_nodes = [&](const std::string& name, int nodes) {
    return admin_.post("/apis/resource.nvidia.com/v1beta1/namespaces/team-a/computedomains",
                       {{"metadata", {{"name", name}}},
                        {"spec", {{"numNodes", nodes}, {"placement", {{"clique", "Single"}}}}}});
  };
  load(source_text("manifests/base/user-policy.yaml"));
  const Answer refused = with_nodes("any", 0);
  EXPECT_EQ(refused.status, 422) << refused.body;
  EXPECT_THAT(refused.body.value("message", ""),
              HasSubstr("spec.placement.clique=Single requires spec.numNodes"));
  EXPECT_EQ(with_nodes("two", 2).status, 201);
}

}  // namespace
}  // namespace cdom::system_test
