// HostsFile: our block in the pod's /etc/hosts, which is how the daemon finds its peers.
//
// The lines of others (kubelet's) stay as they are. The block carries its revision, so that a
// supervisor that restarts knows what the file says, also when kubelet has written a new one.
#pragma once

#include <string>

#include "compute_domain/base/result.h"
#include "compute_domain/imex/protocol.h"

namespace cdom::imex {

class HostsFile {
 public:
  explicit HostsFile(std::string path) : path_(std::move(path)) {}

  base::Result<void> write(const Hosts& hosts) const;
  // Whether our block is in the file as it would be written.
  [[nodiscard]] bool has(const Hosts& hosts) const;
  // The revision of our block in the file; "" when there is none, or not the whole of it.
  [[nodiscard]] std::string revision() const;
  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  const std::string path_;
};

}  // namespace cdom::imex
