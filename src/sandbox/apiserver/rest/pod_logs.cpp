#include "sandbox/apiserver/rest/pod_logs.h"

#include "compute_domain/base/text.h"

namespace cdom::sandbox::server {

using base::cat;

namespace {
constexpr std::size_t kMostKept = 1 << 20;
}

void PodLogs::append(std::string_view namespace_, std::string_view pod, std::string_view container,
                     std::string_view text) {
  Log& log = logs_[cat(namespace_, "/", pod, "/", container)];
  log.kept += text;
  if (log.kept.size() <= kMostKept) return;
  // Whole lines go, and half of all, so that this happens seldom.
  const auto newline = log.kept.find('\n', log.kept.size() - kMostKept / 2);
  const std::size_t dropped = newline == std::string::npos ? log.kept.size() : newline + 1;
  log.kept.erase(0, dropped);
  log.begin += dropped;
}

PodLogs::Text PodLogs::read(std::string_view namespace_, std::string_view pod,
                            std::string_view container) const {
  const auto found = logs_.find(cat(namespace_, "/", pod, "/", container));
  if (found == logs_.end()) return {};
  return {.kept = found->second.kept, .begin = found->second.begin};
}

void PodLogs::forget(std::string_view namespace_, std::string_view pod) {
  const std::string prefix = cat(namespace_, "/", pod, "/");
  auto from = logs_.lower_bound(prefix);
  auto to = from;
  while (to != logs_.end() && to->first.starts_with(prefix)) ++to;
  logs_.erase(from, to);
}

}  // namespace cdom::sandbox::server
