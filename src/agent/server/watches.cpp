#include "agent/server/watches.h"

#include "compute_domain/api/names.h"
#include "compute_domain/base/text.h"

namespace cdom::agent {

namespace {

using base::cat;

kube::InformerOptions slices_of(const NodeAgentOptions& options) {
  return {.of = {.ns = {},
                 .label_selector = {},
                 .field_selector =
                     cat("spec.driver=", api::kDriver, ",spec.nodeName=", options.self.name)},
          .seed = options.seed + 1};
}

kube::InformerOptions report_of(const NodeAgentOptions& options) {
  return {.of = {.ns = {},
                 .label_selector = {},
                 .field_selector = cat("metadata.name=", options.self.name)},
          .seed = options.seed + 2};
}

kube::InformerOptions lists_of(const NodeAgentOptions& options, const std::string& clique) {
  return {.of = {.ns = options.operator_namespace,
                 .label_selector = cat(api::kCliqueLabel, "=", clique),
                 .field_selector = {}},
          .seed = options.seed};
}

template <class T>
bool step_one(kube::Informer<T>& informer) {
  using Step = kube::WatchLoop::Step;
  const Step step = informer.step(base::Duration::zero());
  return step != Step::Idle && step != Step::Stopped;
}

}  // namespace

Watches::Watches(const kube::Client& client, const base::Clock& clock, Queue<ServerResult>& results,
                 const NodeAgentOptions& options, base::Registry* metrics)
    : client_(client),
      clock_(clock),
      results_(results),
      options_(options),
      metrics_(metrics),
      slices_(client, clock, slices_of(options), {}, metrics),
      report_(client, clock, report_of(options), {}, metrics) {}

void Watches::follow(const std::string& clique) {
  results_.post(ListsFollowed{clique});
  have_synced_ = false;
  lists_ =
      std::make_unique<Watch<api::ConfigMap>>(client_, clock_, lists_of(options_, clique),
                                              kube::Store<api::ConfigMap>::Indexes{}, metrics_);
  lists_->on_change([this](const api::ConfigMap* before, const api::ConfigMap* after) {
    results_.post(after == nullptr
                      ? ListSeen{.name = api::name_of(before->meta), .list = std::nullopt}
                      : ListSeen{.name = api::name_of(after->meta), .list = *after});
  });
}

bool Watches::step() { return step_lists() || step_own(report_) || step_own(slices_); }

bool Watches::step_lists() {
  if (!lists_ || !step_one(*lists_)) return false;
  if (!have_synced_ && lists_->store().has_synced()) {
    have_synced_ = true;
    results_.post(ListsSynced{});
  }
  return true;
}

template <class T>
bool Watches::step_own(Watch<T>& watch) {
  if (!step_one(watch)) return false;
  Watched<T> shown{.objects = {},
                   .has_synced = watch.store().has_synced(),
                   .seen_version = watch.store().seen_version()};
  for (const auto& object : watch.store().all()) shown.objects.push_back(*object);
  results_.post(std::move(shown));
  return true;
}

std::optional<base::Duration> Watches::next_due() const {
  const auto due = base::earlier(slices_.next_due(), report_.next_due());
  return lists_ ? base::earlier(due, lists_->next_due()) : due;
}

}  // namespace cdom::agent
