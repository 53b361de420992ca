#include "compute_domain/api/node_list.h"

#include <algorithm>
#include <cstdio>
#include <tuple>

#include "api/fields/fields.h"
#include "compute_domain/base/ranges.h"
#include "compute_domain/base/text.h"

namespace cdom::api {

using base::cat;

template <>
inline constexpr auto kFields<Admission> =
    std::tuple{field("claim", &Admission::claim_uid, Presence::Required),
               field("channel", &Admission::channel, Presence::Required)};

template <>
inline constexpr auto kFields<NodeListEntry> =
    std::tuple{field("node", &NodeListEntry::node, Presence::Required),
               field("slot", &NodeListEntry::slot, Presence::Required),
               field("address", &NodeListEntry::address),
               field("instance", &NodeListEntry::instance),
               field("bootID", &NodeListEntry::boot_id),
               field("term", &NodeListEntry::term),
               field("member", &NodeListEntry::member, Presence::Always),
               field("admits", &NodeListEntry::admits)};

// "0-3,7": names of nodes would fill the object long before the channels are used up.
struct AsRanges {
  static void read(Decoding& decoding, const JsonView& json, std::set<std::int64_t>& out) {
    std::string text;
    api::read(decoding, json, text);
    out = base::parse_ranges(text);
  }
  static void write(Json& json, const std::set<std::int64_t>& slots) {
    api::write(json, base::ranges_text(slots));
  }
};

template <>
inline constexpr auto kFields<Channel> =
    std::tuple{field("number", &Channel::number, Presence::Required),
               field("domain", &Channel::domain_uid), field("name", &Channel::domain),
               field("release", &Channel::release), field<AsRanges>("slots", &Channel::slots)};

template <>
inline constexpr auto kFields<NodeList> =
    std::tuple{field("group", &NodeList::group, Presence::Required),
               field("clique", &NodeList::clique, Presence::Required),
               field("domain", &NodeList::domain),
               field("slots", &NodeList::slots, Presence::Required),
               field("complete", &NodeList::complete, Presence::Always),
               field("lastTerm", &NodeList::last_term),
               field("entries", &NodeList::entries, Presence::Required),
               field("channels", &NodeList::channels),
               field("lastChannel", &NodeList::last_channel),
               field("releases", &NodeList::releases),
               field("scarce", &NodeList::scarce)};

// A channel as versions before 2026-11-23 wrote it.
struct ChannelByName {
  std::int64_t number = 0;
  std::vector<std::string> nodes;
};
struct ChannelsByName {
  std::vector<ChannelByName> channels;
};

template <>
inline constexpr auto kFields<ChannelByName> =
    std::tuple{field("number", &ChannelByName::number), field("nodes", &ChannelByName::nodes)};
template <>
inline constexpr auto kFields<ChannelsByName> =
    std::tuple{field("channels", &ChannelsByName::channels)};

namespace {

void read_slots_by_name(const std::string& text, NodeList& list) {
  const auto older = decode_fields<ChannelsByName>(text);
  if (!older) return;
  for (const ChannelByName& named : older->channels) {
    const auto channel = std::ranges::find(list.channels, named.number, &Channel::number);
    if (channel == list.channels.end()) continue;
    for (const std::string& node : named.nodes) {
      const auto entry = std::ranges::find(list.entries, node, &NodeListEntry::node);
      if (entry != list.entries.end()) channel->slots.insert(entry->slot);
    }
  }
}

// No count of ours gets there; one that has is damaged, and counting on would overflow.
constexpr std::int64_t kHighestCount = INT64_MAX / 2;

bool counts_are_sound(const NodeList& list) {
  const auto is_sound = [](std::int64_t count) { return count >= 0 && count < kHighestCount; };
  return is_sound(list.last_term) && is_sound(list.releases) && is_sound(list.last_channel) &&
         std::ranges::all_of(list.entries, is_sound, &NodeListEntry::term) &&
         std::ranges::all_of(list.channels, is_sound, &Channel::release);
}

}  // namespace

std::string slot_host_name(std::string_view group, std::int64_t slot) {
  char number[24];
  std::snprintf(number, sizeof number, "%04lld", static_cast<long long>(slot));
  return cat("compute-domain-daemon-", number, '-', group);
}

std::string table_text(const NodeList& list) {
  std::string text;
  for (std::int64_t slot = 0; slot < list.slots; ++slot) {
    text += slot_host_name(list.group, slot);
    text += '\n';
  }
  return text;
}

std::string table_hash(const NodeList& list) {
  return list.slots == 0 ? std::string{} : base::hex64(base::fnv1a64(table_text(list)));
}

std::string encode_node_list(const NodeList& list) {
  NodeList sorted = list;
  std::ranges::sort(sorted.entries, {},
                    [](const NodeListEntry& e) { return std::tie(e.slot, e.node); });
  for (NodeListEntry& entry : sorted.entries) std::ranges::sort(entry.admits);
  std::ranges::sort(sorted.channels, {}, &Channel::number);
  return encode_fields(sorted);
}

base::Result<NodeList> decode_node_list(const ConfigMap& map) {
  const auto problem = [&](std::string_view what) {
    return base::Error{base::ErrorKind::Invalid, cat("ConfigMap ", to_string(name_of(map.meta)),
                                                     ", key ", kNodeListKey, ": ", what)};
  };
  const auto text = map.data.find(kNodeListKey);
  if (text == map.data.end()) return problem("is missing");
  auto list = decode_fields<NodeList>(text->second);
  if (!list) return problem(list.error().message);
  // The table is made of it: a damaged number must not become a table of that length.
  constexpr std::int64_t kMostSlots = 10'000;
  if (list->slots < 0 || list->slots > kMostSlots) {
    return problem(cat("slots: must be from 0 to ", kMostSlots, ", is ", list->slots));
  }
  if (!counts_are_sound(*list)) return problem("terms and releases: must be counts");
  const auto has_no_slots = [](const Channel& channel) { return channel.slots.empty(); };
  if (std::ranges::any_of(list->channels, has_no_slots)) read_slots_by_name(text->second, *list);
  return list;
}

}  // namespace cdom::api
