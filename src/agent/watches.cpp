#include "agent/watches.h"

#include "compute_domain/api/names.h"
#include "compute_domain/base/log.h"
#include "compute_domain/base/text.h"

namespace cdom::agent {

namespace {

using base::cat;

// So long is a report kept back that the API server has cut short: nothing tells of its new
// definition.
constexpr base::Duration kUntilCutAgain = std::chrono::hours(1);

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

void take_earlier(std::optional<base::Duration>& earliest, std::optional<base::Duration> moment) {
  if (moment && (!earliest || *moment < *earliest)) earliest = moment;
}

template <class T>
core::Published<T> published(const kube::Informer<T>& informer, const Flight& flight,
                             base::Duration now) {
  core::Published<T> out;
  for (const auto& object : informer.store().all()) out.objects.push_back(*object);
  out.current =
      informer.store().has_synced() && flight.has_landed(informer.store().seen_version(), now);
  return out;
}

}  // namespace

Watches::Watches(const kube::Client& client, const base::Clock& clock,
                 const NodeAgentOptions& options, base::Registry* metrics)
    : client_(client),
      clock_(clock),
      options_(options),
      metrics_(metrics),
      history_(clock),
      slices_(client, clock, slices_of(options), {}, metrics),
      report_(client, clock, report_of(options), {}, metrics) {}

void Watches::watch_lists_of(const std::string& clique) {
  clique_ = clique;
  history_.forget_all();
  lists_ =
      std::make_unique<Watch<api::ConfigMap>>(client_, clock_, lists_of(options_, clique),
                                              kube::Store<api::ConfigMap>::Indexes{}, metrics_);
  lists_->on_change([this](const api::ConfigMap* before, const api::ConfigMap* after) {
    history_.see(before, after);
  });
}

bool Watches::step() {
  if (wanted_ && wanted_ != clique_) watch_lists_of(std::string(*wanted_));
  if (lists_ && step_one(*lists_)) return true;
  return step_one(report_) || step_one(slices_);
}

std::optional<base::Duration> Watches::next_due() const {
  std::optional<base::Duration> earliest;
  if (wanted_ != clique_) earliest = clock_.elapsed();
  if (lists_) take_earlier(earliest, lists_->next_due());
  take_earlier(earliest, slices_.next_due());
  take_earlier(earliest, report_.next_due());
  return earliest;
}

std::optional<base::Duration> Watches::flights_end() const {
  const base::Duration now = clock_.elapsed();
  std::optional<base::Duration> earliest;
  take_earlier(earliest, slice_flight_.ends(slices_.store().seen_version(), now));
  take_earlier(earliest, report_flight_.ends(report_.store().seen_version(), now));
  return earliest;
}

void Watches::show(core::NodeWorld& world) const {
  const base::Duration now = clock_.elapsed();
  const bool is_followed = lists_ && wanted_ == clique_;
  world.lists_synced = is_followed && lists_->store().has_synced();
  if (is_followed) world.lists = history_.all();
  world.report = published(report_, report_flight_, now);
  world.cut_report = cut_report_;
  world.slices = published(slices_, slice_flight_, now);
}

void Watches::wrote_report(const std::string& resource_version) {
  report_flight_.wrote(resource_version, clock_.elapsed());
}

void Watches::report_was_cut(const core::PublishReport& write) {
  if (!cut_report_) {
    base::log_warning(
        "the API server stores nothing of this node's report: its ComputeDomainNode definition is "
        "older than this agent; apply crds/ of this version",
        {{"node", options_.self.name}});
  }
  cut_report_ = {write.report, write.current.resource_version, clock_.elapsed() + kUntilCutAgain};
}

void Watches::wrote_slice(const std::string& resource_version) {
  slice_flight_.wrote(resource_version, clock_.elapsed());
}

void Watches::removed_slice() {
  slice_flight_.removed(slices_.store().seen_version(), clock_.elapsed());
}

void Watches::failed_report(const base::Error& error) {
  report_flight_.failed(clock_.elapsed(), error.retry_after);
}

void Watches::failed_slice(const base::Error& error) {
  slice_flight_.failed(clock_.elapsed(), error.retry_after);
}

}  // namespace cdom::agent
