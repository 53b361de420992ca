#include "system/rig.h"

#include <algorithm>
#include <cstdlib>
#include <stdexcept>

#include "compute_domain/api/names.h"
#include "compute_domain/base/log.h"
#include "compute_domain/base/text.h"
#include "compute_domain/sandbox/faults.h"
#include "sandbox/main/embedded_manifests.h"
#include "sandbox/main/sandbox_agent.h"
#include "source_tree/source_tree.h"

namespace cdom::system_test {

namespace {

constexpr char kNamespace[] = "compute-domain-operator";
constexpr char kResourceGroup[] = "resource.k8s.io/";
// Of a cluster of up to 223 nodes; see most_steps_at_a_moment.
constexpr int kFewStepsAtAMoment = 50'000;
// Whatever is paced has been done when nothing is due for so long.
constexpr base::Duration kRest = std::chrono::milliseconds(600);
// Whoever waits by the wall clock looks at it again after that, whatever it has been set to.
constexpr base::Duration kClockIsSeen = std::chrono::seconds(5);

template <class T>
T value_or_throw(base::Result<T> result) {
  if (!result) throw std::runtime_error(base::to_string(result.error()));
  return std::move(*result);
}

// A manifest, in the version that is served.
std::string in_version(std::string text, const std::string& version) {
  const std::string shipped = base::cat(kResourceGroup, "v1\n");
  for (auto at = text.find(shipped); at != std::string::npos; at = text.find(shipped, at)) {
    text.replace(at, shipped.size(), base::cat(kResourceGroup, version, "\n"));
    at += version.size();
  }
  return text;
}

// 0: as many as it likes.
int writes_of_a_controller() {
  const char* value = std::getenv("CONTROLLER_WRITES");  // NOLINT(concurrency-mt-unsafe)
  return value == nullptr ? 0 : std::stoi(value);
}

// Forbids everything while it is told to, and fails the writes that it is told to fail.
class Faulty : public http::Client {
 public:
  Faulty(std::unique_ptr<http::Client> client, const bool& is_forbidden, Rig::WriteFault& writes)
      : client_(std::move(client)), is_forbidden_(is_forbidden), writes_(writes) {}

  base::Result<http::Response> send(const http::Request& request) override {
    if (is_forbidden_) return http::Response{.status = 403, .headers = {}, .body = "{}"};
    const bool is_write =
        request.method != "GET" && request.target.find("/events") == std::string::npos;
    if (is_write && writes_.times > 0) {
      --writes_.times;
      return http::Response{
          .status = writes_.code,
          .headers = {},
          .body = base::cat(R"({"kind":"Status","apiVersion":"v1","status":"Failure","reason":")",
                            writes_.reason, R"(","code":)", writes_.code, "}")};
    }
    return client_->send(request);
  }
  base::Result<http::Opened> open(const http::Request& request) override {
    if (!is_forbidden_) return client_->open(request);
    return http::Opened{.response = {.status = 403, .headers = {}, .body = "{}"}, .stream = {}};
  }
  void shut_down() override { client_->shut_down(); }

 private:
  const std::unique_ptr<http::Client> client_;
  const bool& is_forbidden_;
  Rig::WriteFault& writes_;
};

// What is no hot loop yet: that a domain forms is one moment, in which each node's daemon may meet
// each other one, and all else is a few dozen steps for each node.
int most_steps_at_a_moment(const RigOptions& options) {
  const int nodes = options.racks * options.nodes_per_rack;
  return std::max(kFewStepsAtAMoment, nodes * nodes);
}

void check(const base::Result<void>& result) {
  if (!result) throw std::runtime_error(base::to_string(result.error()));
}

}  // namespace

Rig::Rig(const RigOptions& options)
    : writes_allowed_(writes_of_a_controller()),
      most_steps_at_a_moment_(most_steps_at_a_moment(options)),
      labels_nodes_(options.labels_nodes),
      shares_claims_(options.shares_claims),
      fills_cliques_(options.fills_cliques),
      channels_(options.channels),
      slots_per_group_(options.slots_per_group),
      remembered_events_(options.remembered_events),
      node_settings_(options.node_settings),
      random_(options.seed),
      served_version_(options.resource_version) {
  // A seed that fails is read with CDOM_SYSTEM_LOG=1.
  const bool is_read = std::getenv("CDOM_SYSTEM_LOG") != nullptr;  // NOLINT(concurrency-mt-unsafe)
  base::configure_log(is_read ? base::LogLevel::Debug : base::LogLevel::Off, base::LogFormat::Text);
  sandbox::ApiServerOptions api_server{.seed = options.seed};
  for (const char* version : {"v1", "v1beta2", "v1beta1"}) {
    if (version == options.resource_version) continue;
    api_server.disabled_versions.push_back(base::cat(kResourceGroup, version));
  }
  api_server.history = options.history;
  api_server.event_ttl = options.event_ttl;
  server_ = std::make_unique<sandbox::ApiServer>(clock_, std::move(api_server));
  for (const auto& [name, text] : program::embedded_manifests()) {
    check(server_->load(in_version(text, options.resource_version)));
  }
  if (fills_cliques_) {
    for (const char* name : {"owner", "rbac"}) {
      check(server_->load(
          source_text(base::cat("manifests/compute-domain-cliques/", name, ".yaml"))));
    }
  }
  admin_transport_ = server_->client(sandbox::admin_user());
  admin_ = std::make_unique<kube::Client>(*admin_transport_, clock_, "kubectl");

  sandbox::ClusterOptions cluster;
  cluster.racks = options.racks;
  cluster.nodes_per_rack = options.nodes_per_rack;
  cluster.seed = options.seed;
  cluster.imex.ready_delay = options.imex_delay;
  cluster.imex.incoming_handshake_connects = options.incoming_connects;
  cluster.shuffle_steps = true;
  cluster.resource_version = options.resource_version;
  cluster.control_plane = options.resource_version == "v1";
  sandbox::ClusterPorts ports;
  ports.component_client = [this](const std::string& user) {
    sandbox::User component = sandbox::admin_user();
    component.name = user;
    return client_of(std::move(component));
  };
  ports.agent_client =
      [this](const sandbox::AgentPod& pod) -> base::Result<std::unique_ptr<http::Client>> {
    return client_of(sandbox::service_account_user(pod.ns, pod.service_account, pod.node));
  };
  ports.agent = [this, start = program::agent_factory(kNamespace, [this](const std::string&) {
                         return node_settings_;
                       })](const sandbox::NodeEnvironment& node) {
    files_[node.node] = &node.files;
    return start(node);
  };
  cluster_ = std::make_unique<sandbox::Cluster>(clock_, cluster, std::move(ports));
  controllers_.resize(static_cast<std::size_t>(options.controllers));
  for (Process& process : controllers_) start(process);
  // As on a real cluster, where agents come with the label.
  const auto is_up = [&] { return cluster_->is_up() && nodes_are_labelled(); };
  if (!run_until(is_up, std::chrono::minutes(5))) {
    throw std::runtime_error("the simulated cluster did not come up");
  }
}

Rig::~Rig() = default;

bool Rig::nodes_are_labelled() const {
  const auto nodes = value_or_throw(admin_->list_all<api::Node>());
  return std::ranges::all_of(
      nodes, [](const api::Node& node) { return node.meta.labels.contains(api::kAgentNodeLabel); });
}

std::unique_ptr<http::Client> Rig::client_of(sandbox::User user) {
  std::string name = user.name;
  const bool is_controller = name.ends_with(":compute-domain-controller");
  std::unique_ptr<http::Client> client = server_->client(std::move(user));
  if (is_controller || name.ends_with(":compute-domain-agent")) {
    client = served_version_.wrapped(std::move(client));
  }
  return requests_.wrapped(std::make_unique<Faulty>(std::move(client), is_forbidden_,
                                                    is_controller ? write_fault_ : no_fault_),
                           std::move(name));
}

void Rig::start(Process& process) {
  process.controller.reset();
  process.client.reset();
  process.transport =
      client_of(sandbox::service_account_user(kNamespace, "compute-domain-controller"));
  process.gate =
      std::make_unique<kube::LeaderOnly>(*process.transport, [this] { return is_leading_; });
  process.client = std::make_unique<kube::Client>(*process.gate, clock_, "controller", &metrics_);
  check(process.client->discover());
  controller::Options options;
  options.settings.labels_nodes = labels_nodes_;
  options.settings.shares_claims = shares_claims_;
  options.settings.fills_cliques = fills_cliques_;
  options.settings.channels = channels_;
  options.settings.slots_per_group = slots_per_group_;
  options.workers = 2;
  options.instance = "test";
  options.seed = random_.next();
  options.remembered_events = remembered_events_;
  process.controller = std::make_unique<controller::Controller>(*process.client, clock_, metrics_,
                                                                std::move(options));
}

void Rig::crash_controller(std::size_t which) {
  start(controllers_.at(which));
  writes_before_ = writes_of_controllers();
}

int Rig::writes_of_controllers() {
  return requests_.count([](const WriteRequest& write) {
    return write.user.ends_with(":compute-domain-controller") && write.resource != "events";
  });
}

bool Rig::controller_dies() {
  if (writes_allowed_ == 0) return false;
  const int writes = writes_of_controllers();
  writes_before_ = std::min(writes_before_, writes);  // the log may have been cleared
  return writes >= writes_before_ + writes_allowed_;
}

bool Rig::step_something() {
  if (is_controller_frozen_) return cluster_->step();
  // One random part first; when it has nothing to do, whichever has.
  std::vector<const controller::Controller::Part*> parts;
  for (const Process& process : controllers_) {
    for (const auto& part : process.controller->parts()) parts.push_back(&part);
  }
  const std::size_t first = random_.below(parts.size() + 1);
  for (std::size_t i = 0; i <= parts.size(); ++i) {
    const std::size_t at = (first + i) % (parts.size() + 1);
    if (!(at == parts.size() ? cluster_->step() : parts[at]->step())) continue;
    // Whoever goes on for ever at one moment is in a hot loop.
    if (++steps_at_this_moment_ > most_steps_at_a_moment_) {
      throw std::runtime_error(base::cat("hot loop: ", most_steps_at_a_moment_,
                                         " steps at one moment, the last of ",
                                         at == parts.size() ? "the cluster" : parts[at]->name));
    }
    return true;
  }
  return false;
}

std::optional<base::Duration> Rig::next_due() const {
  std::optional<base::Duration> due = cluster_->next_due();
  if (is_controller_frozen_) return due;
  const auto event = server_->faults().next_due();
  if (event) due = std::min(due.value_or(*event), *event);
  for (const Process& process : controllers_) {
    if (const auto other = process.controller->next_due()) {
      due = std::min(due.value_or(*other), *other);
    }
  }
  return due;
}

bool Rig::run_until(const std::function<bool()>& done, base::Duration span) {
  const base::Duration end = clock_.elapsed() + span;
  while (!done()) {
    if (controller_dies()) crash_controller();
    if (step_something()) continue;
    if (clock_.elapsed() >= end) return false;
    check_that_no_key_idles();
    check_that_keys_are_empty_at_rest(next_due().value_or(base::Duration::max()) -
                                      clock_.elapsed());
    // Nothing to do now: on to the next moment at which there is.
    const base::Duration now = clock_.elapsed();
    const base::Duration due = std::min(next_due().value_or(end), end);
    clock_.advance(std::max(due - now, base::Duration(std::chrono::milliseconds(1))));
    steps_at_this_moment_ = 0;
  }
  return true;
}

void Rig::check_that_keys_are_empty_at_rest(base::Duration until_due) {
  if (until_due < kRest || rested_at_ == writes() || is_controller_frozen_ || is_forbidden_) return;
  if (clock_set_at_ && clock_.elapsed() <= *clock_set_at_ + kClockIsSeen) return;
  // What a watch is about to show is a trigger that is on its way.
  if (server_->faults().next_due()) return;
  rested_at_ = writes();
  for (const Process& process : controllers_) {
    const std::vector<std::string> unrest = process.controller->unrest();
    if (unrest.empty()) continue;
    throw std::runtime_error(base::cat("at rest, and no trigger has brought what is to be done:\n",
                                       base::join(unrest, "\n")));
  }
}

void Rig::check_that_no_key_idles() {
  for (const auto kind : {"domain", "group", "clique", "report", "label", "agent-label",
                          "workloads", "placement", "shared-slice", "clique-objects"}) {
    const double looks =
        metrics_.counter("compute_domain_idle_looks_total", "", {{"key", kind}}).value();
    if (looks > 0) {
      throw std::runtime_error(
          base::cat("a ", kind, " key looks again and again and finds nothing to do"));
    }
  }
}

void Rig::run_for(base::Duration span) {
  const base::Duration end = clock_.elapsed() + span;
  run_until([&] { return clock_.elapsed() >= end; }, span);
}

void Rig::apply(const std::string& yaml) { check(server_->load(yaml)); }

void Rig::move_to_clique(const std::string& node, const std::string& clique) {
  cluster_->set_clique(node, clique);
  value_or_throw(admin_->patch<api::Node>(
      {"", node}, "", api::metadata_patch({}, {{api::kNodeCliqueLabel, clique}}, {})));
}

void Rig::apply_file(const std::string& path_in_source) { apply(source_text(path_in_source)); }

void Rig::remove(const std::string& path, bool by_force) {
  http::Request request{.method = "DELETE", .target = path, .headers = {}, .body = {}};
  request.headers["Content-Type"] = "application/json";
  request.body = R"({"kind":"DeleteOptions","apiVersion":"v1","propagationPolicy":"Background")" +
                 std::string(by_force ? R"(,"gracePeriodSeconds":0})" : "}");
  const auto answer = value_or_throw(admin_transport_->send(request));
  if (answer.status >= 300 && answer.status != 404) {
    throw std::runtime_error(base::cat("DELETE ", path, ": ", answer.body));
  }
}

std::vector<api::ComputeDomain> Rig::domains() const {
  return value_or_throw(admin_->list_all<api::ComputeDomain>());
}

std::vector<api::ConfigMap> Rig::node_lists() const {
  return value_or_throw(
      admin_->list_all<api::ConfigMap>({.ns = kNamespace, .label_selector = api::kGroupLabel}));
}

std::map<std::string, core::ChannelRange> Rig::injected(const std::string& node) const {
  const auto files = files_.find(node);
  if (files == files_.end()) return {};
  return program::injected_channels(*files->second);
}

bool Rig::is_ready(const std::string& domain) const {
  const auto object = admin_->get<api::ComputeDomain>({"default", domain});
  return object && object->status && object->status->ready;
}

std::string domain_yaml(const std::string& name, int num_nodes) {
  return base::cat(R"(apiVersion: resource.nvidia.com/v1beta1
kind: ComputeDomain
metadata: {name: )",
                   name, R"(, namespace: default}
spec:
  numNodes: )",
                   num_nodes, R"(
  channel: {resourceClaimTemplate: {name: )",
                   name, "-channel}}\n");
}

std::string pod_yaml(const std::string& name, const std::string& domain) {
  return base::cat(R"(apiVersion: v1
kind: Pod
metadata: {name: )",
                   name, R"(, namespace: default}
spec:
  terminationGracePeriodSeconds: 1
  containers:
  - name: worker
    image: busybox
    command: [sleep, infinity]
    resources: {claims: [{name: channel}]}
  resourceClaims:
  - {name: channel, resourceClaimTemplateName: )",
                   domain, "-channel}\n");
}

}  // namespace cdom::system_test
