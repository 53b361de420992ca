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

DeviceId pool_of(const json& slice) {
  return {text_at(slice, "/spec/driver"), text_at(slice, "/spec/pool/name"), ""};
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

// What a node sees of a pool: the slices that concern it, of the newest generation among these.
struct DevicePools::Pool {
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

void DevicePools::sort() {
  const std::uint64_t now = informer_.seen_version();
  if (version_ == now) return;
  version_ = now;
  slices_.clear();
  of_one_node_.clear();
  of_several_nodes_.clear();
  counts_.clear();
  for (const auto& known : informer_.all()) {
    const ObjectPtr& slice = known->document;
    const json& spec = at(*slice, "/spec");
    const std::string node = text_at(spec, "/nodeName");
    const bool is_of_one = !node.empty() && at(spec, "/allNodes") != true &&
                           at(spec, "/perDeviceNodeSelection") != true;
    (is_of_one ? of_one_node_[node] : of_several_nodes_).push_back(slices_.size());
    slices_.push_back(slice);
    ++counts_[pool_of(*slice)][generation_of(*slice)];
  }
}

// In the order of the informer.
std::vector<ObjectPtr> DevicePools::slices_for(const json& node) const {
  std::vector<std::size_t> places = of_several_nodes_;
  const auto own = of_one_node_.find(key_of(node).name);
  if (own != of_one_node_.end()) {
    places.insert(places.end(), own->second.begin(), own->second.end());
    std::ranges::sort(places);
  }
  std::vector<ObjectPtr> slices;
  for (const std::size_t place : places) {
    if (concerns_node(at(*slices_[place], "/spec"), node)) slices.push_back(slices_[place]);
  }
  return slices;
}

// Slices for other nodes are counted only where those for this node are not the whole pool.
DevicePools::PoolState DevicePools::state_of(const DeviceId& id, const Pool& pool) const {
  if (pool.slices.size() == pool.wanted_slices()) return PoolState::Complete;
  const auto& by_generation = counts_.at(id);
  if (by_generation.rbegin()->first > pool.generation) return PoolState::Replaced;
  const bool is_whole = by_generation.at(pool.generation) == pool.wanted_slices();
  return is_whole ? PoolState::Complete : PoolState::Incomplete;
}

NodeDevices DevicePools::of_node(const json& node) {
  sort();
  std::map<DeviceId, Pool> pools;  // by driver and pool
  for (const ObjectPtr& slice : slices_for(node)) pools[pool_of(*slice)].add(slice);
  NodeDevices out;
  for (const auto& [id, pool] : pools) {
    const PoolState state = state_of(id, pool);
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
