// NodeRegistration: a node's own objects, its Node and its Lease, as kubelet keeps them.
//
// Registers at boot (a boot id other than the stored one is told as an Event Rebooted), renews the
// Lease every 10 s and writes the Node's status only when it differs. One thread.
#pragma once

#include <optional>
#include <string>

#include "compute_domain/kube/events.h"
#include "sandbox/cluster/informers.h"
#include "sandbox/cluster/json_client.h"
#include "sandbox/cluster/own_writes.h"

namespace cdom::sandbox {

inline constexpr char kNodeLeaseNamespace[] = "kube-node-lease";

struct NodeDescription {
  std::string name;
  std::string rack;     // label sandbox.compute-domain/rack
  std::string clique;   // label nvidia.com/gpu.clique; "" without a fabric
  std::string address;  // InternalIP
  std::string pod_cidr;
};

class NodeRegistration : public Part {
 public:
  // Needs an informer of nodes.
  NodeRegistration(const kube::Client& client, const Informers& informers, const base::Clock& clock,
                   kube::EventRecorder& recorder, NodeDescription description);

  void boot(std::string boot_id);
  void power_off() { is_on_ = false; }
  void set_frozen(bool frozen) { is_frozen_ = frozen; }
  [[nodiscard]] bool is_registered() const { return is_on_ && is_registered_; }

  bool step() override;
  [[nodiscard]] std::optional<base::Duration> next_due() const override;

 private:
  [[nodiscard]] json status(const json& known) const;
  bool keep_node();
  bool create_node();
  bool keep_lease();

  JsonClient objects_;
  const base::Clock& clock_;
  const JsonInformer& nodes_;
  kube::EventRecorder& recorder_;
  OwnWrites writes_;
  const NodeDescription description_;
  std::string boot_id_;
  bool is_on_ = false, is_frozen_ = false, is_registered_ = false;
  base::Duration node_due_{}, lease_due_{};
  ObjectPtr right_;  // the Node with the status that it is to have
};

}  // namespace cdom::sandbox
