// NodeOnDisk: a folder that is a node: its root with driver and kubelet, its /proc, and the image
// of the pod that looks.
#pragma once

#include <string>
#include <vector>

#include "base/directory.h"
#include "compute_domain/base/descriptor.h"
#include "compute_domain/node_check/gather.h"

namespace cdom::node_check {

class NodeOnDisk {
 public:
  // A good one: driver 580.65.06 with 4 GPUs, containerd 2, nothing that runs but what its kernel
  // has. `shape` is one of tests/imex/stand_in/driver_roots.
  explicit NodeOnDisk(const std::string& shape = "host");

  // Shows it to those who look at the node's processes.
  void run(int pid, const std::vector<std::string>& arguments) const;
  // A socket below the node's root on which this process listens.
  void listen_on(const std::string& path);
  void remove(const std::string& path) const;

  [[nodiscard]] NodeFacts facts() const { return gather(places); }
  [[nodiscard]] std::vector<std::string> flags() const;  // of the programs, for the same

  base::Directory dir;
  Places places;

 private:
  std::vector<base::Descriptor> sockets_;
};

}  // namespace cdom::node_check
