// Machine: one simulated node: its registration, kubelet, IMEX daemon, files, and the agent in its
// pod.
//
// The agent's pod is one Pod object per node, made and kept here in the place of the controller of
// its DaemonSet. The agent starts when kubelet runs that pod, and again one second after a crash;
// what lies in NodeFiles outlives it. One thread.
#pragma once

#include <memory>
#include <optional>
#include <set>
#include <string>

#include "compute_domain/kube/events.h"
#include "compute_domain/sandbox/cluster.h"
#include "sandbox/cluster/faults/uplink.h"
#include "sandbox/cluster/node/kubelet.h"
#include "sandbox/cluster/node/node_registration.h"

namespace cdom::sandbox {

struct MachineConfig {
  NodeDescription description;
  std::string pod_network;
  std::string node_namespace;
  std::string agent_service_account;
  std::string agent_daemon_set;  // that owns its pod; "": none does
  std::string resource_version;  // of resource.k8s.io
};

class Machine : public Part {
 public:
  Machine(Informers& informers, ImexNetwork& network, const base::Clock& clock, base::Random random,
          MachineConfig config, const ClusterPorts& ports);
  ~Machine() override;

  bool step() override;
  [[nodiscard]] std::optional<base::Duration> next_due() const override;

  [[nodiscard]] const std::string& name() const { return config_.description.name; }
  [[nodiscard]] bool is_up() const;
  [[nodiscard]] const Imex& imex() const { return imex_; }

  void inject(Fault fault);
  void heal(Fault fault);
  // The clique that the fabric names from now on.
  void set_clique(std::string clique) { clique_now_ = std::move(clique); }

 private:
  void power_on();
  void power_off();
  void stop_agent();
  bool keep_agent();
  bool create_agent_pod();
  // As its DaemonSet wants it, if it has one.
  base::Result<json> compose_agent_pod();
  bool start_agent(const json& pod);
  bool wipe_slices();
  void follow_network();
  void strike_daemon(Fault fault);
  // Whether a fault cuts its IMEX daemon off from the others.
  [[nodiscard]] bool is_imex_cut() const;
  [[nodiscard]] std::string fabric_error() const;
  [[nodiscard]] bool is_fabric_unhealthy() const;
  [[nodiscard]] std::string cannot_start() const;

  const base::Clock& clock_;
  base::Random random_;
  const MachineConfig config_;
  const ClusterPorts& ports_;
  ImexNetwork& network_;
  Imex& imex_;
  Uplink uplink_;  // of kubelet
  kube::Client client_;
  JsonClient objects_;
  const JsonInformer& pods_;
  kube::EventRecorder recorder_;  // of kubelet
  NodeRegistration registration_;
  Kubelet kubelet_;
  OwnWrites writes_;

  const api::ObjectName agent_key_;
  NodeFiles files_;
  std::string boot_id_, clique_now_;
  std::set<Fault> faults_;
  std::set<Fault> of_next_daemon_;  // those of faults_ that wait until one runs
  std::unique_ptr<Uplink> agent_uplink_;
  std::unique_ptr<NodePlugin> agent_;
  base::Duration agent_due_{};
  // kubelet wipes a node's slices at its start, and when no driver has been there for 30 s.
  std::optional<base::Duration> wipe_due_;
};

}  // namespace cdom::sandbox
