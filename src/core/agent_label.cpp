#include <algorithm>

#include "compute_domain/api/names.h"
#include "compute_domain/api/node_labels.h"
#include "compute_domain/base/text.h"
#include "compute_domain/core/membership.h"
#include "compute_domain/core/reconcile.h"

namespace cdom::core {

namespace {

constexpr std::string_view kPciPrefix = api::kPciLabelPrefix;
constexpr std::string_view kPciSuffix = ".present";
constexpr std::string_view kNvidiaVendor = "10de";
constexpr std::string_view kDisplayClass = "03";

// A person's value of the agent label, for a Node that nothing detects.
constexpr std::string_view kWanted = "true";

// Node feature discovery names a device by the fields that it is configured with, by default its
// class and vendor: pci-0302_10de.present. NVIDIA's devices of the class 03 are GPUs; where the
// label has only the vendor, any of them may be one.
bool is_nvidia_gpu(std::string_view key) {
  if (!key.starts_with(kPciPrefix) || !key.ends_with(kPciSuffix)) return false;
  key.remove_prefix(kPciPrefix.size());
  if (key.size() < kPciSuffix.size()) return false;
  key.remove_suffix(kPciSuffix.size());
  const std::vector<std::string> fields = base::split(key, '_');
  if (fields.front() == kNvidiaVendor) return true;
  return fields.size() > 1 && fields[1] == kNvidiaVendor && fields[0].starts_with(kDisplayClass);
}

bool serves(const std::optional<api::ComputeDomainNode>& report) {
  return report && std::ranges::any_of(
                       report->status.groups,
                       [](const api::ImexGroupReport& group) { return !group.claims.empty(); });
}

}  // namespace

bool tells_of_gpus(const std::string& key, const std::string& value) {
  if (key == api::kGpuPresentLabel || is_nvidia_gpu(key)) return value == "true";
  return key == api::kCpuVendorLabel && value == "NVIDIA";
}

bool has_gpus(const api::ObjectMeta& node) {
  return std::ranges::any_of(
      node.labels, [](const auto& label) { return tells_of_gpus(label.first, label.second); });
}

bool needs_agent(const api::ObjectMeta& node) {
  const std::string value = node.label(api::kAgentNodeLabel);
  return value == api::kAgentNodeDetected || value == kWanted;
}

Plan reconcile_agent_label(const AgentLabelWorld& world) {
  if (!world.view.node || world.view.node->meta.is_deleting()) return {};
  const api::ObjectMeta& node = world.view.node->meta;
  const bool is_labelled = node.labels.contains(api::kAgentNodeLabel);
  // Any other value is a person's decision.
  if (is_labelled && node.label(api::kAgentNodeLabel) != api::kAgentNodeDetected) return {};
  bool is_wanted = has_gpus(node) || world.has_claims;
  if (is_labelled) is_wanted = is_wanted || world.may_have_claims || serves(world.view.report);
  if (is_wanted == is_labelled) return {};
  Plan plan;
  if (!is_wanted) plan.actions.emplace_back(EnsureNodeUnused{node.name});
  plan.actions.emplace_back(LabelForAgents{node, is_wanted});
  return plan;
}

}  // namespace cdom::core
