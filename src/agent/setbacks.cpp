#include "agent/setbacks.h"

#include <algorithm>

#include "compute_domain/base/log.h"

namespace cdom::agent {

namespace {

constexpr base::Duration kFirstRetry = std::chrono::milliseconds(100);
constexpr base::Duration kLastRetry = std::chrono::seconds(2);
constexpr int kMostDoublings = 10;

}  // namespace

void Setbacks::failed(const std::string& of, const std::string& error) {
  Row& row = rows_[of];
  if (error != row.last.error) {
    base::log_warning(
        "could not do something on this node; trying again",
        {{"of", of == core::kDaemonSetback ? "the IMEX daemon" : "claim " + of}, {"error", error}});
  }
  const base::Duration backoff = std::min(kFirstRetry * (1 << row.failures), kLastRetry);
  row.last = {error, clock_.elapsed() + backoff};
  row.failures = std::min(row.failures + 1, kMostDoublings);
}

void Setbacks::succeeded(const std::string& of) { rows_.erase(of); }

void Setbacks::keep_only(const core::NodeWorld& world) {
  const auto has = [](const std::vector<core::WantedClaim>& wanted, const std::string& uid) {
    return std::ranges::any_of(wanted, [&](const auto& w) { return w.claim.uid == uid; });
  };
  std::erase_if(rows_, [&](const auto& row) {
    return row.first != core::kDaemonSetback && !world.checkpoint.claims.contains(row.first) &&
           !has(world.prepares, row.first) && !has(world.unprepares, row.first);
  });
}

std::map<std::string, core::Setback> Setbacks::all() const {
  std::map<std::string, core::Setback> all;
  for (const auto& [of, row] : rows_) all.emplace(of, row.last);
  return all;
}

}  // namespace cdom::agent
