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

bool has_verb(const json& resource, std::string_view verb) {
  const json& verbs = at(resource, "/verbs");
  return std::find(verbs.begin(), verbs.end(), verb) != verbs.end();
}

}  // namespace

NamespaceController::NamespaceController(http::Client& client, const Mirrors& mirrors,
                                         const base::Clock& clock)
    : client_(client), objects_(client), namespaces_(mirrors.of(kNamespaces)), agenda_(clock) {
  mirrors.of(kNamespaces).on_change([this](const Change& change) {
    if (change.after) agenda_.add(change.key.name);
  });
  for (const char* name : kSystemNamespaces) agenda_.add(name);
}

bool NamespaceController::step() {
  if (!namespaces_.is_synced()) return false;
  const auto name = agenda_.pop();
  if (!name) return false;
  if (sync(*name)) {
    agenda_.forget_failures(*name);
  } else {
    agenda_.retry(*name);
  }
  return true;
}

std::optional<base::Duration> NamespaceController::next_due() const { return agenda_.next_due(); }

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

base::Result<json> NamespaceController::get(const std::string& path) {
  const auto answer = client_.send({"GET", path, {{"Accept", "application/json"}}, {}});
  if (!answer) return answer.error();
  if (answer->status != 200) return error_of(*answer);
  return json::parse(answer->body, nullptr, false);
}

base::Result<std::vector<std::string>> NamespaceController::namespaced_collections(
    const std::string& ns) {
  std::vector<std::string> roots{"/api/v1"};
  const auto groups = get("/apis");
  if (!groups) return groups.error();
  for (const json& group : at(*groups, "/groups")) {
    roots.push_back(base::cat("/apis/", text_at(group, "/preferredVersion/groupVersion")));
  }
  std::vector<std::string> collections;
  for (const std::string& root : roots) {
    const auto resources = get(root);
    if (!resources) return resources.error();
    for (const json& resource : at(*resources, "/resources")) {
      const std::string name = text_at(resource, "/name");
      if (at(resource, "/namespaced") != true || name.find('/') != std::string::npos) continue;
      if (!has_verb(resource, "list") || !has_verb(resource, "delete")) continue;
      collections.push_back(base::cat(root, "/namespaces/", ns, "/", name));
    }
  }
  return collections;
}

base::Result<std::size_t> NamespaceController::remove_contents(const std::string& ns) {
  const auto collections = namespaced_collections(ns);
  if (!collections) return collections.error();
  std::size_t left = 0;
  for (const std::string& collection : *collections) {
    const auto list = get(collection);
    if (!list) return list.error();
    for (const json& object : at(*list, "/items")) {
      ++left;
      if (is_deleting(object)) continue;
      const std::string path =
          base::cat(collection, "/", http::percent_encoded(key_of(object).name));
      const auto gone = client_.send({"DELETE", path, {}, {}});
      if (!gone) return gone.error();
    }
  }
  return left;
}

}  // namespace cdom::sandbox
