// One node's agent in a test: the real agent, an API server in memory with the shipped CRDs and
// permissions, and ports in memory that outlive the agent.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <string>

#include "agent/memory_channel_injector.h"
#include "agent/memory_checkpoint_store.h"
#include "agent/memory_fabric.h"
#include "agent/memory_imex_supervisor.h"
#include "agent/memory_kubelet_state.h"
#include "compute_domain/agent/stepped_agent.h"
#include "compute_domain/api/names.h"
#include "compute_domain/core/membership.h"
#include "compute_domain/core/node_lists.h"
#include "compute_domain/sandbox/api_server.h"
#include "source_tree/source_tree.h"

namespace cdom::agent {

inline constexpr char kNode[] = "n00";
inline constexpr char kClique[] = "rack-1.7";
inline constexpr char kNamespace[] = "compute-domain-operator";
inline constexpr char kNodeNamespace[] = "compute-domain-nodes";

// An http::Client that can be cut off.
class Wire : public http::Client {
 public:
  explicit Wire(std::unique_ptr<http::Client> client) : client_(std::move(client)) {}
  bool is_cut = false;
  bool is_unknown = false;  // its credentials say nothing to the server
  int writes = 0;
  std::function<void()> meanwhile;  // what else happens while a request is under way

  base::Result<http::Response> send(const http::Request& request) override {
    if (meanwhile) meanwhile();
    if (is_cut) return base::Error{base::ErrorKind::Unavailable, "connection refused"};
    if (is_unknown) {
      return http::Response{
          .status = 401,
          .headers = {},
          .body =
              R"({"kind":"Status","code":401,"reason":"Unauthorized","message":"Unauthorized"})"};
    }
    if (request.method != "GET") ++writes;
    return client_->send(request);
  }
  base::Result<http::Opened> open(const http::Request& request) override {
    if (is_cut) return base::Error{base::ErrorKind::Unavailable, "connection refused"};
    return client_->open(request);
  }
  void shut_down() override {}

 private:
  const std::unique_ptr<http::Client> client_;
};

class Rig {
 public:
  base::ManualClock clock;
  sandbox::ApiServer server{clock};
  Wire wire{
      server.client(sandbox::service_account_user(kNodeNamespace, "compute-domain-agent", kNode))};
  std::unique_ptr<http::Client> admin_http{server.client(sandbox::admin_user())};
  kube::Client admin{*admin_http, clock, "test"};
  kube::Client client{wire, clock, "compute-domain-agent"};
  MemoryFabric fabric{kClique};
  MemoryImexSupervisor imex{clock};
  MemoryCheckpointStore checkpoints;
  MemoryChannelInjector channels;
  MemoryKubeletState kubelet;
  std::unique_ptr<RunningPods> pods;  // null: kubelet has no PodsAPI
  std::function<void()> renew_pods = [] {};
  base::Registry* metrics = nullptr;
  std::string address = "10.0.0.1";
  std::string agent_name;
  core::NodeSettings node_settings;
  std::unique_ptr<SteppedAgent> agent;

  Rig() {
    for (const char* file : {"manifests/base/namespace.yaml", "crds/computedomains.yaml",
                             "crds/computedomainnodes.yaml", "manifests/base/agent-rbac.yaml",
                             "manifests/base/agent-policy.yaml"}) {
      const auto loaded = server.load(source_text(file));
      EXPECT_TRUE(loaded) << file << ": " << (loaded ? "" : loaded.error().message);
    }
    const auto loaded = server.load(
        "apiVersion: v1\nkind: Node\nmetadata: {name: n00}\n---\n"
        "apiVersion: v1\nkind: Namespace\nmetadata: {name: team-a}\n");
    EXPECT_TRUE(loaded) << (loaded ? "" : loaded.error().message);
    start_agent();
  }

  void start_agent() {
    agent.reset();
    agent = std::make_unique<SteppedAgent>(
        client,
        NodePorts{fabric, imex, checkpoints, channels, kubelet, pods.get(),
                  [this] { renew_pods(); }},
        clock,
        NodeAgentOptions{.self = {kNode, "boot-1", address, agent_name},
                         .times = {},
                         .settings = node_settings,
                         .operator_namespace = kNamespace,
                         .seed = 7},
        metrics);
  }

  // Steps until there is nothing to do now.
  void settle() {
    for (int steps = 0; steps < 500; ++steps) {
      if (!agent->step()) return;
    }
    FAIL() << "the agent does not come to rest";
  }
  // Lets time pass, from one thing that is due to the next.
  void pass(base::Duration time) {
    const base::Duration end = clock.elapsed() + time;
    for (int rounds = 0; rounds < 2000; ++rounds) {
      settle();
      const auto due = agent->next_due();
      if (!due || *due >= end) break;
      clock.advance(std::max(*due - clock.elapsed(), base::Duration(std::chrono::milliseconds(1))));
    }
    clock.advance(std::max(end - clock.elapsed(), base::Duration::zero()));
    settle();
  }

  // The claim `name` of team-a, allocated to this node; gives its reference.
  core::ClaimRef make_claim(const std::string& name, const std::string& domain_uid = "train-uid",
                            bool admin_access = false) {
    const std::string config =
        R"({"apiVersion":"resource.nvidia.com/v1beta1","kind":"ComputeDomainChannelConfig",)"
        R"("domainID":")" +
        domain_uid + R"(","allocationMode":"Single"})";
    const std::string request =
        R"({"name":"channel","exactly":{"deviceClassName":"c","allocationMode":"ExactCount","count":1}})";
    const std::string body =
        R"({"apiVersion":"resource.k8s.io/v1","kind":"ResourceClaim","metadata":{"name":")" + name +
        R"(","namespace":"team-a"},"spec":{"devices":{"requests":[)" + request + "]}}}";
    post("/apis/resource.k8s.io/v1/namespaces/team-a/resourceclaims", body);
    const std::string status =
        R"({"status":{"allocation":{"devices":{"results":[{"request":"channel","driver":")" +
        std::string(api::kDriver) + R"(","pool":"n00","device":"channel-0")" +
        (admin_access ? R"(,"adminAccess":true)" : "") +
        R"(}],"config":[{"source":)"
        R"("FromClaim","requests":["channel"],"opaque":{"driver":")" +
        std::string(api::kDriver) + R"(","parameters":)" + config +
        R"(}}]}},"reservedFor":[{"resource":"pods","name":"p",)"
        R"("uid":"p-uid"}]}})";
    const auto patched = admin.patch<api::ResourceClaim>({"team-a", name}, "status", status);
    EXPECT_TRUE(patched) << (patched ? "" : patched.error().message);
    return {"team-a", name, patched ? patched->meta.uid : ""};
  }

  // Writes the list of the domain `train` with this node as a member that admits these claims.
  void write_list(const std::vector<std::string>& admits, bool member = true, std::int64_t term = 1,
                  const std::string& domain_uid = "train-uid") {
    api::NodeList list;
    list.group = core::group_id({domain_uid, kClique});
    list.clique = kClique;
    list.slots = 18;
    list.complete = true;
    list.last_term = term;
    list.entries = {{.node = kNode,
                     .slot = 0,
                     .address = "10.0.0.1",
                     .instance = {},
                     .boot_id = "boot-1",
                     .term = term,
                     .member = member,
                     .admits = {}}};
    for (const std::string& uid : admits) list.entries[0].admits.push_back({uid, 0});
    api::ComputeDomain domain;
    domain.meta.uid = domain_uid;
    domain.meta.ns = "team-a";
    core::Settings settings;
    settings.operator_namespace = kNamespace;
    const api::ConfigMap map = core::config_map_of(list, domain, settings);
    const auto old = admin.get<api::ConfigMap>(api::name_of(map.meta));
    if (old) {
      const auto written = admin.patch<api::ConfigMap>(
          api::name_of(map.meta), "",
          api::config_map_patch({old->meta.uid, old->meta.resource_version}, *old, map));
      ASSERT_TRUE(written) << (written ? "" : written.error().message);
    } else {
      const auto made = admin.create(map);
      ASSERT_TRUE(made) << (made ? "" : made.error().message);
    }
  }

  // Asks as kubelet does, until there is an answer; the daemon becomes ready when it is started.
  ClaimStep prepare(const core::ClaimRef& claim) {
    for (int i = 0; i < 20; ++i) {
      ClaimStep step = agent->prepare(claim);
      if (step.state != ClaimStep::State::Waiting) return step;
      settle();
      if (imex.daemon.running && !imex.daemon.answers) imex.become_ready();
      settle();
    }
    return agent->prepare(claim);
  }
  ClaimStep unprepare(const core::ClaimRef& claim) {
    for (int i = 0; i < 20; ++i) {
      ClaimStep step = agent->unprepare(claim);
      if (step.state != ClaimStep::State::Waiting) return step;
      settle();
    }
    return agent->unprepare(claim);
  }

  static std::string group() { return core::group_id({"train-uid", kClique}); }

  api::ComputeDomainNodeReport report() {
    const auto node = admin.get<api::ComputeDomainNode>({"", kNode});
    EXPECT_TRUE(node) << (node ? "" : node.error().message);
    return node ? node->status : api::ComputeDomainNodeReport{};
  }
  std::vector<api::ResourceSlice> slices() {
    auto slices = admin.list_all<api::ResourceSlice>();
    EXPECT_TRUE(slices);
    return slices ? *slices : std::vector<api::ResourceSlice>{};
  }

 private:
  std::string post(const std::string& target, const std::string& body) {
    http::Request request{.method = "POST", .target = target};
    request.headers["Content-Type"] = "application/json";
    request.body = body;
    const http::Response response = server.handle(request, sandbox::admin_user());
    EXPECT_EQ(response.status, 201) << response.body;
    return response.body;
  }
};

}  // namespace cdom::agent
