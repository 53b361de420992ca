#include "core/node/report/slice.h"

#include <algorithm>

#include "compute_domain/api/names.h"
#include "compute_domain/base/text.h"
#include "core/node/report/conditions.h"

namespace cdom::core {

namespace {

constexpr std::size_t kLongestName = 253;  // a DNS subdomain

api::Device channel_device(const std::string& name, const std::string& clique) {
  api::Device device{.name = name, .attributes = {}};
  device.attributes[api::kAttributeType] = std::string("channel");
  device.attributes[api::kAttributeId] = std::int64_t{0};
  if (!clique.empty()) device.attributes[api::kAttributeClique] = clique;
  return device;
}

api::ResourceSlice wanted_slice(const NodeDraft& draft) {
  api::ResourceSlice slice;
  slice.meta.name = slice_name(draft.world.self.name);
  slice.driver = api::kDriver;
  slice.pool = draft.world.self.name;
  slice.node = draft.world.self.name;
  slice.pool_generation = 1;
  slice.pool_slices = 1;
  if (!draft.checkpoint.clique || is_changing_over(draft) || !faults_of(draft).empty())
    return slice;
  for (const std::string& name : device_names(draft.checkpoint, draft.world.settings)) {
    slice.devices.push_back(channel_device(name, *draft.checkpoint.clique));
  }
  return slice;
}

// Whether the stored report says of which clique the devices are. Until then a claim that gets one
// of them would be on a node of which the controller knows nothing, or something else.
bool is_reported(const NodeDraft& draft) {
  const NodeWorld& world = draft.world;
  if (world.report.objects.empty()) return false;
  const api::ComputeDomainNodeReport& said = world.report.objects.front().status;
  const bool by_channel = said.isolation == api::Isolation::Channel;
  return said.boot_id == world.self.boot_id && said.clique == draft.checkpoint.clique &&
         by_channel == draft.checkpoint.by_channel;
}

}  // namespace

std::string slice_name(const std::string& node) {
  std::string name = base::cat(node, "-", api::kDriver);
  if (name.size() <= kLongestName) return name;
  return base::cat(base::hex64(base::fnv1a64(node)), "-", api::kDriver);
}

// Without a fabric there is nothing to keep apart.
std::vector<std::string> device_names(const Checkpoint& checkpoint, const NodeSettings& settings) {
  const bool has_several = checkpoint.by_channel && !checkpoint.clique.value_or("").empty();
  std::vector<std::string> names;
  for (std::int64_t i = 0; i < (has_several ? settings.seats : 1); ++i) {
    names.push_back(base::cat("channel-", i));
  }
  return names;
}

void publish_slice(NodeDraft& draft) {
  const NodeWorld& world = draft.world;
  if (!world.slices.current) return;
  // The devices that an earlier agent offered cannot be used while the driver sees no GPU.
  const bool takes_back =
      !draft.checkpoint.clique && !draft.doubted_clique.empty() && !world.slices.objects.empty();
  if (!takes_back && (!draft.checkpoint.clique || !is_reported(draft))) return;
  api::ResourceSlice wanted = wanted_slice(draft);
  const api::ResourceSlice* own = nullptr;
  for (const api::ResourceSlice& slice : world.slices.objects) {
    if (slice.meta.name == wanted.meta.name) {
      own = &slice;
    } else {
      // The slice is the reference driver's, which this driver replaces: two writers of a pool
      // would exclude each other's devices.
      draft.add(RemoveSlice{slice.meta});
      wanted.pool_generation = std::max(wanted.pool_generation, slice.pool_generation + 1);
    }
  }
  if (own != nullptr) {
    wanted.meta = own->meta;
    wanted.pool_generation = std::max(wanted.pool_generation, own->pool_generation);
    if (wanted == *own) return;
  }
  draft.add(PublishSlice{std::move(wanted)});
}

}  // namespace cdom::core
