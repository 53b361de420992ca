// Plugin: this node's DRA driver as kubelet knows it: two unix sockets and the gRPC services on
// them.
//
// How it goes: the socket of the services appears, then the one of the registration, which kubelet
// watches for. A socket file that vanishes comes back at once; those of processes that have crashed
// are removed; both go at the end, the registration first. Plugins of several pods may run side by
// side, each with its pod's UID in its names. Thread-safe; the driver and the clock outlive it.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "compute_domain/base/clock.h"
#include "compute_domain/base/result.h"
#include "compute_domain/dra/driver.h"

namespace cdom::dra {

struct PluginOptions {
  std::string driver;  // "compute-domain.nvidia.com"
  // Below kubelet's --root-dir; both see them at the same path.
  std::string plugins_dir = "/var/lib/kubelet/plugins";
  std::string registrar_dir = "/var/lib/kubelet/plugins_registry";
  // This pod's UID, for rolling updates (Kubernetes 1.33 or later); empty: one plugin per node.
  std::string pod_uid;
  // Where grpc.health.v1 answers too, as on the sockets, for kubelet's gRPC probes:
  // "0.0.0.0:51515"; empty: nowhere.
  std::string health_listen;
  // Kubelet forgets a device's health after 30 s. Dead sockets are looked for as often.
  base::Duration repeat_health_every = std::chrono::seconds(10);
};

struct SocketPaths {
  std::string registration, dra;
};
// Where the sockets of such a plugin are. An error when a name cannot be, or is too long for a
// socket.
base::Result<SocketPaths> socket_paths(const PluginOptions& options);

enum class Health { Unknown, Healthy, Unhealthy };

struct DeviceHealth {
  std::string pool, device;
  Health health = Health::Unknown;
  std::string message;  // what is past 1,024 characters is cut off

  friend bool operator==(const DeviceHealth&, const DeviceHealth&) = default;
};

// What kubelet has said last: Awaited also from the moment in which one that has started anew asks
// who we are.
struct Registration {
  enum class State { Awaited, Registered, Refused };
  State state = State::Awaited;
  std::string error;  // Refused

  friend bool operator==(const Registration&, const Registration&) = default;
};

class Plugin {
 public:
  static base::Result<std::unique_ptr<Plugin>> start(const PluginOptions& options, Driver& driver,
                                                     const base::Clock& clock);
  // Stops the calls in progress, and gives kubelet their answers.
  ~Plugin();
  Plugin(const Plugin&) = delete;
  Plugin& operator=(const Plugin&) = delete;

  // The health of all devices, from now on. Kubelet hears of changes at once, and nothing before
  // the first call.
  void set_health(std::vector<DeviceHealth> devices);

  [[nodiscard]] Registration registration() const;
  // Whether both socket files are there and ours; grpc.health.v1 on both sockets says the same.
  [[nodiscard]] bool is_listening() const;

 private:
  struct Parts;
  explicit Plugin(std::unique_ptr<Parts> parts);
  const std::unique_ptr<Parts> parts_;
};

}  // namespace cdom::dra
