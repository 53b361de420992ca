// The devices that a node can be given, in the order in which kube-scheduler tries them.
//
// Only slices of a pool's newest generation count; a pool of which slices are missing or whose
// device names repeat offers nothing (KEP-4381, pools). Of a pool that several nodes share, only
// the slices and devices for this node are offered. One thread.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "sandbox/cluster/json_informer.h"
#include "sandbox/cluster/scheduler/device_allocator.h"
#include "sandbox/text/json.h"

namespace cdom::sandbox {

struct OfferedDevice {
  DeviceId id;
  const json* device = nullptr;  // entry of spec.devices
  const json* slice = nullptr;   // spec
};

struct NodeDevices {
  std::vector<OfferedDevice> devices;
  std::vector<ObjectPtr> slices;  // keep what `devices` points into alive
  bool is_complete = true;        // no pool with devices for the node lacks slices
};

// All pools, in order by node: looking at one node passes the slices of no other.
class DevicePools {
 public:
  explicit DevicePools(const JsonInformer& slices) : informer_(slices) {}

  NodeDevices of_node(const json& node);

 private:
  enum class PoolState { Complete, Incomplete, Replaced };
  struct Pool;

  void sort();
  [[nodiscard]] std::vector<ObjectPtr> slices_for(const json& node) const;
  [[nodiscard]] PoolState state_of(const DeviceId& id, const Pool& pool) const;

  const JsonInformer& informer_;
  // As of the slices of this version.
  std::optional<std::uint64_t> version_;
  std::vector<ObjectPtr> slices_;
  std::map<std::string, std::vector<std::size_t>> of_one_node_;  // by its name: places in slices_
  std::vector<std::size_t> of_several_nodes_;
  std::map<DeviceId, std::map<std::int64_t, std::size_t>> counts_;  // by pool and generation
};

// The value of "domain/name" (or of "name" in the driver's own domain); null when absent.
const json& attribute_of(const OfferedDevice& device, const std::string& qualified_name);

}  // namespace cdom::sandbox
