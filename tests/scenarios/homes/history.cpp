#include "scenarios/homes/history.h"

#include <algorithm>
#include <stdexcept>

#include "compute_domain/base/text.h"

namespace cdom::scenarios {

History::History(const Kubectl& kubectl) {
  const kube::Selection of{.ns = kubectl.ns()};
  const auto page = kubectl.client().list<api::ComputeDomain>({.of = of});
  if (!page) throw std::runtime_error(base::to_string(page.error()));
  auto stream = kubectl.client().open_watch<api::ComputeDomain>(
      {.of = of, .resource_version = page->resource_version});
  if (!stream) throw std::runtime_error(base::to_string(stream.error()));
  stream_ = *std::move(stream);
}

void History::read() {
  while (true) {
    const auto read = stream_->next(base::Duration::zero());
    if (!read) throw std::runtime_error(base::to_string(read.error()));
    if (read->what != http::StreamRead::What::Line) return;
    auto event = api::decode_watch_event<api::ComputeDomain>(read->line);
    if (!event) throw std::runtime_error(base::to_string(event.error()));
    if (event->type == api::WatchType::Added || event->type == api::WatchType::Modified) {
      states_.push_back(std::move(event->object));
    }
  }
}

std::string History::false_ready(std::int64_t num_nodes) {
  read();
  for (const api::ComputeDomain& state : states_) {
    if (!state.status || !state.status->ready) continue;
    const auto& nodes = state.status->nodes;
    const auto ready = std::ranges::count(nodes, true, &api::ComputeDomainNodeStatus::ready);
    if (nodes.empty() || ready < num_nodes || ready != std::ssize(nodes)) {
      return base::cat("Ready with ", ready, " ready of ", nodes.size(), " members");
    }
  }
  if (states_.empty()) return "the watch showed nothing";
  return "";
}

}  // namespace cdom::scenarios
