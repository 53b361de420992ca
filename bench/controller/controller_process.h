// ControllerProcess: compute-domain-controller as a child, and what it uses of the machine.
#pragma once

#include <sys/types.h>

#include <string>

namespace cdom::bench {

class ControllerProcess {
 public:
  // Throws std::runtime_error when it cannot be started.
  ControllerProcess(const std::string& program, const std::string& kubeconfig);
  ~ControllerProcess();
  ControllerProcess(const ControllerProcess&) = delete;
  ControllerProcess& operator=(const ControllerProcess&) = delete;

  // Where /readyz is: "http://127.0.0.1:PORT".
  [[nodiscard]] std::string health_url() const;
  [[nodiscard]] double cpu_seconds() const;
  // "VmRSS" or "VmHWM" (the peak), in MiB.
  [[nodiscard]] double memory(const std::string& which) const;

 private:
  int port_ = 0;
  pid_t pid_ = 0;
};

}  // namespace cdom::bench
