#include "compute_domain/api/node_list.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <string_view>
#include <tuple>
#include <utility>

#include "api/domain/text_table.h"
#include "compute_domain/base/text.h"

namespace cdom::api {

using base::cat;

// "UID,UID=7": the channel stands there when it is not 0.
static void write_cell(std::string& out, const std::vector<Admission>& admits) {
  if (admits.empty()) out += '-';
  for (const Admission& admission : admits) {
    if (&admission != &admits.front()) out += ',';
    write_cell(out, admission.claim_uid);
    if (admission.channel != 0) out += cat('=', admission.channel);
  }
}

static std::string_view read_cell(std::string_view cell, std::vector<Admission>& out) {
  constexpr std::string_view kMust = "must be UIDs of claims, each with its channel, as UID,UID=7";
  out.clear();
  if (cell == "-") return "";
  for (std::size_t begin = 0; begin <= cell.size();) {
    const std::size_t end = std::min(cell.find(',', begin), cell.size());
    const std::string_view item = cell.substr(begin, end - begin);
    const std::size_t equals = item.find('=');
    Admission& admission = out.emplace_back();
    if (!read_cell(item.substr(0, equals), admission.claim_uid).empty()) return kMust;
    if (admission.claim_uid.empty()) return kMust;
    if (equals != std::string_view::npos &&
        !read_cell(item.substr(equals + 1), admission.channel).empty()) {
      return kMust;
    }
    begin = end + 1;
  }
  return "";
}

namespace {

constexpr std::array kListHead = {column<&NodeList::group>("group", Cell::Required),
                                  column<&NodeList::clique>("clique", Cell::Required),
                                  column<&NodeList::domain>("domain"),
                                  column<&NodeList::slots>("slots", Cell::Required),
                                  column<&NodeList::complete>("complete", Cell::Always),
                                  column<&NodeList::last_term>("lastTerm"),
                                  column<&NodeList::last_channel>("lastChannel"),
                                  column<&NodeList::releases>("releases"),
                                  column<&NodeList::scarce>("scarce")};

// What most rows do not say comes last.
constexpr std::array kEntryColumns = {column<&NodeListEntry::slot>("slot", Cell::Required),
                                      column<&NodeListEntry::node>("node", Cell::Required),
                                      column<&NodeListEntry::address>("address"),
                                      column<&NodeListEntry::term>("term"),
                                      column<&NodeListEntry::instance>("instance"),
                                      column<&NodeListEntry::boot_id>("bootID"),
                                      column<&NodeListEntry::admits>("admits"),
                                      column<&NodeListEntry::member>("member")};

// "0-3,7": names of nodes would fill the object long before the channels are used up.
constexpr std::array kChannelColumns = {
    column<&Channel::number>("number", Cell::Required), column<&Channel::domain_uid>("domain"),
    column<&Channel::domain>("name"), column<&Channel::slots>("slots"),
    column<&Channel::release>("release")};

constexpr std::string_view kEntriesTitle = "nodes";
constexpr std::string_view kChannelsTitle = "channels";

NodeListEntry blank_entry() {
  NodeListEntry entry;
  entry.member = true;
  return entry;
}

// What is wrong with the text; "": nothing.
std::string read_list(std::string_view text, NodeList& list) {
  TextLines lines(text);
  if (std::string problem = read_head(lines, kListHead, list); !problem.empty()) return problem;
  bool has_entries = false, has_channels = false;
  while (const auto line = lines.next()) {
    if (line->empty()) continue;
    const std::size_t colon = line->find(": ");
    const std::string_view title = line->substr(0, colon);
    const bool is_of_entries = title == kEntriesTitle;
    if (colon == std::string_view::npos || (!is_of_entries && title != kChannelsTitle)) {
      lines.skip_table();
      continue;
    }
    bool& is_known = is_of_entries ? has_entries : has_channels;
    if (std::exchange(is_known, true)) return lines.problem(title, "is there twice");
    const std::string_view names = line->substr(colon + 2);
    std::string problem = is_of_entries
                              ? read_table(lines, names, kEntryColumns, list.entries, blank_entry())
                              : read_table(lines, names, kChannelColumns, list.channels, Channel{});
    if (!problem.empty()) return problem;
  }
  return has_entries ? "" : cat(kEntriesTitle, ": is required");
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
  // Rows of one slot and node, or of one number, stay as they are: a list that somebody damaged is
  // written once, and not again in another order.
  std::ranges::stable_sort(sorted.entries, {},
                           [](const NodeListEntry& e) { return std::tie(e.slot, e.node); });
  for (NodeListEntry& entry : sorted.entries) std::ranges::sort(entry.admits);
  std::ranges::stable_sort(sorted.channels, {}, &Channel::number);
  std::string text;
  write_head(text, kListHead, sorted);
  text += '\n';
  write_table(text, kEntriesTitle, kEntryColumns, sorted.entries, blank_entry());
  if (sorted.channels.empty()) return text;
  text += '\n';
  write_table(text, kChannelsTitle, kChannelColumns, sorted.channels, Channel{});
  return text;
}

base::Result<NodeList> decode_node_list(const ConfigMap& map) {
  const auto problem = [&](std::string_view what) {
    return base::Error{base::ErrorKind::Invalid, cat("ConfigMap ", to_string(name_of(map.meta)),
                                                     ", key ", kNodeListKey, ": ", what)};
  };
  const auto text = map.data.find(kNodeListKey);
  if (text == map.data.end()) return problem("is missing");
  NodeList list;
  if (const std::string wrong = read_list(text->second, list); !wrong.empty())
    return problem(wrong);
  // The table is made of it: a damaged number must not become a table of that length.
  constexpr std::int64_t kMostSlots = 10'000;
  if (list.slots < 0 || list.slots > kMostSlots) {
    return problem(cat("slots: must be from 0 to ", kMostSlots, ", is ", list.slots));
  }
  if (!counts_are_sound(list)) return problem("terms and releases: must be counts");
  return list;
}

}  // namespace cdom::api
