// Services: what kubelet finds behind the plugin's two sockets, served on connections that are open
// already. It shows nothing of gRPC and protobuf. Thread-safe.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "compute_domain/base/clock.h"
#include "compute_domain/base/descriptor.h"
#include "compute_domain/base/result.h"
#include "compute_domain/dra/driver.h"
#include "compute_domain/dra/plugin.h"

namespace cdom::dra {

class Services {
 public:
  // `endpoint` is the socket that kubelet gets. Unavailable: the health address cannot be bound.
  static base::Result<std::unique_ptr<Services>> start(const PluginOptions& options,
                                                       const std::string& endpoint, Driver& driver,
                                                       const base::Clock& clock);
  // Stops the calls in progress, gives kubelet their answers, and closes the connections.
  ~Services();
  Services(const Services&) = delete;
  Services& operator=(const Services&) = delete;

  void serve_registration(base::Descriptor connection);
  void serve_dra(base::Descriptor connection);

  void set_health(std::vector<DeviceHealth> devices);
  // Says it again, as of now.
  void repeat_health();
  // What grpc.health.v1 answers, for "" and for "liveness".
  void set_serving(bool is_serving);

  [[nodiscard]] Registration registration() const;

 private:
  struct Parts;
  explicit Services(std::unique_ptr<Parts> parts);
  const std::unique_ptr<Parts> parts_;
};

}  // namespace cdom::dra
