#include "sandbox/cluster/device_pools.h"

#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "compute_domain/base/text.h"
#include "sandbox/cluster/node_selector.h"
#include "sandbox/cluster/objects.h"

namespace cdom::sandbox {
namespace {

struct Pool {
  std::int64_t generation = -1;
  std::vector<ObjectPtr> slices;  // of that generation

  void add(const ObjectPtr& slice) {
    const std::int64_t theirs = at(*slice, "/spec/pool").value("generation", std::int64_t{0});
    if (theirs < generation) return;
    if (theirs > generation) slices.clear();
    generation = theirs;
    slices.push_back(slice);
  }
  [[nodiscard]] bool is_complete() const {
    const json& pool = at(*slices.front(), "/spec/pool");
    return slices.size() >= pool.value("resourceSliceCount", std::size_t{1});
  }
  [[nodiscard]] bool has_repeated_names() const {
    std::set<std::string> names;
    for (const ObjectPtr& slice : slices) {
      for (const json& device : at(*slice, "/spec/devices")) {
        if (!names.insert(text_at(device, "/name")).second) return true;
      }
    }
    return false;
  }
};

// Of a slice, or of a device in a slice with perDeviceNodeSelection.
bool is_for_node(const json& where, const json& node) {
  if (at(where, "/allNodes") == true) return true;
  const std::string name = text_at(where, "/nodeName");
  if (!name.empty()) return name == key_of(node).name;
  const json& selector = at(where, "/nodeSelector");
  return !selector.is_null() && matches_node_selector(selector, node);
}

void offer_slice(const DeviceId& pool, const ObjectPtr& slice, const json& node, NodeDevices& out) {
  const json& spec = at(*slice, "/spec");
  const bool per_device = at(spec, "/perDeviceNodeSelection") == true;
  if (!per_device && !is_for_node(spec, node)) return;
  out.slices.push_back(slice);
  for (const json& device : at(spec, "/devices")) {
    if (per_device && !is_for_node(device, node)) continue;
    DeviceId id = pool;
    id.device = text_at(device, "/name");
    out.devices.push_back({std::move(id), &device, &spec});
  }
}

}  // namespace

NodeDevices devices_of_node(const Mirror& slices, const json& node) {
  std::map<DeviceId, Pool> pools;  // by driver and pool
  for (const auto& [key, slice] : slices.objects()) {
    pools[{text_at(*slice, "/spec/driver"), text_at(*slice, "/spec/pool/name"), ""}].add(slice);
  }
  NodeDevices out;
  for (const auto& [id, pool] : pools) {
    if (!pool.is_complete()) {
      out.is_complete = false;
      continue;
    }
    if (pool.has_repeated_names()) continue;
    for (const ObjectPtr& slice : pool.slices) offer_slice(id, slice, node, out);
  }
  return out;
}

const json& attribute_of(const OfferedDevice& device, const std::string& qualified_name) {
  static const json kNull;
  const json& attributes = at(*device.device, "/attributes");
  if (!attributes.is_object()) return kNull;
  const auto qualified = attributes.find(qualified_name);
  if (qualified != attributes.end()) return *qualified;
  const std::string own_domain = base::cat(device.id.driver, "/");
  if (qualified_name.rfind(own_domain, 0) != 0) return kNull;
  const auto own = attributes.find(qualified_name.substr(own_domain.size()));
  return own == attributes.end() ? kNull : *own;
}

}  // namespace cdom::sandbox
