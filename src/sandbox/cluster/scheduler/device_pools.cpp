#include "sandbox/cluster/scheduler/device_pools.h"

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "compute_domain/base/text.h"
#include "sandbox/cluster/objects.h"
#include "sandbox/cluster/scheduler/node_selector.h"

namespace cdom::sandbox {
namespace {

std::int64_t generation_of(const json& slice) {
  return at(slice, "/spec/pool").value("generation", std::int64_t{0});
}

// Of a slice, or of a device in a slice with perDeviceNodeSelection.
bool is_for_node(const json& where, const json& node) {
  if (at(where, "/allNodes") == true) return true;
  const std::string name = text_at(where, "/nodeName");
  if (!name.empty()) return name == key_of(node).name;
  const json& selector = at(where, "/nodeSelector");
  return !selector.is_null() && matches_node_selector(selector, node);
}

bool concerns_node(const json& spec, const json& node) {
  if (at(spec, "/perDeviceNodeSelection") != true) return is_for_node(spec, node);
  const json& devices = at(spec, "/devices");
  return std::any_of(devices.begin(), devices.end(),
                     [&](const json& device) { return is_for_node(device, node); });
}

// What a node sees of a pool: the slices that concern it, of the newest generation among these.
struct Pool {
  std::int64_t generation = -1;
  std::vector<ObjectPtr> slices;

  void add(const ObjectPtr& slice) {
    const std::int64_t theirs = generation_of(*slice);
    if (theirs < generation) return;
    if (theirs > generation) slices.clear();
    generation = theirs;
    slices.push_back(slice);
  }
  [[nodiscard]] std::size_t wanted_slices() const {
    return at(*slices.front(), "/spec/pool").value("resourceSliceCount", std::size_t{1});
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

DeviceId pool_of(const json& slice) {
  return {text_at(slice, "/spec/driver"), text_at(slice, "/spec/pool/name"), ""};
}

enum class PoolState { Complete, Incomplete, Replaced };

// Slices for other nodes are counted only where those for this node are not the whole pool.
PoolState state_of(const DeviceId& id, const Pool& pool, const JsonInformer& slices) {
  if (pool.slices.size() == pool.wanted_slices()) return PoolState::Complete;
  std::size_t known = 0;
  for (const auto& slice : slices.all()) {
    if (pool_of(*slice->document) != id) continue;
    const std::int64_t generation = generation_of(*slice->document);
    if (generation > pool.generation) return PoolState::Replaced;
    if (generation == pool.generation) ++known;
  }
  return known == pool.wanted_slices() ? PoolState::Complete : PoolState::Incomplete;
}

void offer_slice(const DeviceId& pool, const ObjectPtr& slice, const json& node, NodeDevices& out) {
  const json& spec = at(*slice, "/spec");
  const bool per_device = at(spec, "/perDeviceNodeSelection") == true;
  out.slices.push_back(slice);
  for (const json& device : at(spec, "/devices")) {
    if (per_device && !is_for_node(device, node)) continue;
    DeviceId id = pool;
    id.device = text_at(device, "/name");
    out.devices.push_back({std::move(id), &device, &spec});
  }
}

}  // namespace

NodeDevices devices_of_node(const JsonInformer& slices, const json& node) {
  std::map<DeviceId, Pool> pools;  // by driver and pool
  for (const auto& known : slices.all()) {
    const ObjectPtr& slice = known->document;
    if (concerns_node(at(*slice, "/spec"), node)) pools[pool_of(*slice)].add(slice);
  }
  NodeDevices out;
  for (const auto& [id, pool] : pools) {
    const PoolState state = state_of(id, pool, slices);
    if (state == PoolState::Incomplete) out.is_complete = false;
    if (state != PoolState::Complete || pool.has_repeated_names()) continue;
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
