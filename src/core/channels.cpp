#include "compute_domain/core/channels.h"

#include <algorithm>

#include "compute_domain/base/text.h"
#include "compute_domain/core/membership.h"
#include "compute_domain/core/node_lists.h"
#include "compute_domain/core/slots.h"
#include "core/list_draft.h"

namespace cdom::core {

namespace {

// Whether some claim of the domain may still be used in the clique.
bool has_claims(const DomainView& view) {
  return std::ranges::any_of(view.claims, [&](const api::ResourceClaim& claim) {
    const Standing standing = standing_of(claim, view);
    return standing == Standing::Held || standing == Standing::Reserved;
  });
}

}  // namespace

Channels::Channels(const CliqueWorld& world) : world_(world), group_(group_id({"", world.clique})) {
  if (world.list && world.list->list) before_ = &*world.list->list;
  if (before_ != nullptr) {
    channels_ = before_->channels;
    last_ = before_->last_channel;
    releases_ = before_->releases;
  } else {
    for (const DomainView& view : world.domains) {
      if (!view.domain || !view.domain->status) continue;
      for (const auto& status : view.domain->status->nodes) {
        if (status.clique != world.clique || status.channel <= 0) continue;
        const auto known = std::ranges::find(channels_, status.channel, &api::Channel::number);
        if (known == channels_.end()) {
          channels_.push_back({status.channel, view.uid, 0, {status.name}});
        } else if (known->domain_uid == view.uid) {
          known->nodes.push_back(status.name);
        }
        last_ = std::max(last_, status.channel);
      }
    }
  }
  for (const auto& [node, view] : world.nodes) {
    if (const api::GroupReport* report = find_report(world.nodes, node, group_)) {
      in_containers_.merge(parse_slot_ranges(report->channels));
      releases_ = std::max(releases_, report->releases);
    }
  }
  take_back();
}

void Channels::take_back() {
  std::erase_if(channels_, [&](const api::Channel& channel) {
    return channel.release != 0 && is_let_go(channel);
  });
  for (api::Channel& channel : channels_) {
    if (channel.release != 0) continue;
    const auto view = std::ranges::find(world_.domains, channel.domain_uid, &DomainView::uid);
    if (view != world_.domains.end() && (view->domain || has_claims(*view))) continue;
    channel.release = releases_ + 1;
    released_.push_back(channel.domain_uid);
  }
  if (!released_.empty()) ++releases_;
}

// A node that is in the list no more is one whose daemon, and every container with it, has ended.
bool Channels::is_let_go(const api::Channel& channel) const {
  return std::ranges::all_of(channel.nodes, [&](const std::string& node) {
    const api::GroupReport* report = find_report(world_.nodes, node, group_);
    if (report == nullptr) return before_ == nullptr || find_entry(*before_, node) == nullptr;
    return report->releases >= channel.release &&
           !parse_slot_ranges(report->channels).contains(channel.number);
  });
}

bool Channels::may_be_given(std::int64_t number) const {
  return !in_containers_.contains(number) &&
         std::ranges::find(channels_, number, &api::Channel::number) == channels_.end();
}

std::optional<std::int64_t> Channels::of(const std::string& domain_uid, const std::string& node,
                                         bool is_known) {
  auto own = std::ranges::find_if(channels_, [&](const api::Channel& channel) {
    return channel.release == 0 && channel.domain_uid == domain_uid;
  });
  if (own == channels_.end()) {
    // It was admitted, and its channel is on no record: nobody knows which it was.
    if (is_known) return std::nullopt;
    const std::int64_t numbers = world_.settings.channels - 1;
    for (std::int64_t i = 0; i < numbers && own == channels_.end(); ++i) {
      const std::int64_t number = (last_ + i) % numbers + 1;
      if (!may_be_given(number)) continue;
      last_ = number;
      own = channels_.insert(channels_.end(), {number, domain_uid, 0, {}});
    }
  }
  if (own == channels_.end()) {
    is_scarce_ = true;
    return std::nullopt;
  }
  if (std::ranges::find(own->nodes, node) == own->nodes.end()) own->nodes.push_back(node);
  return own->number;
}

void Channels::write_to(api::NodeList& list) const {
  list.channels = channels_;
  std::ranges::sort(list.channels, {}, &api::Channel::number);
  for (api::Channel& channel : list.channels) std::ranges::sort(channel.nodes);
  list.last_channel = last_;
  list.releases = releases_;
  list.scarce = is_scarce_ && std::ranges::any_of(channels_, [](const api::Channel& channel) {
                  return channel.release != 0;
                });
  // That the nodes know of a release is worth no write of its own.
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

std::int64_t channels_taken(const api::NodeList& list) { return std::ssize(list.channels); }

}  // namespace cdom::core
