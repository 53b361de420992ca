#include "sandbox/cluster/control_plane/namespace_controller.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "compute_domain/base/text.h"

namespace cdom::sandbox {
namespace {

constexpr const char* kSystemNamespaces[] = {"default", "kube-node-lease", "kube-public",
                                             "kube-system"};

bool is_system_namespace(const std::string& name) {
  return std::find(std::begin(kSystemNamespaces), std::end(kSystemNamespaces), name) !=
         std::end(kSystemNamespaces);
}

// Whether a namespace holds objects of it that can be found and deleted.
bool is_emptied(const json& resource) {
  const json& verbs = at(resource, "/verbs");
  const auto has_verb = [&](std::string_view verb) {
    return std::find(verbs.begin(), verbs.end(), verb) != verbs.end();
  };
  const bool is_subresource = text_at(resource, "/name").find('/') != std::string::npos;
  return at(resource, "/namespaced") == true && !is_subresource && has_verb("list") &&
         has_verb("delete");
}

}  // namespace

NamespaceController::NamespaceController(const kube::Client& client, const Informers& informers,
                                         const base::Clock& clock)
    : objects_(client), namespaces_(informers.of(kNamespaces)), queue_(clock) {
  informers.of(kNamespaces).on_change([this](const Change& change) {
    if (change.after) queue_.add(change.key.name);
  });
  for (const char* name : kSystemNamespaces) queue_.add(name);
}

bool NamespaceController::step() {
  if (!namespaces_.has_synced()) return false;
  return sync_next(queue_, [this](const auto& name) { return Synced{sync(name)}; });
}

std::optional<base::Duration> NamespaceController::next_due() const { return queue_.next_due(); }

bool NamespaceController::sync(const std::string& name) {
  const ObjectPtr ns = namespaces_.find({"", name});
  if (!ns) return !is_system_namespace(name) || ensure_namespace(name);
  if (!is_deleting(*ns)) return ensure_service_account(name);
  const auto left = remove_contents(name);
  if (!left || *left > 0) return false;
  json finalized = *ns;
  finalized["spec"]["finalizers"] = json::array();
  const auto gone = objects_.update(kNamespaces, finalized, "finalize");
  return gone.has_value() || gone.error().kind == base::ErrorKind::NotFound;
}

bool NamespaceController::ensure_namespace(const std::string& name) {
  const auto made = objects_.create(kNamespaces, {{"metadata", {{"name", name}}}});
  return made.has_value() || made.error().kind == base::ErrorKind::AlreadyExists;
}

bool NamespaceController::ensure_service_account(const std::string& ns) {
  const auto known = objects_.get(kServiceAccounts, {ns, "default"});
  if (known) return true;
  if (known.error().kind != base::ErrorKind::NotFound) return false;
  const auto made =
      objects_.create(kServiceAccounts, {{"metadata", {{"namespace", ns}, {"name", "default"}}}});
  return made.has_value() || made.error().kind == base::ErrorKind::AlreadyExists;
}

base::Result<std::size_t> NamespaceController::remove_contents(const std::string& ns) {
  const auto groups = objects_.read("/apis");
  if (!groups) return groups.error();
  std::vector<std::pair<std::string, std::string>> served{{"", "v1"}};  // groups and versions
  for (const json& group : at(*groups, "/groups")) {
    served.emplace_back(text_at(group, "/name"), text_at(group, "/preferredVersion/version"));
  }
  std::size_t left = 0;
  for (const auto& [group, version] : served) {
    const auto resources = objects_.read(group.empty() ? base::cat("/api/", version)
                                                       : base::cat("/apis/", group, "/", version));
    if (!resources) return resources.error();
    for (const json& resource : at(*resources, "/resources")) {
      if (!is_emptied(resource)) continue;
      const std::string kind = text_at(resource, "/kind"), plural = text_at(resource, "/name");
      const auto found = remove_all({kind, plural, group, true, {version}}, ns);
      if (!found) return found.error();
      left += *found;
    }
  }
  return left;
}

base::Result<std::size_t> NamespaceController::remove_all(const api::Kind& kind,
                                                          const std::string& ns) {
  const auto objects = objects_.list(kind, {.ns = ns});
  if (!objects) return objects.error();
  for (const json& object : *objects) {
    if (is_deleting(object)) continue;
    const auto gone = objects_.remove(kind, key_of(object));
    if (!gone && gone.error().kind == base::ErrorKind::Unavailable) return gone.error();
  }
  return objects->size();
}

}  // namespace cdom::sandbox
