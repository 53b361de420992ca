#include "core/node/report/conditions.h"

#include <algorithm>
#include <utility>

#include "compute_domain/base/text.h"
#include "core/node/daemon/pause.h"

namespace cdom::core {

namespace {

using base::cat;

constexpr Reason kDriverPaused = "DriverPaused";

// Whether claims on this node get a channel: without a fabric there is none to give.
bool gives_channels(const NodeDraft& draft) {
  return !draft.checkpoint.clique.value_or("").empty();
}

// A node that has none says that already.
std::optional<NodeFault> lack_of_channels(const NodeDraft& draft,
                                          const std::vector<NodeFault>& known) {
  const std::optional<std::int64_t> has = draft.world.channel_count;
  const std::int64_t needs = draft.world.settings.channels;
  if (!draft.checkpoint.by_channel || !has || *has >= needs) return std::nullopt;
  const auto is_of_channels = [](const NodeFault& fault) { return fault.type == kFaultChannels; };
  if (std::ranges::any_of(known, is_of_channels)) return std::nullopt;
  return NodeFault{
      kFaultChannels, "TooFewImexChannels",
      cat("the NVIDIA driver has ", *has, " IMEX channels, and a domain may get any of ", needs,
          " (IMEX_CHANNELS): load it with NVreg_ImexChannelCount=", needs,
          ", or set IMEX_CHANNELS of controller, agents and supervisors to what all drivers have")};
}

NodeFault can_serve(const NodeDraft& draft, const std::vector<NodeFault>& faults) {
  if (const std::string paused = why_driver_paused(draft.world); !paused.empty()) {
    return {api::kConditionCanServe, kDriverPaused, paused};
  }
  if (!draft.checkpoint.clique) {
    return {api::kConditionCanServe, "FabricUnreadable",
            cat("the NVLink fabric has never been read: ", draft.fabric.error)};
  }
  if (!faults.empty()) {
    std::vector<std::string> messages;
    messages.reserve(faults.size());
    for (const NodeFault& fault : faults) messages.push_back(fault.message);
    return {api::kConditionCanServe, faults.front().reason, base::join(messages, "; ")};
  }
  if (is_changing_over(draft)) {
    return {api::kConditionCanServe, "ChangingOver",
            "the node changes to another clique or isolation when its last claim has ended"};
  }
  return {};
}

std::vector<NodeFault> all_faults_of(const NodeDraft& draft) {
  const NodeWorld& world = draft.world;
  // What else is missing then is missing because of it.
  if (std::string paused = why_driver_paused(world); !paused.empty()) {
    return {{kFaultDriver, kDriverPaused, std::move(paused)}};
  }
  if (!gives_channels(draft)) return {};
  std::vector<NodeFault> faults = world.faults;
  if (auto lack = lack_of_channels(draft, faults)) faults.push_back(*std::move(lack));
  faults.insert(faults.end(), draft.fabric.faults.begin(), draft.fabric.faults.end());
  // The host's own daemon has its peers from the host's configuration, not by names.
  if (world.daemon && world.daemon->host_managed) {
    std::erase_if(faults, [](const NodeFault& fault) { return fault.type == kFaultDriver; });
  }
  return faults;
}

}  // namespace

std::vector<NodeFault> faults_of(const NodeDraft& draft) {
  std::vector<NodeFault> faults = all_faults_of(draft);
  std::erase_if(faults, [](const NodeFault& fault) { return !fault.is_blocking; });
  return faults;
}

std::vector<api::Condition> conditions_of(const NodeDraft& draft,
                                          const api::ComputeDomainNode* said) {
  const NodeWorld& world = draft.world;
  std::vector<NodeFault> faults = all_faults_of(draft);
  const NodeFault lack = can_serve(draft, faults_of(draft));
  // It takes no device back: what the node served it serves until the fabric says something else.
  if (!draft.fabric.error.empty()) {
    faults.push_back({kFaultFabric, "FabricUnreadable", draft.fabric.error});
  }
  std::vector<api::Condition> conditions;
  const auto add = [&](const NodeFault& fault, api::ConditionStatus status) {
    api::Condition condition{
        .type = fault.type,
        .status = status,
        .reason = std::string(fault.reason.name()),
        .message = fault.message,
        .last_transition = std::chrono::floor<std::chrono::seconds>(world.now)};
    const api::Condition* before =
        said == nullptr ? nullptr : api::find_condition(said->status.conditions, fault.type);
    if (before != nullptr && before->status == status) {
      condition.last_transition = before->last_transition;
    }
    conditions.push_back(std::move(condition));
  };
  if (lack.type.empty()) {
    const std::string resting = why_resting(draft);
    const std::string offers = "the node offers its devices to the scheduler";
    add({api::kConditionCanServe, resting.empty() ? Reason("RequirementsMet") : Reason("Cordoned"),
         resting.empty() ? offers : cat(offers, "; ", resting)},
        api::ConditionStatus::True);
  } else {
    add(lack, api::ConditionStatus::False);
  }
  for (const NodeFault& fault : faults) add(fault, api::ConditionStatus::False);
  std::ranges::stable_sort(conditions, {}, &api::Condition::type);
  const auto is_same_type = [](const api::Condition& a, const api::Condition& b) {
    return a.type == b.type;
  };
  conditions.erase(std::unique(conditions.begin(), conditions.end(), is_same_type),
                   conditions.end());
  return conditions;
}

}  // namespace cdom::core
