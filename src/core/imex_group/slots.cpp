#include "compute_domain/core/slots.h"

#include <algorithm>
#include <tuple>

#include "compute_domain/api/names.h"
#include "compute_domain/base/ranges.h"
#include "compute_domain/core/node_lists.h"

namespace cdom::core {

namespace {

// The strongest comes first. What was given to a node comes before what any node reports.
enum class Source { List, Status, RunningDaemon, Report };

struct Claimant {
  std::string node;
  Source source;
  std::int64_t slot;
};

// The highest term that a report is believed; each admission counts terms up by one.
constexpr std::int64_t kHighestTerm = 1'000'000'000'000;

bool is_running(const api::ImexGroupReport& report) {
  return report.state == api::DaemonState::Starting ||
         report.state == api::DaemonState::Recovering || report.state == api::DaemonState::Ready;
}

std::vector<Claimant> claimants(const std::string& group, const api::NodeList* list,
                                const std::vector<api::ComputeDomainNodeStatus>& status_of_clique,
                                const NodeViews& nodes) {
  std::vector<Claimant> all;
  if (list != nullptr) {
    for (const api::NodeListEntry& entry : list->entries) {
      all.push_back({entry.node, Source::List, entry.slot});
    }
  }
  for (const api::ComputeDomainNodeStatus& status : status_of_clique) {
    all.push_back({status.name, Source::Status, status.index});
  }
  if (list != nullptr) return all;
  for (const auto& [node, view] : nodes) {
    const api::ImexGroupReport* report =
        view.report ? api::find_group(view.report->status, group) : nullptr;
    if (report == nullptr) continue;
    all.push_back(
        {node, is_running(*report) ? Source::RunningDaemon : Source::Report, report->slot});
  }
  return all;
}

// Boot id and term of the time when the slot was given. Only the list remembers them; without it
// the boot is the reported one, and the term one that no report refers to yet.
SlotRecord record_of(std::int64_t slot, const std::string& group, const std::string& node,
                     const api::NodeList* list, const NodeViews& nodes) {
  SlotRecord record{.slot = slot, .boot_id = {}, .term = 0};
  const auto view = nodes.find(node);
  const bool has_report = view != nodes.end() && view->second.report;
  const api::NodeListEntry* entry = list == nullptr ? nullptr : find_entry(*list, node);
  if (entry != nullptr && entry->slot == slot) {
    record.term = entry->term;
    record.boot_id = entry->boot_id;
  } else if (has_report && list == nullptr) {
    const api::ImexGroupReport* report = api::find_group(view->second.report->status, group);
    if (report == nullptr) return record;
    record.term = std::clamp<std::int64_t>(report->term, 0, kHighestTerm) + 1;
    record.boot_id = view->second.report->status.boot_id;
  }
  return record;
}

std::optional<std::int64_t> lowest_unused(const SlotRecords& records, std::int64_t slots) {
  std::set<std::int64_t> used;
  for (const auto& [node, record] : records) used.insert(record.slot);
  for (std::int64_t slot = 0; slot < slots; ++slot) {
    if (!used.contains(slot)) return slot;
  }
  return std::nullopt;
}

}  // namespace

SlotRecords recorded_slots(const std::string& group, const api::NodeList* list,
                           const std::vector<api::ComputeDomainNodeStatus>& status_of_clique,
                           const NodeViews& nodes, std::int64_t slots) {
  std::vector<Claimant> all = claimants(group, list, status_of_clique, nodes);
  std::ranges::stable_sort(all, [](const Claimant& a, const Claimant& b) {
    return std::tie(a.source, a.node) < std::tie(b.source, b.node);
  });
  SlotRecords records;
  std::set<std::int64_t> taken;
  for (const Claimant& claimant : all) {
    const std::int64_t slot = claimant.slot;
    if (slot < 0 || slot >= slots || taken.contains(slot)) continue;
    if (records.contains(claimant.node)) continue;
    taken.insert(slot);
    records[claimant.node] = record_of(slot, group, claimant.node, list, nodes);
  }
  return records;
}

bool is_fenced(const NodeView& node, const std::string& group, const SlotRecord& record) {
  if (node.node) {
    for (const api::Taint& taint : node.node->taints) {
      if (taint.key == api::kOutOfServiceTaint) return true;
    }
    const std::string& boot = node.node->boot_id;
    if (!boot.empty() && !record.boot_id.empty() && boot != record.boot_id) return true;
  }
  if (!node.report) return false;
  const std::string& reported_boot = node.report->status.boot_id;
  const std::string fenced = node.report->meta.annotation(api::kFencedAnnotation);
  if (!fenced.empty() && fenced == reported_boot) return true;
  if (!reported_boot.empty() && !record.boot_id.empty() && reported_boot != record.boot_id) {
    return true;
  }
  const api::ImexGroupReport* report = api::find_group(node.report->status, group);
  return report != nullptr && report->state == api::DaemonState::Stopped &&
         report->claims.empty() && report->term == record.term;
}

SlotAssignment assigned_slots(SlotRecords records, const std::set<std::string>& members,
                              const std::set<std::string>& fenced, std::int64_t slots) {
  SlotAssignment assignment{.slots = std::move(records), .full = {}};
  for (const std::string& node : members) {
    if (assignment.slots.contains(node)) continue;
    std::optional<std::int64_t> slot = lowest_unused(assignment.slots, slots);
    if (!slot) {
      const auto holder = std::ranges::min_element(assignment.slots, {}, [&](const auto& held) {
        const bool free = !members.contains(held.first) && fenced.contains(held.first);
        return std::pair(!free, held.second.slot);
      });
      if (holder != assignment.slots.end() && !members.contains(holder->first) &&
          fenced.contains(holder->first)) {
        slot = holder->second.slot;
        assignment.slots.erase(holder);
      }
    }
    if (!slot) {
      assignment.full.push_back(node);
      continue;
    }
    assignment.slots[node] = {.slot = *slot, .boot_id = {}, .term = 0};
  }
  return assignment;
}

std::string slot_ranges(const std::set<std::int64_t>& slots) { return base::ranges_text(slots); }

std::set<std::int64_t> parse_slot_ranges(std::string_view text) { return base::parse_ranges(text); }

}  // namespace cdom::core
