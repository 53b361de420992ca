#include "plugin/page/room.h"

namespace cdom::plugin::page {

namespace {

// Things that find no room before no other is tried.
constexpr std::size_t kMostMisses = 20;

}  // namespace

Fitted fitted(const std::vector<std::size_t>& order, std::size_t room,
              const std::function<Html(std::size_t)>& line,
              const std::function<Html(std::size_t)>& whole) {
  std::vector<Html> lines;  // in that order; those behind it get none
  std::size_t kept = 0;
  for (const std::size_t place : order) {
    Html piece = line(place);
    if (kept + piece.size() > room / 4) break;
    kept += piece.size();
    lines.push_back(std::move(piece));
  }
  Fitted out;
  std::size_t used = 0, misses = 0;
  for (std::size_t i = 0; i < order.size(); ++i) {
    const bool has_line = i < lines.size();
    if (has_line) kept -= lines[i].size();
    // Smaller ones may still find room; when there are very many, not each is tried.
    if (misses < kMostMisses) {
      Html piece = whole(order[i]);
      if (used + kept + piece.size() <= room) {
        used += piece.size();
        ++out.whole;
        out.pieces.emplace(order[i], std::move(piece));
        continue;
      }
      ++misses;
    }
    if (!has_line) continue;
    used += lines[i].size();
    out.pieces.emplace(order[i], std::move(lines[i]));
  }
  return out;
}

}  // namespace cdom::plugin::page
