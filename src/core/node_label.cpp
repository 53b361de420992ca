#include "compute_domain/api/names.h"
#include "compute_domain/base/text.h"
#include "compute_domain/core/reconcile.h"
#include "compute_domain/core/reservations.h"

namespace cdom::core {

namespace {

std::optional<std::string> value_at(const std::map<std::string, std::string>& values,
                                    const char* key) {
  const auto it = values.find(key);
  return it == values.end() ? std::nullopt : std::optional(it->second);
}

}  // namespace

std::string confirmed_clique(const api::ObjectMeta& node) {
  const auto label = value_at(node.labels, api::kNodeCliqueLabel);
  const bool is_ours = label == value_at(node.annotations, api::kNodeCliqueMark);
  return label && !is_ours ? *label : "";
}

std::string why_not_confirmed(const api::ObjectMeta& node, const std::string& clique) {
  const std::string confirmed = confirmed_clique(node);
  if (confirmed == clique) return "";
  if (!confirmed.empty()) {
    return base::cat("its agent reports clique ", clique, ", and its label ", api::kNodeCliqueLabel,
                     " says ", confirmed,
                     "; correct the label if the node has moved, else distrust its agent");
  }
  const bool is_ours = node.label(api::kNodeCliqueLabel) == clique;
  return base::cat(
      "only its own agent says that it is of clique ", clique, "; if that is true, confirm it: ",
      is_ours ? base::cat("kubectl annotate node ", node.name, " ", api::kNodeCliqueMark, "-")
              : base::cat("kubectl label node ", node.name, " --overwrite ", api::kNodeCliqueLabel,
                          "=", clique));
}

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
  // What an agent publishes need not be a label's value, and the write would be refused for ever.
  const bool is_name = world.clique && is_clique_name(*world.clique);
  const auto wanted = is_name ? world.clique : std::nullopt;
  if (label == wanted && mark == wanted) return {};
  return {.actions = {LabelNode{node, wanted}}, .look_again = {}};
}

}  // namespace cdom::core
