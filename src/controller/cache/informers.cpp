#include "informers.h"

#include <algorithm>

#include "compute_domain/api/names.h"
#include "compute_domain/base/text.h"
#include "compute_domain/kube/kubeconfig.h"

namespace cdom::controller {

namespace {

using base::cat;
using base::Error;
using base::ErrorKind;

// A watch that fails for longer than this is not about to work again.
constexpr base::Duration kPassingTrouble = std::chrono::seconds(10);

// An API server that starts, or one of several that is being upgraded, lacks a kind for less.
constexpr base::Duration kLongestAbsence = std::chrono::minutes(1);

std::string in_seconds(base::Duration lasts) {
  return base::short_duration(std::chrono::floor<std::chrono::seconds>(lasts));
}

std::optional<Error> missing(const Watch& watch) {
  const auto trouble = watch.trouble();
  if (watch.has_synced() || !trouble) return std::nullopt;
  if (trouble->error.kind == ErrorKind::NotFound) {
    return Error{ErrorKind::NotFound,
                 cat("the cluster does not serve ", watch.name,
                     ": install the CustomResourceDefinitions of crds/ (and enable "
                     "resource.k8s.io on the API server)")};
  }
  if (trouble->error.is_unauthenticated) return kube::with_credentials_remedy(trouble->error);
  if (trouble->error.kind == ErrorKind::Forbidden) {
    return Error{ErrorKind::Forbidden,
                 cat(trouble->error.message, ": apply the roles of manifests/")};
  }
  return std::nullopt;
}

}  // namespace

template <>
kube::Selection selection_of<api::ConfigMap>(const Options& options) {
  return {.ns = options.settings.operator_namespace, .label_selector = api::kGroupLabel};
}

template <>
kube::Selection selection_of<api::ResourceSlice>(const Options& /*options*/) {
  return {.field_selector = cat("spec.driver=", api::kDriver)};
}

template <>
kube::Selection selection_of<api::Pod>(const Options& options) {
  return {.ns = options.node_namespace,
          .label_selector = cat(api::kAgentAppLabel, "=", api::kAgentApp)};
}

template <>
kube::Selection selection_of<api::ComputeDomainClique>(const Options& options) {
  return {.ns = options.settings.operator_namespace};
}

bool Watches::have_synced() const {
  return std::ranges::all_of(
      watches_, [](const Watch& watch) { return !watch.is_needed || watch.has_synced(); });
}

bool Watches::are_broken() const {
  return std::ranges::any_of(watches_,
                             [](const Watch& watch) { return watch.trouble().has_value(); });
}

std::optional<base::Duration> Watches::next_due() const {
  std::optional<base::Duration> earliest;
  for (const Watch& watch : watches_) earliest = base::earlier(earliest, watch.next_due());
  return earliest;
}

std::string Watches::not_ready() const {
  std::vector<std::string> lines;
  for (const Watch& watch : watches_) {
    if (!watch.is_needed) continue;
    const auto trouble = watch.trouble();
    const base::Duration lasts = trouble ? clock_.elapsed() - trouble->since : base::Duration();
    if (watch.has_synced() && lasts < kPassingTrouble) continue;
    std::string line = cat("watch of ", watch.name, watch.has_synced() ? "" : ": not synced yet");
    if (trouble) {
      line += cat(": ", base::name_of(trouble->error.kind), " for ", in_seconds(lasts));
    }
    lines.push_back(std::move(line));
  }
  return base::join(lines, "; ");
}

// A kind that went with its CRD or with an upgrade of the API server: what is stored of it is the
// truth of another time.
std::optional<Error> Watches::lost(const Watch& watch) const {
  const auto trouble = watch.trouble();
  if (!trouble || trouble->error.kind != ErrorKind::NotFound) return std::nullopt;
  const base::Duration lasts = clock_.elapsed() - trouble->same_since;
  if (lasts < kLongestAbsence) return std::nullopt;
  return Error{ErrorKind::NotFound,
               cat("the API server has not served ", watch.name, " for ", in_seconds(lasts), " (",
                   trouble->error.message,
                   "): install the CustomResourceDefinitions of crds/ and enable "
                   "resource.k8s.io on the API server")};
}

std::optional<Error> Watches::lost_kind() const {
  for (const Watch& watch : watches_) {
    if (!watch.is_needed) continue;
    if (auto error = lost(watch)) return error;
  }
  return std::nullopt;
}

// A missing CRD or permission does not heal by itself: it is reported at start instead of being
// tried for ever.
std::optional<Error> Watches::missing_at_start() const {
  for (const Watch& watch : watches_) {
    if (!watch.is_needed) continue;
    if (auto error = missing(watch)) {
      error->message += ", then start again";
      return error;
    }
  }
  return std::nullopt;
}

std::optional<Error> Watches::lacking() const {
  for (const Watch& watch : watches_) {
    if (watch.is_needed) continue;
    if (auto error = missing(watch)) return error;
    if (auto error = lost(watch)) return error;
  }
  return std::nullopt;
}

}  // namespace cdom::controller
