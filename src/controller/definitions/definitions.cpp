#include "compute_domain/controller/definitions.h"

#include <algorithm>
#include <iterator>

#include "compute_domain/base/log.h"
#include "compute_domain/base/text.h"
#include "compute_domain/core/plan.h"

namespace cdom::controller {

namespace {

using base::cat;
using base::ErrorKind;

const api::DefinitionVersion* served_version(const api::Definition& expected,
                                             const api::Definition& found) {
  const auto it = std::ranges::find(found.versions, expected.versions.front().name,
                                    &api::DefinitionVersion::name);
  return it == found.versions.end() || !it->served ? nullptr : &*it;
}

// An API server keeps these, whether a schema names them or not.
bool is_of_every_object(const std::string& path) {
  return path == "apiVersion" || path == "kind" || path == "metadata" ||
         path.starts_with("metadata.");
}

// The path of what a field is in: "a.list[]" for "a.list[].x"; "" at the root.
std::string above_of(const std::string& path) {
  const std::size_t dot = path.rfind('.');
  return dot == std::string::npos ? "" : path.substr(0, dot);
}

// Whether the nearest thing above that the schema knows keeps what it does not know.
bool is_kept_unknown(const api::DefinitionVersion& found, const std::string& path) {
  const auto has = [&](const std::string& one) {
    return std::ranges::binary_search(found.fields, one);
  };
  std::string at = path;
  while (!at.empty()) {
    // An item is of its list.
    at = at.ends_with("[]") ? at.substr(0, at.size() - 2) : above_of(at);
    if (has(at.empty() ? api::kAnyField : cat(at, ".", api::kAnyField))) return true;
    if (has(at)) return false;
  }
  return false;
}

}  // namespace

std::vector<std::string> missing_fields(const api::DefinitionVersion& expected,
                                        const api::DefinitionVersion& found) {
  std::vector<std::string> missing;
  std::ranges::set_difference(expected.fields, found.fields, std::back_inserter(missing));
  std::erase_if(missing, [&](const std::string& path) {
    return is_of_every_object(path) || is_kept_unknown(found, path);
  });
  // What is below a field that is missing goes without saying.
  std::erase_if(missing, [&](const std::string& path) {
    const std::string above = above_of(path);
    const std::string list = above.ends_with("[]") ? above.substr(0, above.size() - 2) : above;
    return !above.empty() && std::ranges::find(missing, list) != missing.end();
  });
  return missing;
}

std::string fault_of(const api::Definition& expected, const api::Definition& found) {
  const api::DefinitionVersion* served = served_version(expected, found);
  if (served == nullptr) return "";
  const std::vector<std::string> missing = missing_fields(expected.versions.front(), *served);
  if (missing.empty()) return "";
  return cat(
      "lacks ", missing.size() == 1 ? "field " : "fields ", base::list_names(missing, 4),
      " of this release, so the API server drops what is written there: apply the "
      "CustomResourceDefinitions of this release again (kubectl apply --server-side "
      "--force-conflicts -k crds, of a release -f install.yaml, or helm upgrade with its chart)");
}

DefinitionLook::DefinitionLook(const kube::Client& client, base::Registry& metrics,
                               std::vector<api::Definition> expected)
    : client_(client), metrics_(metrics), expected_(std::move(expected)) {}

void DefinitionLook::look() {
  for (const api::Definition& expected : expected_) {
    const std::string& name = expected.meta.name;
    const auto found = client_.get<api::Definition>({"", name});
    if (found) {
      forbidden_.erase(name);
      see(expected, *found);
      continue;
    }
    const ErrorKind kind = found.error().kind;
    if (kind != ErrorKind::Forbidden && kind != ErrorKind::NotFound) continue;
    // Nothing is known of it any more; an alert must not go on with what was.
    if (known_.erase(name) > 0) missing_fields_of(name).set(0);
    if (kind == ErrorKind::NotFound || !forbidden_.insert(name).second) continue;
    base::log_warning(
        "cannot look whether the CustomResourceDefinition is that of this release; apply the roles "
        "of manifests/",
        {{"definition", name}, {"error", found.error().message}});
  }
}

base::Number& DefinitionLook::missing_fields_of(const std::string& name) {
  return metrics_.gauge(
      "compute_domain_definition_missing_fields",
      "Fields of this release that the cluster's CustomResourceDefinition does not have.",
      {{"definition", name}});
}

void DefinitionLook::see(const api::Definition& expected, const api::Definition& found) {
  const std::string& name = expected.meta.name;
  const api::DefinitionVersion* served = served_version(expected, found);
  const std::size_t missing =
      served == nullptr ? 0 : missing_fields(expected.versions.front(), *served).size();
  missing_fields_of(name).set(static_cast<double>(missing));
  std::string fault = fault_of(expected, found);
  const auto known = known_.find(name);
  if (fault.empty()) {
    if (known == known_.end()) return;
    if (served == nullptr) {
      base::log_warning(
          "the CustomResourceDefinition does not serve this release's version any more",
          {{"definition", name}, {"version", expected.versions.front().name}});
    } else {
      base::log_info("the CustomResourceDefinition has all fields again", {{"definition", name}});
    }
    known_.erase(known);
    return;
  }
  const bool is_known =
      known != known_.end() && known->second.fault == fault && known->second.uid == found.meta.uid;
  if (is_known) return;
  base::log_warning(cat("the CustomResourceDefinition ", fault), {{"definition", name}});
  known_[name] = {.fault = std::move(fault), .uid = found.meta.uid};
}

void DefinitionLook::tell(kube::EventRecorder& events) {
  for (auto& [name, known] : known_) {
    if (known.is_reported) continue;
    const core::RecordEvent event = core::event_on({.api_version = "apiextensions.k8s.io/v1",
                                                    .kind = "CustomResourceDefinition",
                                                    .ns = "",
                                                    .name = name,
                                                    .uid = known.uid},
                                                   "DefinitionOutdated", known.fault);
    events.record(event.involved, event.type, event.reason, event.message);
    known.is_reported = true;
  }
}

bool DefinitionLook::has_unreported() const {
  return std::ranges::any_of(known_, [](const auto& entry) { return !entry.second.is_reported; });
}

}  // namespace cdom::controller
