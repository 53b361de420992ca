#include "compute_domain/api/names.h"
#include "compute_domain/base/digest.h"
#include "compute_domain/base/text.h"
#include "compute_domain/core/reconcile.h"

namespace cdom::core {

namespace {

// Claims that may be allocated from a clique at a time: what one slice can hold. Each takes one,
// whatever the number of its pods.
constexpr int kSharedDevices = 128;

}  // namespace

std::string shared_slice_name(const std::string& clique) {
  return base::cat("clique-", base::digest128(clique), "-", api::kDriver);
}

Plan reconcile_shared_slice(const SharedSliceWorld& world) {
  Plan plan;
  if (!world.has_nodes) {
    if (world.stored) plan.actions.emplace_back(RemoveSharedSlice{world.stored->meta});
    return plan;
  }
  api::ResourceSlice wanted;
  wanted.meta.name = shared_slice_name(world.clique);
  wanted.driver = api::kDriver;
  wanted.pool = base::cat(api::kSharedPoolPrefix, world.clique);
  wanted.pool_generation = 1;
  wanted.clique = world.clique;
  for (int i = 0; i < kSharedDevices; ++i) {
    wanted.devices.push_back({.name = base::cat("shared-", i),
                              .attributes = {{api::kAttributeType, std::string(api::kSharedType)},
                                             {api::kAttributeClique, world.clique}}});
  }
  if (world.stored) {
    wanted.meta = world.stored->meta;
    wanted.pool_generation = world.stored->pool_generation;
    if (wanted == *world.stored) return plan;
    ++wanted.pool_generation;
  }
  plan.actions.emplace_back(WriteSharedSlice{wanted.meta, wanted});
  return plan;
}

}  // namespace cdom::core
