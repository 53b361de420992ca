#include "core/domain/accusations.h"

#include <algorithm>
#include <map>

#include "compute_domain/base/text.h"

namespace cdom::core {

namespace {

using base::cat;

// The other members of its IMEX group: nobody else ever connects to it.
std::size_t peers_of(const std::string& node, const Readiness& readiness) {
  const auto it = std::ranges::find_if(
      readiness.members, [&](const MemberView& member) { return member.membership.node == node; });
  if (it == readiness.members.end()) return 0;
  const Membership& of = it->membership;
  const auto is_peer = [&](const MemberView& member) {
    const Membership& other = member.membership;
    return other.node != node && other.clique == of.clique && other.isolation == of.isolation;
  };
  return static_cast<std::size_t>(std::ranges::count_if(readiness.members, is_peer));
}

}  // namespace

std::vector<std::string> accusations(const Readiness& readiness) {
  std::vector<const OpenPair*> left;
  for (const OpenPair& pair : readiness.open_pairs) {
    if (pair.is_reported) left.push_back(&pair);
  }
  constexpr std::size_t kMostLines = 3;
  std::vector<std::string> lines;
  while (!left.empty() && lines.size() < kMostLines) {
    std::map<std::string, std::vector<std::string>> by_accused, by_accuser;
    for (const OpenPair* pair : left) {
      by_accused[pair->to].push_back(pair->from);
      by_accuser[pair->from].push_back(pair->to);
    }
    const auto most = [](const auto& grouped) {
      return std::ranges::max_element(grouped, {},
                                      [](const auto& entry) { return entry.second.size(); });
    };
    const auto accused = most(by_accused), accuser = most(by_accuser);
    if (accuser->second.size() > accused->second.size()) {
      lines.push_back(cat(accuser->first, " cannot reach ", base::list_names(accuser->second)));
      std::erase_if(left, [&](const OpenPair* pair) { return pair->from == accuser->first; });
    } else {
      const std::size_t others = peers_of(accused->first, readiness);
      lines.push_back(cat(accused->first, " is not reached by ", accused->second.size(), " of ",
                          others, others == 1 ? " member (" : " members (",
                          base::list_names(accused->second, 3), ")"));
      std::erase_if(left, [&](const OpenPair* pair) { return pair->to == accused->first; });
    }
  }
  if (!left.empty()) {
    lines.push_back(cat(left.size(), left.size() == 1 ? " more pair" : " more pairs"));
  }
  return lines;
}

std::string complaints(const Readiness& readiness) {
  const auto is_reported = [](const OpenPair& pair) { return pair.is_reported; };
  const auto first = std::ranges::find_if(readiness.open_pairs, is_reported);
  const auto& [one, other] = std::minmax(first->from, first->to);
  const auto count = std::ranges::count_if(readiness.open_pairs, is_reported);
  return cat("members are not connected (",
             count == 1 ? "1 pair: " : cat(count, " pairs, the first: "), one, " and ", other, ")");
}

}  // namespace cdom::core
