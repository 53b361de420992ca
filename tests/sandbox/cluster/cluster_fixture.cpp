#include "sandbox/cluster/cluster_fixture.h"

#include <set>

#include "compute_domain/base/log.h"
#include "compute_domain/base/text.h"

namespace cdom::sandbox {
namespace {

constexpr char kDriver[] = "compute-domain.nvidia.com";

constexpr char kBasics[] = R"(
apiVersion: v1
kind: Namespace
metadata: {name: compute-domain-nodes}
---
apiVersion: apps/v1
kind: DaemonSet
metadata: {name: agents, namespace: compute-domain-nodes}
spec:
  selector: {matchLabels: {app: compute-domain-agent}}
  template:
    metadata: {labels: {app: compute-domain-agent}}
    spec: {containers: [{name: agent, image: agent}]}
---
apiVersion: resource.k8s.io/v1
kind: DeviceClass
metadata: {name: channel}
spec:
  selectors:
  - cel: {expression: "device.driver == 'compute-domain.nvidia.com'"}
)";

constexpr char kTemplate[] = R"(
apiVersion: resource.k8s.io/v1
kind: ResourceClaimTemplate
metadata: {name: channel, namespace: default}
spec:
  spec:
    devices:
      requests:
      - name: channel
        exactly: {deviceClassName: channel}
)";

}  // namespace

FakeAgent::FakeAgent(const NodeEnvironment& environment, Script& script)
    : environment_(environment), script_(script) {
  ++script_.starts;
}

PrepareStep FakeAgent::prepare(const ClaimRef& claim) {
  if (!script_.refusal.empty()) return {PrepareStep::State::Failed, script_.refusal, {}};
  if (script_.waits) return {PrepareStep::State::Waiting, "for a test", {}};
  script_.prepared.push_back(base::cat(environment_.node, "/", claim.uid));
  return {PrepareStep::State::Done, {}, {base::cat(claim.uid, "-channel-0")}};
}

PrepareStep FakeAgent::unprepare(const ClaimRef& claim) {
  script_.unprepared.push_back(base::cat(environment_.node, "/", claim.uid));
  return {PrepareStep::State::Done, {}, {}};
}

bool FakeAgent::step() {
  if (has_published_) return false;
  const std::string node = environment_.node;
  const json device{{"name", "channel-0"},
                    {"attributes",
                     {{"type", {{"string", "channel"}}},
                      {"id", {{"int", 0}}},
                      {"clique", {{"string", environment_.clique}}}}}};
  const json slice{{"metadata", {{"generateName", base::cat("0-", node, "-")}}},
                   {"spec",
                    {{"driver", kDriver},
                     {"nodeName", node},
                     {"pool", {{"name", node}, {"generation", 1}, {"resourceSliceCount", 1}}},
                     {"devices", json::array({device})}}}};
  const kube::Client client(environment_.api, environment_.clock, "agent");
  has_published_ = JsonClient(client).create(kSlices, slice).has_value();
  return has_published_;
}

ClusterOptions ClusterTest::two_small_racks() {
  ClusterOptions options;
  options.racks = 2;
  options.nodes_per_rack = 2;
  return options;
}

ClusterTest::ClusterTest(ClusterOptions options)
    : server_(clock_),
      client_(server_.client(admin_user())),
      kube_client_(*client_, clock_, "kubectl"),
      objects_(kube_client_),
      cluster_(
          clock_, std::move(options),
          {.component_client = [this](const std::string&) { return server_.client(admin_user()); },
           .agent_client = [this](const AgentPod&) -> base::Result<std::unique_ptr<http::Client>> {
             return server_.client(admin_user());
           },
           .agent = [this](const NodeEnvironment& environment)
               -> base::Result<std::unique_ptr<NodePlugin>> {
             return std::unique_ptr<NodePlugin>(std::make_unique<FakeAgent>(environment, script_));
           },
           .log = [this](
                      const std::string& ns, const std::string& pod, const std::string& container,
                      const std::string& text) { server_.append_log(ns, pod, container, text); }}) {
  // Every second that there are no ComputeDomains here, and more of what a test wants to happen.
  base::configure_log(base::LogLevel::Off, base::LogFormat::Text);
  apply(kBasics);
  wait_for("all nodes", [this] { return cluster_.is_up(); });
  settle();
}

void ClusterTest::settle() { wait(std::chrono::seconds(1)); }

void ClusterTest::do_what_is_due() {
  constexpr int kMostSteps = 1'000'000;
  for (int i = 0; i < kMostSteps; ++i) {
    if (!cluster_.step()) return;
  }
  FAIL() << "the cluster does not come to rest";
}

void ClusterTest::wait(base::Duration time) {
  const base::Duration end = clock_.elapsed() + time;
  do_what_is_due();
  while (const auto due = cluster_.next_due()) {
    if (*due > end || testing::Test::HasFatalFailure()) break;
    // What is due and does not move waits for something else: do not stand still with it.
    const base::Duration ahead = *due - clock_.elapsed();
    clock_.advance(std::max<base::Duration>(ahead, std::chrono::milliseconds(1)));
    do_what_is_due();
  }
  if (clock_.elapsed() < end) clock_.advance(end - clock_.elapsed());
  do_what_is_due();
}

void ClusterTest::wait_for(const std::string& what, const std::function<bool()>& condition,
                           base::Duration limit) {
  const base::Duration end = clock_.elapsed() + limit;
  settle();
  while (!condition()) {
    ASSERT_LT(clock_.elapsed(), end) << "in vain: " << what;
    wait(std::chrono::milliseconds(500));
  }
}

void ClusterTest::apply(const std::string& yaml) {
  const auto loaded = server_.load(yaml);
  ASSERT_TRUE(loaded) << loaded.error().message;
}

json ClusterTest::get(const api::Kind& kind, const api::ObjectName& key) {
  auto object = objects_.get(kind, key);
  return object ? *object : json();
}

std::vector<json> ClusterTest::list(const api::Kind& kind, const std::string& ns) {
  auto objects = objects_.list(kind, {.ns = ns});
  return objects ? *objects : std::vector<json>();
}

std::string ClusterTest::phase(const std::string& pod) {
  return text_at(get(kPods, {"default", pod}), "/status/phase");
}

std::set<std::string> ClusterTest::reasons(const std::string& object) {
  std::set<std::string> reasons;
  for (const json& event : list(kEvents)) {
    if (text_at(event, "/involvedObject/name") == object) reasons.insert(text_at(event, "/reason"));
  }
  return reasons;
}

std::string ClusterTest::message(const std::string& object, const std::string& reason) {
  for (const json& event : list(kEvents)) {
    if (text_at(event, "/involvedObject/name") == object && text_at(event, "/reason") == reason) {
      return text_at(event, "/message");
    }
  }
  return {};
}

std::string ClusterTest::log(const std::string& pod, const std::string& container) {
  const auto answer =
      client_->send({.target = base::cat(api::path_of(kPods, "v1", "default", pod, "log"),
                                         "?container=", container)});
  return answer ? answer->body : "";
}

void ClusterTest::annotate(const api::Kind& kind, const api::ObjectName& key,
                           const std::string& name, const std::string& value) {
  const json patch{{"metadata", {{"annotations", {{name, value.empty() ? json() : json(value)}}}}}};
  ASSERT_TRUE(objects_.merge_patch(kind, key, patch));
}

void ClusterTest::remove(const api::Kind& kind, const api::ObjectName& key,
                         const api::Deletion& how) {
  const auto removed = objects_.remove(kind, key, {}, how);
  ASSERT_TRUE(removed) << removed.error().message;
}

void ClusterTest::apply_template() { apply(kTemplate); }

void ClusterTest::apply_pod(const std::string& name, const std::string& command) {
  apply(base::cat(R"(
apiVersion: v1
kind: Pod
metadata: {name: )",
                  name, R"(, namespace: default}
spec:
  restartPolicy: Never
  containers:
  - name: main
    image: busybox
    command: [sh, -c, ")",
                  command, R"("]
    resources: {claims: [{name: channel}]}
  resourceClaims:
  - {name: channel, resourceClaimTemplateName: channel}
)"));
}

}  // namespace cdom::sandbox
