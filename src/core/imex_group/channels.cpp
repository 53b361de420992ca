#include "compute_domain/core/channels.h"

#include <algorithm>

#include "compute_domain/base/text.h"
#include "compute_domain/core/membership.h"
#include "compute_domain/core/node_lists.h"
#include "compute_domain/core/slots.h"
#include "core/imex_group/list_draft.h"

namespace cdom::core {

namespace {

// When a node list is lost, the releases go on from what nodes report, up to this number, which no
// cluster reaches.
constexpr std::int64_t kMostReleasesOfAReport = 1'000'000'000'000;
// A node offers no more devices than one ResourceSlice has, so no more claims have a channel there.
constexpr std::size_t kMostClaimsOfANode = 128;

// Whether some claim of the domain may still be used in the clique.
bool has_claims(const DomainView& view) {
  return std::ranges::any_of(view.claims, [&](const api::ResourceClaim& claim) {
    const Standing standing = standing_of(claim, view);
    return standing == Standing::Held || standing == Standing::Reserved;
  });
}

}  // namespace

Channels::Channels(const CliqueWorld& world, const std::set<std::string>& strangers)
    : world_(world), group_(group_id({"", world.clique})) {
  if (world.list && world.list->list) before_ = &*world.list->list;
  for (const DomainView& view : world.domains) {
    for (const api::ResourceClaim& claim : view.claims) {
      const std::vector<std::string> nodes = nodes_of(claim);
      claims_[claim.meta.uid] = {view.uid, {nodes.begin(), nodes.end()}};
    }
  }
  if (before_ != nullptr) {
    read_list();
  } else {
    rebuild(strangers);
  }
  note_containers();
  note_containers_of(strangers);
  take_back();
}

void Channels::read_list() {
  for (const api::Channel& channel : before_->channels) {
    Record& record = records_.emplace_back(
        Record{channel.number, channel.domain_uid, channel.release, /*nodes=*/{}, channel.domain});
    for (const api::NodeListEntry& entry : before_->entries) {
      if (channel.slots.contains(entry.slot)) record.nodes.insert(entry.node);
    }
  }
  last_ = before_->last_channel;
  releases_ = before_->releases;
}

// What the statuses remember comes first; then what nodes report of claims that belong to the
// domains and are on the reporting node. When containers have a channel and nobody knows for whom,
// the node has to report that the channel is free: its claim may be gone while its containers run.
void Channels::rebuild(const std::set<std::string>& strangers) {
  for (const DomainView& view : world_.domains) {
    if (!view.domain || !view.domain->status) continue;
    for (const auto& status : view.domain->status->nodes) {
      if (status.clique != world_.clique || status.channel <= 0) continue;
      remember(status.channel, view.uid, status.name);
    }
  }
  std::map<std::string, const api::ImexGroupReport*> reports;
  for (const auto& [node, view] : world_.nodes) {
    if (strangers.contains(node)) continue;
    if (const auto* report = find_report(world_.nodes, node, group_)) reports[node] = report;
  }
  for (const auto& [node, report] : reports) {
    releases_ =
        std::max(releases_, std::clamp<std::int64_t>(report->releases, 0, kMostReleasesOfAReport));
    for (const api::ClaimChannel& claim : report->claim_channels) {
      const auto known = claims_.find(claim.claim_uid);
      if (known == claims_.end() || !known->second.nodes.contains(node)) continue;
      remember(claim.channel, known->second.domain_uid, node);
    }
  }
  const std::int64_t release = releases_ + 1;
  for (const auto& [node, report] : reports) {
    // No node has more channels than claims.
    std::size_t left = std::min(report->claims.size(), kMostClaimsOfANode);
    for (const std::int64_t number : parse_slot_ranges(report->channels)) {
      if (left == 0) break;
      if (!is_number(number)) continue;
      --left;
      const auto known = find(number);
      if (known != records_.end()) {
        known->nodes.insert(node);
        continue;
      }
      records_.push_back({number, "", release, {node}});
      releases_ = release;
    }
  }
}

void Channels::remember(std::int64_t number, const std::string& domain_uid,
                        const std::string& node) {
  if (!is_number(number)) return;
  const auto own = std::ranges::find(records_, domain_uid, &Record::domain_uid);
  const auto known = find(number);
  if (known != records_.end() && known == own) own->nodes.insert(node);
  if (known != records_.end() || own != records_.end()) return;
  records_.push_back({number, domain_uid, 0, {node}});
  last_ = std::max(last_, number);
}

// Only of claims that are on the node: a node can make up numbers, and no claims.
void Channels::note_containers() {
  for (const DomainView& view : world_.domains) {
    for (const api::ResourceClaim& claim : view.claims) {
      for (const std::string& node : nodes_of(claim)) {
        const api::ImexGroupReport* report = find_report(world_.nodes, node, group_);
        if (report == nullptr) continue;
        const auto said = std::ranges::find(report->claim_channels, claim.meta.uid,
                                            &api::ClaimChannel::claim_uid);
        if (said != report->claim_channels.end()) in_containers_.insert(said->channel);
      }
    }
  }
}

// No node has more channels than claims.
void Channels::note_containers_of(const std::set<std::string>& strangers) {
  for (const std::string& node : strangers) {
    const api::ImexGroupReport* report = find_report(world_.nodes, node, group_);
    if (report == nullptr) continue;
    std::size_t left = std::min(report->claims.size(), kMostClaimsOfANode);
    for (const std::int64_t number : parse_slot_ranges(report->channels)) {
      if (left == 0) break;
      --left;
      in_containers_.insert(number);
    }
  }
}

bool Channels::is_number(std::int64_t number) const {
  return number > 0 && number < world_.settings.channels;
}

std::vector<Channels::Record>::iterator Channels::find(std::int64_t number) {
  return std::ranges::find(records_, number, &Record::number);
}

void Channels::take_back() {
  std::erase_if(records_,
                [&](const Record& channel) { return channel.release != 0 && is_let_go(channel); });
  for (Record& channel : records_) {
    if (channel.release != 0) continue;
    const auto view = std::ranges::find(world_.domains, channel.domain_uid, &DomainView::uid);
    if (view != world_.domains.end() && (view->domain || has_claims(*view))) continue;
    if (const auto it = world_.unproven.find(channel.domain_uid); it != world_.unproven.end()) {
      next_proof_ = std::min(next_proof_.value_or(it->second), it->second);
      continue;
    }
    channel.release = releases_ + 1;
    released_.push_back(channel.domain_uid);
  }
  if (!released_.empty()) ++releases_;
}

// A node that is in the list no more is one whose daemon, and every container with it, has ended.
bool Channels::is_let_go(const Record& channel) const {
  return std::ranges::all_of(channel.nodes, [&](const std::string& node) {
    const api::ImexGroupReport* report = find_report(world_.nodes, node, group_);
    if (report == nullptr) return before_ == nullptr || find_entry(*before_, node) == nullptr;
    return report->releases >= channel.release &&
           !parse_slot_ranges(report->channels).contains(channel.number);
  });
}

bool Channels::may_be_given(std::int64_t number) const {
  return !in_containers_.contains(number) &&
         std::ranges::find(records_, number, &Record::number) == records_.end();
}

std::optional<std::int64_t> Channels::of(const std::string& domain_uid, const std::string& node,
                                         bool is_known) {
  auto own = std::ranges::find_if(records_, [&](const Record& channel) {
    return channel.release == 0 && channel.domain_uid == domain_uid;
  });
  if (own == records_.end()) {
    // It was admitted, and its channel is on no record: nobody knows which it was.
    if (is_known) return std::nullopt;
    const std::int64_t numbers = usable_channels(world_.settings);
    for (std::int64_t i = 0; i < numbers && own == records_.end(); ++i) {
      const std::int64_t number = (last_ + i) % numbers + 1;
      if (!may_be_given(number)) continue;
      last_ = number;
      own = records_.insert(records_.end(), {number, domain_uid, 0, {}});
    }
  }
  if (own == records_.end()) {
    is_scarce_ = true;
    return std::nullopt;
  }
  own->nodes.insert(node);
  return own->number;
}

bool Channels::has(const std::string& domain_uid) const {
  return std::ranges::any_of(records_, [&](const Record& channel) {
    return channel.release == 0 && channel.domain_uid == domain_uid;
  });
}

// One that is not in the cache keeps the name that it had.
std::string Channels::name_of(const Record& record) const {
  const auto view = std::ranges::find(world_.domains, record.domain_uid, &DomainView::uid);
  const bool is_known = view != world_.domains.end() && view->domain;
  return is_known ? api::to_string(api::name_of(view->domain->meta)) : record.domain;
}

void Channels::write_to(api::NodeList& list) const {
  list.channels.clear();
  for (const Record& record : records_) {
    api::Channel& channel = list.channels.emplace_back(api::Channel{.number = record.number,
                                                                    .domain_uid = record.domain_uid,
                                                                    .domain = name_of(record),
                                                                    .release = record.release,
                                                                    .slots = {}});
    for (const api::NodeListEntry& entry : list.entries) {
      if (record.nodes.contains(entry.node)) channel.slots.insert(entry.slot);
    }
  }
  std::ranges::stable_sort(list.channels, {}, &api::Channel::number);
  list.last_channel = last_;
  list.releases = releases_;
  list.scarce = is_scarce_ && std::ranges::any_of(records_, [](const Record& channel) {
                  return channel.release != 0;
                });
  // The news that nodes know of a release is not worth a write of its own.
  if (before_ == nullptr) return;
  api::NodeList same = list;
  same.channels = before_->channels;
  const bool only_forgets =
      same == *before_ && std::ranges::all_of(list.channels, [&](const api::Channel& channel) {
        return std::ranges::find(before_->channels, channel) != before_->channels.end();
      });
  if (only_forgets) list.channels = before_->channels;
}

std::optional<std::int64_t> channel_of(const api::NodeList& list, const std::string& domain_uid) {
  for (const api::Channel& channel : list.channels) {
    if (channel.release == 0 && channel.domain_uid == domain_uid) return channel.number;
  }
  return std::nullopt;
}

namespace {

// The rest is for labels, the checksum, and what entries come to say.
constexpr std::size_t kMostBytes = 900'000;
// The bytes of an admission beside the claim's UID, ",=65535", and of a channel beside the domain's
// name.
constexpr std::size_t kBytesOfAClaim = 7;
constexpr std::size_t kBytesOfAChannel = 120;

}  // namespace

ListRoom::ListRoom(const api::NodeList& list) : bytes_(api::encode_node_list(list).size()) {}

bool ListRoom::take(std::string_view claim_uid, bool is_first_of_domain, std::string_view domain) {
  const std::size_t wanted = claim_uid.size() + kBytesOfAClaim +
                             (is_first_of_domain ? kBytesOfAChannel + domain.size() : 0);
  if (bytes_ + wanted > kMostBytes) return false;
  bytes_ += wanted;
  return true;
}

bool has_free_channel(const api::NodeList& list, const Settings& settings) {
  return std::ssize(list.channels) < usable_channels(settings);
}

}  // namespace cdom::core
