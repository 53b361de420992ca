#include "core/domain/still_running.h"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "compute_domain/base/text.h"
#include "compute_domain/core/channels.h"
#include "compute_domain/core/membership.h"
#include "compute_domain/core/node_lists.h"
#include "compute_domain/core/node_pause.h"
#include "compute_domain/core/reasons.h"
#include "compute_domain/core/slots.h"
#include "core/workloads/workload_words.h"

namespace cdom::core {

namespace {

using base::cat;

// Whether the status remembers slots of a group whose list is not there any more.
bool has_lost_list(const World& world) {
  if (!world.view.domain->status) return false;
  return std::ranges::any_of(world.view.domain->status->nodes, [&](const auto& status) {
    const ImexGroupKey group{status.channel > 0 ? "" : world.view.uid, status.clique};
    const std::string name = node_list_name(group_id(group));
    return status.index >= 0 && std::ranges::none_of(world.lists, [&](const auto& list) {
             return list.meta.name == name;
           });
  });
}

// Since when the domain has said that the predecessor serves it: from then on its controller, and
// what was installed with it, is gone.
std::optional<base::Time> taken_over_at(const World& world) {
  if (!world.view.has_predecessor || !world.view.domain || !world.view.domain->status) {
    return std::nullopt;
  }
  const auto* ready = api::find_condition(world.view.domain->status->conditions, kConditionReady);
  if (ready == nullptr || ready->reason != kServedByPredecessor.name()) return std::nullopt;
  return ready->last_transition;
}

// Pods with one remedy.
struct Made {
  std::vector<std::string> pods;
  std::string by;  // "Job train"; "" : nothing that is known
};

// Pods by how they are ended.
std::map<std::string, Made> made_by(const World& world,
                                    const std::map<std::string, std::string>& pods) {
  std::map<std::string, Made> made;
  const auto& domain = world.view.domain;
  const std::string end = domain ? end_of_workload(*domain) : "";
  for (const auto& [name, uid] : pods) {
    api::Workload by;
    std::string remedy = end;
    if (!end.empty()) {
      by = *domain->spec.workload;
    } else if (const auto it = world.makers.find(uid); domain && it != world.makers.end()) {
      const api::OwnerReference& maker = it->second;
      by = {.kind = maker.kind, .name = maker.name, .uid = maker.uid};
      remedy = how_to_end(by, maker.api_version, domain->meta.ns);
    }
    Made& entry = made[remedy];
    entry.pods.push_back(name);
    if (!remedy.empty()) entry.by = cat(by.kind, " ", by.name);
  }
  return made;
}

// Whoever follows the first ones sees the next.
constexpr std::size_t kMostRemedies = 3;

std::string remedies_text(std::vector<std::string> remedies) {
  if (remedies.size() <= kMostRemedies) return base::join(remedies, "; ");
  const std::size_t left = remedies.size() - kMostRemedies;
  remedies.resize(kMostRemedies);
  return cat(base::join(remedies, "; "), "; and so on for ", left, " more");
}

// "18 pods of Job train", and how to end them; else their names. By their names with their UIDs.
void add_pods(const World& world, const std::map<std::string, std::string>& pods, WaitsFor& waits) {
  std::vector<std::string> what, remedies;
  for (const auto& [remedy, made] : made_by(world, pods)) {
    const bool is_one = made.pods.size() == 1;
    const std::string count = cat(made.pods.size(), is_one ? " pod" : " pods");
    if (!remedy.empty()) {
      what.push_back(cat(count, " of ", made.by));
      remedies.push_back(remedy);
      continue;
    }
    const char* them = is_one ? "it" : "them";
    what.push_back(cat(count, " (", base::list_names(made.pods, 3), ")"));
    remedies.push_back(cat("delete ", them, ", or what has made ", them));
  }
  waits.what.insert(waits.what.begin(), what.begin(), what.end());
  waits.remedy = remedies_text(std::move(remedies));
}

// Without those of other namespaces, which use nothing of the domain, whatever they name.
std::vector<api::ResourceClaim> own_claims(const DomainView& view) {
  std::vector<api::ResourceClaim> own = view.claims;
  std::erase_if(own, [&](const api::ResourceClaim& claim) {
    return standing_of(claim, view) == Standing::WrongNamespace;
  });
  return own;
}

// Whether a claim of the domain was ever admitted on the node, by the list of its clique:
// containers elsewhere have no channel of it, whatever a node says.
bool was_admitted(const api::NodeList& list, const std::string& domain_uid,
                  const std::string& node) {
  const api::NodeListEntry* entry = find_entry(list, node);
  return entry != nullptr && std::ranges::any_of(list.channels, [&](const api::Channel& channel) {
           return channel.domain_uid == domain_uid && channel.slots.contains(entry->slot);
         });
}

}  // namespace

std::set<std::string> late_claims(const World& world) {
  std::set<std::string> late;
  const auto taken_over = taken_over_at(world);
  if (!taken_over) return late;
  const auto is_ours = [&](const std::string& node, base::Time made) {
    const auto it = world.nodes.find(node);
    if (it == world.nodes.end() || !it->second.report) return false;
    const auto since = it->second.report->meta.creation_time;
    return since && made > *since;
  };
  // Times are of whole seconds: of a claim that was made in the same one, our agent's word tells
  // that kubelet has come to it.
  const auto has_asked_us = [&](const std::string& node, const std::string& uid) {
    const auto& pending = world.nodes.at(node).report->status.pending_claims;
    return std::ranges::find(pending, uid, &api::PendingClaim::uid) != pending.end();
  };
  for (const api::ResourceClaim& claim : world.view.claims) {
    const auto made = claim.meta.creation_time;
    if (!made || *made < *taken_over) continue;
    const bool is_sure = *made > *taken_over;
    const auto is_late_on = [&](const std::string& node) {
      return is_ours(node, *made) && (is_sure || has_asked_us(node, claim.meta.uid));
    };
    if (std::ranges::all_of(nodes_of(claim), is_late_on)) {
      late.insert(claim.meta.uid);
    }
  }
  return late;
}

std::set<std::string> cached_held_claims(const World& world) {
  std::vector<StoredList> lists = world.lists;
  if (has_lost_list(world) || world.view.has_predecessor) {
    StoredList& lost = lists.emplace_back();
    if (world.view.domain) lost.meta.labels = world.view.domain->meta.labels;
  }
  std::set<std::string> held = held_claims(world.view.uid, lists, own_claims(world.view));
  for (const std::string& uid : late_claims(world)) held.erase(uid);
  return held;
}

std::string end_of_workload(const api::ComputeDomain& domain) {
  const auto& workload = domain.spec.workload;
  if (!workload || workload->uid.empty()) return "";
  for (const api::OwnerReference& owner : domain.meta.owners) {
    if (owner.uid == workload->uid && owner.kind == workload->kind) {
      return how_to_end(*workload, owner.api_version, domain.meta.ns);
    }
  }
  return how_to_end(*workload, "", domain.meta.ns);
}

WaitsFor what_still_runs(const World& world) {
  std::set<std::string> waits;
  std::map<std::string, std::string> pods;
  const std::set<std::string> held = cached_held_claims(world);
  for (const api::ResourceClaim& claim : world.view.claims) {
    if (!held.contains(claim.meta.uid)) continue;
    for (const api::ClaimConsumer& consumer : claim.reserved_for)
      pods[consumer.name] = consumer.uid;
    if (claim.reserved_for.empty()) {
      waits.insert(cat("claim ", claim.meta.name, ", which is allocated and which no pod has ",
                       "(kubectl delete resourceclaim ", claim.meta.name, " -n ", claim.meta.ns,
                       ")"));
    }
  }
  for (const ImexGroupKey& key : groups_of(world.view, world.nodes, world.lists)) {
    const std::string group = group_id(key);
    const bool by_channel = key.domain_uid.empty();
    const api::NodeList* list = by_channel ? find_list(world.lists, group) : nullptr;
    const auto channel = list == nullptr ? std::nullopt : channel_of(*list, world.view.uid);
    for (const auto& [node, view] : world.nodes) {
      // Nobody waits for a node that is gone or dead: the group goes with its domain, so no other
      // daemon can ever get into its slot.
      const bool answers = view.node && view.node->ready != api::ConditionStatus::Unknown;
      if (!answers || !view.report) continue;
      const api::ImexGroupReport* report = api::find_group(view.report->status, group);
      if (report == nullptr) continue;
      const SlotRecord record{report->slot, view.report->status.boot_id, report->term};
      if (is_fenced(view, group, record)) continue;
      if (by_channel) {
        // Claims of other domains are there too.
        const bool has_claim = std::ranges::any_of(
            report->claims, [&](const std::string& uid) { return held.contains(uid); });
        if (channel && was_admitted(*list, world.view.uid, node) && !has_claim &&
            parse_slot_ranges(report->channels).contains(*channel)) {
          waits.insert(cat("containers with channel ", *channel, " on node ", node));
        }
        continue;
      }
      for (const std::string& uid : report->claims) {
        if (!held.contains(uid)) waits.insert(cat("claim UID ", uid, " on node ", node));
      }
    }
  }
  WaitsFor all{.what = {waits.begin(), waits.end()}, .remedy = {}};
  add_pods(world, pods, all);
  return all;
}

}  // namespace cdom::core
