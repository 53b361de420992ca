// Rig: the whole system in one thread and in virtual time: the embedded API server, the simulated
// cluster with the real node agents, and the real controller, stepped in an order that a seed
// picks. With $CONTROLLER_WRITES=N the controller dies after each N of its writes, and the next one
// starts.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "compute_domain/api/codec.h"
#include "compute_domain/base/clock.h"
#include "compute_domain/base/metrics.h"
#include "compute_domain/base/random.h"
#include "compute_domain/controller/controller.h"
#include "compute_domain/core/node_world.h"
#include "compute_domain/kube/client.h"
#include "compute_domain/kube/leader_only.h"
#include "compute_domain/sandbox/api_server.h"
#include "compute_domain/sandbox/cluster.h"
#include "system/request_log.h"
#include "system/served_version.h"

namespace cdom::system_test {

struct RigOptions {
  std::uint64_t seed = 1;
  int racks = 1;
  int nodes_per_rack = 4;
  base::Duration imex_delay{};
  // Nothing public says whether a daemon that a peer has dialled is connected with it. False: only
  // when it has dialled that one itself.
  bool incoming_connects = true;
  // The only version of resource.k8s.io that is served; without v1 there is no control plane beside
  // the API server, as kube-scheduler and kube-controller-manager speak v1 only.
  std::string resource_version = "v1";
  // Watch events that the API server remembers per resource.
  std::size_t history = 5'000;
  // Objects that the controller remembers to combine its Events.
  std::size_t remembered_events = 4096;
  base::Duration event_ttl = std::chrono::hours(1);
  // Of the controller: GPU_CLIQUE_LABEL_ENABLED.
  bool labels_nodes = false;
  // Of the controller: SHARED_CLAIMS_ENABLED.
  bool shares_claims = false;
  // Of the controller: COMPUTE_DOMAIN_CLIQUES_ENABLED.
  bool fills_cliques = false;
  // Of the agents; channels of the controller.
  core::NodeSettings node_settings = {};
  std::int64_t channels = 2048;
  std::int64_t slots_per_group = 18;  // of the controller: MAX_NODES_PER_IMEX_DOMAIN
  // More than one all lead at once, as no correct election lets them.
  int controllers = 1;
};

// Its wall clock is set forward or back, as an administrator or NTP does; elapsed() stays.
class RigClock : public base::ManualClock {
 public:
  [[nodiscard]] base::Time now() const override { return ManualClock::now() + shift_; }
  void set_wall_clock(base::Duration by) { shift_ += by; }

 private:
  base::Duration shift_{};
};

class Rig {
 public:
  explicit Rig(const RigOptions& options);
  ~Rig();

  // As `kubectl apply -f`; throws std::runtime_error with the server's answer.
  void apply(const std::string& yaml);
  void apply_file(const std::string& path_in_source);
  // As `kubectl delete`: background propagation. Absence is no error.
  void remove(const std::string& path, bool by_force = false);

  // Lets virtual time pass, doing whatever there is to do.
  void run_for(base::Duration span);
  // Until `done` holds, at most `span`; whether it does.
  bool run_until(const std::function<bool()>& done, base::Duration span);

  // A controller's process dies and another one starts.
  void crash_controller(std::size_t which = 0);
  // The API server forbids what it has to look up roles for, as one does that has just started.
  void forbid(bool is_forbidden) { is_forbidden_ = is_forbidden; }
  // The next writes of controllers, but of Events, are answered so and not carried out.
  struct WriteFault {
    int code = 0;
    std::string reason;  // of the Status
    int times = 0;
  };
  void fail_writes(WriteFault fault) { write_fault_ = std::move(fault); }
  // What agents are told to serve that start from now on.
  void tell_agents(const core::NodeSettings& settings) { node_settings_ = settings; }
  // The wall clock of the whole cluster is set forward or back.
  void set_wall_clock(base::Duration by) {
    clock_.set_wall_clock(by);
    clock_set_at_ = clock_.elapsed();
  }
  // The API server starts again and serves resource.k8s.io in this version, "v1" or "v1beta2", to
  // the operator. The simulated control plane is as new as the server's storage, and keeps v1.
  void upgrade_api_server(const std::string& version) { served_version_.upgrade(version); }
  [[nodiscard]] const std::string& served_version() const { return served_version_.version(); }
  // Whether the controllers' writes are let through, as only a leader's are.
  void lead(bool is_leading) { is_leading_ = is_leading; }
  // The node's GPUs are in another clique, and GPU feature discovery writes so on its Node.
  void move_to_clique(const std::string& node, const std::string& clique);
  // The controller's process gets no time until it is thawed.
  void freeze_controller(bool is_frozen) { is_controller_frozen_ = is_frozen; }
  sandbox::Cluster& cluster() { return *cluster_; }
  sandbox::Faults& faults() { return server_->faults(); }
  base::Random& random() { return random_; }
  const kube::Client& kubectl() const { return *admin_; }
  http::Client& administrator() { return *admin_transport_; }
  [[nodiscard]] const base::Clock& clock() const { return clock_; }
  [[nodiscard]] base::Duration elapsed() const { return clock_.elapsed(); }

  std::vector<api::ComputeDomain> domains() const;
  std::vector<api::ConfigMap> node_lists() const;
  [[nodiscard]] bool is_ready(const std::string& domain) const;
  // The channels that containers on the node see, by the UIDs of their claims: what was given to
  // the container runtime, whatever anybody says.
  [[nodiscard]] std::map<std::string, core::ChannelRange> injected(const std::string& node) const;
  // Successful writes so far.
  [[nodiscard]] std::uint64_t writes() const { return server_->resource_version(); }
  // Write requests of the operator and of the simulated cluster, whatever came of them; not those
  // of apply() and remove().
  RequestLog& requests() { return requests_; }
  // Keys of the controllers whose writes the API server refuses, by their metric.
  [[nodiscard]] double refused_keys() {
    return metrics_.gauge("compute_domain_refused_keys", "").value();
  }

 private:
  [[nodiscard]] bool nodes_are_labelled() const;
  struct Process {
    std::unique_ptr<http::Client> transport;
    std::unique_ptr<kube::LeaderOnly> gate;
    std::unique_ptr<kube::Client> client;
    std::unique_ptr<controller::Controller> controller;
  };
  void start(Process& process);
  int writes_of_controllers();
  bool controller_dies();
  std::unique_ptr<http::Client> client_of(sandbox::User user);
  bool step_something();
  // Throws when a settled controller would act if only a key came, which no trigger has brought.
  void check_that_keys_are_empty_at_rest(base::Duration until_due);
  // Throws when a key wakes itself up for nothing.
  void check_that_no_key_idles();
  std::optional<base::Duration> next_due() const;

  RigClock clock_;
  const int writes_allowed_, most_steps_at_a_moment_;
  int writes_before_ = 0;
  const bool labels_nodes_, shares_claims_, fills_cliques_;
  const std::int64_t channels_, slots_per_group_;
  const std::size_t remembered_events_;
  core::NodeSettings node_settings_;
  int steps_at_this_moment_ = 0;
  std::uint64_t rested_at_ = 0;  // writes() when that was last checked
  std::optional<base::Duration> clock_set_at_;
  base::Random random_;
  base::Registry metrics_;
  bool is_controller_frozen_ = false, is_forbidden_ = false, is_leading_ = true;
  WriteFault write_fault_, no_fault_;
  RequestLog requests_;
  ServedVersion served_version_;
  std::map<std::string, sandbox::NodeFiles*> files_;  // by node; the cluster's
  std::unique_ptr<sandbox::ApiServer> server_;
  std::unique_ptr<http::Client> admin_transport_;
  std::unique_ptr<kube::Client> admin_;
  std::unique_ptr<sandbox::Cluster> cluster_;
  std::vector<Process> controllers_;
};

// Objects as YAML: a domain and its pods, as a user would write them.
std::string domain_yaml(const std::string& name, int num_nodes);
std::string pod_yaml(const std::string& name, const std::string& domain);

}  // namespace cdom::system_test
