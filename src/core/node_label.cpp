#include "compute_domain/api/names.h"
#include "compute_domain/core/reconcile.h"

namespace cdom::core {

namespace {

std::optional<std::string> value_at(const std::map<std::string, std::string>& values,
                                    const char* key) {
  const auto it = values.find(key);
  return it == values.end() ? std::nullopt : std::optional(it->second);
}

}  // namespace

// The label is ours when the mark has its value: whoever writes another value takes it over, and
// who writes the same one has nothing to gain from us.
Plan reconcile_label(const LabelWorld& world) {
  if (!world.node || world.node->meta.is_deleting()) return {};
  const api::ObjectMeta& node = world.node->meta;
  const auto label = value_at(node.labels, api::kNodeCliqueLabel);
  const auto mark = value_at(node.annotations, api::kNodeCliqueMark);
  if (label && label != mark) {
    if (!mark) return {};
    return {.actions = {UnmarkNode{node}}, .look_again = {}};
  }
  const auto wanted = world.clique == "" ? std::nullopt : world.clique;
  if (label == wanted && mark == wanted) return {};
  return {.actions = {LabelNode{node, wanted}}, .look_again = {}};
}

}  // namespace cdom::core
