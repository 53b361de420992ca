#include "compute_domain/api/node_list.h"

#include <algorithm>
#include <cstdio>
#include <tuple>

#include "compute_domain/base/text.h"
#include "fields.h"

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

template <>
inline constexpr auto kFields<Channel> = std::tuple{
    field("number", &Channel::number, Presence::Required), field("domain", &Channel::domain_uid),
    field("release", &Channel::release), field("nodes", &Channel::nodes)};

template <>
inline constexpr auto kFields<NodeList> =
    std::tuple{field("group", &NodeList::group, Presence::Required),
               field("clique", &NodeList::clique, Presence::Required),
               field("slots", &NodeList::slots, Presence::Required),
               field("complete", &NodeList::complete, Presence::Always),
               field("lastTerm", &NodeList::last_term),
               field("entries", &NodeList::entries, Presence::Required),
               field("channels", &NodeList::channels),
               field("lastChannel", &NodeList::last_channel),
               field("releases", &NodeList::releases),
               field("scarce", &NodeList::scarce)};

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
  for (Channel& channel : sorted.channels) std::ranges::sort(channel.nodes);
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
  return list;
}

}  // namespace cdom::api
