#include "compute_domain/core/slots.h"

#include <algorithm>
#include <charconv>
#include <tuple>

#include "compute_domain/api/names.h"
#include "compute_domain/base/text.h"
#include "compute_domain/core/node_lists.h"

namespace cdom::core {

namespace {

enum class Source { RunningDaemon, List, Report, Status };

struct Claimant {
  std::string node;
  Source source;
  SlotRecord record;
};

bool is_running(const api::GroupReport& report) {
  return report.state == api::DaemonState::Starting ||
         report.state == api::DaemonState::Recovering || report.state == api::DaemonState::Ready;
}

std::vector<Claimant> claimants(const std::string& group, const api::NodeList* list,
                                const std::vector<api::ComputeDomainNodeStatus>& status_of_clique,
                                const NodeViews& nodes) {
  std::vector<Claimant> all;
  for (const auto& [node, view] : nodes) {
    if (!view.report) continue;
    const api::GroupReport* report = api::find_group(view.report->status, group);
    if (report == nullptr) continue;
    const bool running = is_running(*report);
    all.push_back(
        {node,
         running ? Source::RunningDaemon : Source::Report,
         // Without the list nobody knows which term is meant: one that no word yet refers to.
         {report->slot, view.report->status.boot_id, report->term + 1, running}});
  }
  if (list != nullptr) {
    for (const api::NodeListEntry& entry : list->entries) {
      all.push_back({entry.node, Source::List, {entry.slot, entry.boot_id, entry.term, false}});
    }
  }
  for (const api::ComputeDomainNodeStatus& status : status_of_clique) {
    all.push_back({status.name, Source::Status, {status.index, "", 0, false}});
  }
  return all;
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
    const std::int64_t slot = claimant.record.slot;
    if (slot < 0 || slot >= slots || taken.contains(slot)) continue;
    if (records.contains(claimant.node)) continue;
    taken.insert(slot);
    records[claimant.node] = claimant.record;
  }
  // Boot id and term are those of the time when the slot was given; only the list remembers them.
  if (list != nullptr) {
    for (auto& [node, record] : records) {
      const api::NodeListEntry* entry = find_entry(*list, node);
      if (entry == nullptr || entry->slot != record.slot) continue;
      record.term = entry->term;
      if (!entry->boot_id.empty()) record.boot_id = entry->boot_id;
    }
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
  const api::GroupReport* report = api::find_group(node.report->status, group);
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
    assignment.slots[node] = {.slot = *slot, .boot_id = {}, .term = 0, .running = false};
  }
  return assignment;
}

std::string slot_ranges(const std::set<std::int64_t>& slots) {
  std::string text;
  for (auto it = slots.begin(); it != slots.end();) {
    const std::int64_t first = *it;
    std::int64_t last = first;
    for (++it; it != slots.end() && *it == last + 1; ++it) last = *it;
    if (!text.empty()) text += ',';
    text += last == first ? base::cat(first) : base::cat(first, "-", last);
  }
  return text;
}

std::set<std::int64_t> parse_slot_ranges(std::string_view text) {
  constexpr std::int64_t kMostSlots =
      65536;  // an IMEX node ID has 16 bits (open GPU kernel module)
  const auto number = [](std::string_view digits) -> std::optional<std::int64_t> {
    std::int64_t value = 0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    const bool whole = error == std::errc{} && end == digits.data() + digits.size();
    return whole && value >= 0 && value < kMostSlots ? std::optional(value) : std::nullopt;
  };
  std::set<std::int64_t> slots;
  if (text.empty()) return slots;
  for (const std::string& range : base::split(text, ',')) {
    const std::vector<std::string> ends = base::split(range, '-');
    const auto first = number(ends.front());
    const auto last = number(ends.back());
    if (ends.size() > 2 || !first || !last || *first > *last) return {};
    for (std::int64_t slot = *first; slot <= *last; ++slot) slots.insert(slot);
  }
  return slots;
}

}  // namespace cdom::core
