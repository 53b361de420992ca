#include "sandbox/cluster/informers.h"

#include <algorithm>
#include <stdexcept>

#include "compute_domain/base/text.h"

namespace cdom::sandbox {

Informers::Informers(const kube::Client& client, const base::Clock& clock, base::Random random,
                     const std::vector<api::Kind>& kinds) {
  for (const api::Kind& kind : kinds) {
    informers_.push_back(
        std::make_unique<JsonInformer>(client, clock, base::Random(random.next()), kind));
  }
}

bool Informers::step() {
  for (std::size_t i = 0; i < informers_.size(); ++i) {
    turn_ = (turn_ + 1) % informers_.size();
    if (informers_[turn_]->step()) return true;
  }
  return false;
}

std::optional<base::Duration> Informers::next_due() const {
  std::optional<base::Duration> due;
  for (const auto& informer : informers_) due = earlier(due, informer->next_due());
  return due;
}

bool Informers::has_synced() const {
  return std::ranges::all_of(informers_,
                             [](const auto& informer) { return informer->has_synced(); });
}

JsonInformer& Informers::of(const api::Kind& kind) const {
  for (const auto& informer : informers_) {
    if (informer->kind().group == kind.group && informer->kind().plural == kind.plural) {
      return *informer;
    }
  }
  throw std::logic_error(base::cat("no informer of ", kind.plural));
}

}  // namespace cdom::sandbox
