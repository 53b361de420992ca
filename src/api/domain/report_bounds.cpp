#include <algorithm>

#include "compute_domain/api/compute_domain_node.h"
#include "compute_domain/base/text.h"

namespace cdom::api {

namespace {

using Bounds = ReportBounds;

void bound(std::string& text, std::size_t most) {
  if (text.size() > most) text.clear();
}

void bound(std::int64_t& count) { count = std::clamp<std::int64_t>(count, 0, Bounds::kCount); }

template <class T>
void keep_first(std::vector<T>& list, std::size_t most) {
  if (list.size() > most) list.resize(most);
}

template <class T>
void keep_first_of_all(std::vector<ImexGroupReport>& groups, std::vector<T> ImexGroupReport::*list,
                       std::size_t most) {
  for (ImexGroupReport& group : groups) {
    keep_first(group.*list, most);
    most -= (group.*list).size();
  }
}

void bound(ImexGroupReport& group) {
  for (std::string* id : {&group.group, &group.table_hash, &group.instance}) {
    bound(*id, Bounds::kId);
  }
  if (group.slot < -1 || group.slot > Bounds::kSlot) group.slot = -1;
  bound(group.term);
  bound(group.releases);
  bound(group.restarts);
  for (auto* failure : {&group.last_failure, &group.last_loss}) {
    if (!*failure) continue;
    std::string& message = (*failure)->message;
    message = base::shortened(std::move(message), Bounds::kMessage);
  }
  bound(group.connected, Bounds::kRanges);
  bound(group.channels, Bounds::kRanges);
  const auto is_too_long = [](const std::string& id) { return id.size() > Bounds::kId; };
  std::erase_if(group.unreachable, [](const auto& name) { return name.size() > Bounds::kName; });
  std::erase_if(group.domains, [](const auto& name) { return name.size() > Bounds::kDomain; });
  std::erase_if(group.claims, is_too_long);
  std::erase_if(group.lost_claims, is_too_long);
  std::erase_if(group.claim_channels, [&](const ClaimChannel& claim) {
    return is_too_long(claim.claim_uid) || claim.channel < 0 || claim.channel > Bounds::kSlot;
  });
  keep_first(group.unreachable, Bounds::kOfAGroup);
  keep_first(group.domains, Bounds::kOfAGroup);
  keep_first(group.claims, Bounds::kOfAGroup);
  keep_first(group.lost_claims, Bounds::kOfAGroup);
  keep_first(group.claim_channels, Bounds::kOfAGroup);
  group.message = base::shortened(std::move(group.message), Bounds::kMessage);
}

// Otherwise the bounds of one group would be multiplied by those of the list.
void bound_together(std::vector<ImexGroupReport>& groups) {
  for (auto list : {&ImexGroupReport::claims, &ImexGroupReport::lost_claims,
                    &ImexGroupReport::unreachable, &ImexGroupReport::domains}) {
    keep_first_of_all(groups, list, Bounds::kOfAGroup);
  }
  keep_first_of_all(groups, &ImexGroupReport::claim_channels, Bounds::kOfAGroup);
  for (auto ranges : {&ImexGroupReport::connected, &ImexGroupReport::channels}) {
    std::size_t left = Bounds::kRanges;
    for (ImexGroupReport& group : groups) {
      bound(group.*ranges, left);
      left -= (group.*ranges).size();
    }
  }
}

// What a node has stopped is only for others to know; without it their slots stay kept.
void bound(std::vector<ImexGroupReport>& groups) {
  if (groups.size() > Bounds::kGroups) {
    std::stable_partition(groups.begin(), groups.end(), [](const ImexGroupReport& group) {
      return group.state != DaemonState::Stopped;
    });
    groups.resize(Bounds::kGroups);
    std::ranges::sort(groups, {}, &ImexGroupReport::group);
  }
  for (ImexGroupReport& group : groups) bound(group);
  bound_together(groups);
}

void bound(PendingClaim& claim) {
  bound(claim.uid, Bounds::kId);
  claim.message = base::shortened(std::move(claim.message), Bounds::kMessage);
}

void bound(Condition& condition) {
  bound(condition.type, Bounds::kId);
  bound(condition.reason, Bounds::kId);
  condition.message = base::shortened(std::move(condition.message), Bounds::kMessage);
}

void bound(ReportSummary& summary) {
  for (std::string* text : {&summary.domains, &summary.unreachable, &summary.message}) {
    *text = base::shortened(std::move(*text), Bounds::kMessage);
  }
}

}  // namespace

ComputeDomainNodeReport bounded(ComputeDomainNodeReport report) {
  bound(report.boot_id, Bounds::kId);
  bound(report.address, Bounds::kAddress);
  report.fabric_error = base::shortened(std::move(report.fabric_error), Bounds::kMessage);
  // It becomes the value of labels.
  if (!base::is_label_value(report.clique)) {
    report.clique.clear();
    report.fabric_error = "the reported clique is not a valid label value";
  }
  if (report.next_clique && !base::is_label_value(*report.next_clique)) report.next_clique.reset();
  bound(report.groups);
  keep_first(report.pending_claims, Bounds::kPendingClaims);
  for (PendingClaim& claim : report.pending_claims) bound(claim);
  keep_first(report.conditions, Bounds::kConditions);
  for (Condition& condition : report.conditions) bound(condition);
  bound(report.summary);
  return report;
}

}  // namespace cdom::api
