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
                                const NodeViews& nodes, const std::set<std::string>& strangers) {
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
    if (report == nullptr || strangers.contains(node)) continue;
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

std::set<std::int64_t> slots_in(const SlotRecords& records) {
  std::set<std::int64_t> slots;
  for (const auto& [node, record] : records) slots.insert(record.slot);
  return slots;
}

// For a member that has none: the one where its daemon runs, else the lowest, and of these the ones
// where daemons of others may run come last.
std::optional<SlotRecord> unused_slot(const std::string& node, const SlotRecords& records,
                                      const SlotRecords& reported, std::int64_t slots) {
  const std::set<std::int64_t> used = slots_in(records), avoided = slots_in(reported);
  const auto own = reported.find(node);
  if (own != reported.end() && own->second.slot < slots && !used.contains(own->second.slot)) {
    return own->second;
  }
  std::optional<std::int64_t> last;
  for (std::int64_t slot = 0; slot < slots; ++slot) {
    if (used.contains(slot)) continue;
    if (!avoided.contains(slot)) return SlotRecord{.slot = slot, .boot_id = {}, .term = 0};
    if (!last) last = slot;
  }
  if (!last) return std::nullopt;
  return SlotRecord{.slot = *last, .boot_id = {}, .term = 0};
}

}  // namespace

SlotRecords recorded_slots(const std::string& group, const api::NodeList* list,
                           const std::vector<api::ComputeDomainNodeStatus>& status_of_clique,
                           const NodeViews& nodes, std::int64_t slots,
                           const std::set<std::string>& strangers) {
  std::vector<Claimant> all = claimants(group, list, status_of_clique, nodes, strangers);
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

SlotRecords reported_slots(const std::string& group, const SlotRecords& records,
                           const NodeViews& nodes) {
  SlotRecords reported;
  for (const auto& [node, view] : nodes) {
    const api::ImexGroupReport* report =
        view.report ? api::find_group(view.report->status, group) : nullptr;
    if (report == nullptr || records.contains(node)) continue;
    if (!is_running(*report) || report->slot < 0) continue;
    reported[node] = {.slot = report->slot,
                      .boot_id = {},
                      .term = std::clamp<std::int64_t>(report->term, 0, kHighestTerm)};
  }
  return reported;
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
                              const std::set<std::string>& fenced, std::int64_t slots,
                              const SlotRecords& reported) {
  SlotAssignment assignment{.slots = std::move(records), .full = {}};
  for (const std::string& node : members) {
    if (assignment.slots.contains(node)) continue;
    std::optional<SlotRecord> slot = unused_slot(node, assignment.slots, reported, slots);
    if (!slot) {
      const auto holder = std::ranges::min_element(assignment.slots, {}, [&](const auto& held) {
        const bool free = !members.contains(held.first) && fenced.contains(held.first);
        return std::pair(!free, held.second.slot);
      });
      if (holder != assignment.slots.end() && !members.contains(holder->first) &&
          fenced.contains(holder->first)) {
        slot = SlotRecord{.slot = holder->second.slot, .boot_id = {}, .term = 0};
        assignment.slots.erase(holder);
      }
    }
    if (!slot) {
      assignment.full.push_back(node);
      continue;
    }
    assignment.slots[node] = *std::move(slot);
  }
  return assignment;
}

std::string slot_ranges(const std::set<std::int64_t>& slots) { return base::ranges_text(slots); }

std::set<std::int64_t> parse_slot_ranges(std::string_view text) { return base::parse_ranges(text); }

}  // namespace cdom::core
