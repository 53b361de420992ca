#include "core/node/slice.h"

#include <algorithm>

#include "compute_domain/api/names.h"
#include "compute_domain/base/text.h"

namespace cdom::core {

namespace {

constexpr std::size_t kLongestName = 253;  // a DNS subdomain

api::Device seat(const std::string& clique) {
  api::Device device{.name = kSeat, .attributes = {}};
  device.attributes[api::kAttributeType] = std::string("channel");
  device.attributes[api::kAttributeId] = std::int64_t{0};
  if (!clique.empty()) device.attributes[api::kAttributeClique] = clique;
  return device;
}

bool is_changing_over(const NodeDraft& draft) {
  return draft.world.fabric.clique && draft.world.fabric.clique != draft.checkpoint.clique;
}

api::ResourceSlice wanted_slice(const NodeDraft& draft) {
  api::ResourceSlice slice;
  slice.meta.name = slice_name(draft.world.self.name);
  slice.driver = api::kDriver;
  slice.pool = draft.world.self.name;
  slice.node = draft.world.self.name;
  slice.pool_generation = 1;
  slice.pool_slices = 1;
  if (!is_changing_over(draft)) slice.devices.push_back(seat(*draft.checkpoint.clique));
  return slice;
}

}  // namespace

std::string slice_name(const std::string& node) {
  std::string name = base::cat(node, "-", api::kDriver);
  if (name.size() <= kLongestName) return name;
  return base::cat(base::hex64(base::fnv1a64(node)), "-", api::kDriver);
}

void publish_slice(NodeDraft& draft) {
  const NodeWorld& world = draft.world;
  if (!draft.checkpoint.clique || !world.slices.current || world.report.objects.empty()) return;
  api::ResourceSlice wanted = wanted_slice(draft);
  const api::ResourceSlice* own = nullptr;
  for (const api::ResourceSlice& slice : world.slices.objects) {
    if (slice.meta.name == wanted.meta.name) {
      own = &slice;
    } else {
      // Of the reference driver, which this one replaces: two writers of a pool would exclude each
      // other's devices.
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
