// Device allocation for one pod on one node, as kube-scheduler's DynamicResources plugin does it
// (KEP-4381): exhaustive first fit over pools by (driver, name), slices by name, devices in order.
//
// A function of the slices, the classes, what is in use and the node; it writes nothing. All claims
// are allocated together or none. A CEL expression that fails at run time aborts the attempt: it is
// not "no match". Counter sets and shared capacity are not simulated.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "compute_domain/base/clock.h"
#include "compute_domain/base/result.h"
#include "sandbox/cluster/json_informer.h"
#include "sandbox/text/json.h"

namespace cdom::sandbox {

struct DeviceId {
  std::string driver, pool, device;

  friend auto operator<=>(const DeviceId&, const DeviceId&) = default;
};

// The compiled selectors of classes and requests, by their text.
class SelectorCache;
class DevicePools;

class DeviceAllocator {
 public:
  DeviceAllocator(const JsonInformer& slices, const JsonInformer& classes);
  ~DeviceAllocator();

  // One allocation (status.allocation) per claim, in their order; nullopt: they do not fit here.
  // An error stops the pod everywhere: a class that does not exist (NotFound), a selector that
  // cannot be evaluated. It reads as kube-scheduler words it.
  base::Result<std::optional<std::vector<json>>> allocate(const std::vector<ObjectPtr>& claims,
                                                          const json& node,
                                                          const std::set<DeviceId>& in_use,
                                                          base::Time now);

 private:
  const std::unique_ptr<DevicePools> pools_;
  const JsonInformer& classes_;
  const std::unique_ptr<SelectorCache> selectors_;
};

// The devices that allocated claims hold, without those for administrative access.
void collect_devices_in_use(const json& claim, std::set<DeviceId>& in_use);

}  // namespace cdom::sandbox
