// The devices that a node can be given, in the order in which kube-scheduler tries them.
//
// Only slices of a pool's newest generation count; a pool of which slices are missing or whose
// device names repeat offers nothing (KEP-4381, pools). Of a pool that several nodes share, only
// the slices and devices for this node are offered. Pure.
#pragma once

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

NodeDevices devices_of_node(const JsonInformer& slices, const json& node);

// The value of "domain/name" (or of "name" in the driver's own domain); null when absent.
const json& attribute_of(const OfferedDevice& device, const std::string& qualified_name);

}  // namespace cdom::sandbox
