#include "sandbox/apiserver/discovery/discovery.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <vector>

#include "compute_domain/base/text.h"
#include "sandbox/text/json.h"

namespace cdom::sandbox::server {

using base::cat;

namespace {

constexpr const char* kAggregated =
    "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList";

http::Response document(const json& body, const char* type = "application/json") {
  return {.status = 200,
          .headers = {{"Content-Type", type}, {"Cache-Control", "no-cache, private"}},
          .body = body.dump()};
}

bool wants_aggregated(const http::Request& request) {
  const auto accept = request.headers.find("Accept");
  if (accept == request.headers.end()) return false;
  return std::ranges::any_of(base::split(accept->second, ','), [](const std::string& choice) {
    return choice.find("v=v2;as=APIGroupDiscoveryList") != std::string::npos;
  });
}

json verbs_of(const Kind& kind) {
  if (kind.is_review) return {"create"};
  return {"create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"};
}

json verbs_of_subresource(const std::string& subresource) {
  if (subresource == "status") return {"get", "patch", "update"};
  if (subresource == "log") return json::array({"get"});
  if (subresource == "finalize") return json::array({"update"});
  return json::array({"create"});
}

// Subresources that speak another kind than their resource.
json subresource_kind(const Kind& kind, const std::string& subresource) {
  if (subresource == "binding") return {{"group", ""}, {"version", "v1"}, {"kind", "Binding"}};
  if (subresource == "eviction") {
    return {{"group", "policy"}, {"version", "v1"}, {"kind", "Eviction"}};
  }
  if (subresource == "token") {
    return {{"group", "authentication.k8s.io"}, {"version", "v1"}, {"kind", "TokenRequest"}};
  }
  return {{"group", kind.group}, {"version", kind.version}, {"kind", kind.kind}};
}

// The rows of each version of each group, in the order of the table.
struct Version {
  std::string group, version;
  std::vector<KindRef> kinds;
};

std::vector<Version> versions_of(const Kinds& kinds) {
  std::vector<Version> out;
  for (const KindRef& kind : kinds.all()) {
    auto found = std::ranges::find_if(out, [&](const Version& version) {
      return version.group == kind->group && version.version == kind->version;
    });
    if (found == out.end()) {
      out.push_back({.group = kind->group, .version = kind->version, .kinds = {}});
      found = std::prev(out.end());
    }
    found->kinds.push_back(kind);
  }
  return out;
}

json aggregated_resource(const Kind& kind) {
  json out = {
      {"resource", kind.resource},
      {"responseKind", {{"group", kind.group}, {"version", kind.version}, {"kind", kind.kind}}},
      {"scope", kind.namespaced ? "Namespaced" : "Cluster"},
      {"singularResource", kind.singular},
      {"verbs", verbs_of(kind)}};
  if (!kind.short_names.empty()) out["shortNames"] = kind.short_names;
  if (!kind.categories.empty()) out["categories"] = kind.categories;
  for (const std::string& subresource : kind.subresources) {
    out["subresources"].push_back({{"subresource", subresource},
                                   {"responseKind", subresource_kind(kind, subresource)},
                                   {"verbs", verbs_of_subresource(subresource)}});
  }
  return out;
}

json aggregated(const Kinds& kinds, bool core) {
  json items = json::array();
  for (const Version& version : versions_of(kinds)) {
    if (version.group.empty() != core) continue;
    if (items.empty() || items.back()["metadata"]["name"] != version.group) {
      items.push_back({{"metadata", {{"name", version.group}}}, {"versions", json::array()}});
    }
    json entry = {{"version", version.version}, {"freshness", "Current"}};
    for (const KindRef& kind : version.kinds) {
      entry["resources"].push_back(aggregated_resource(*kind));
    }
    items.back()["versions"].push_back(std::move(entry));
  }
  return {{"kind", "APIGroupDiscoveryList"},
          {"apiVersion", "apidiscovery.k8s.io/v2"},
          {"metadata", json::object()},
          {"items", std::move(items)}};
}

json legacy_resources(const Version& version) {
  json resources = json::array();
  for (const KindRef& kind : version.kinds) {
    json entry = {{"name", kind->resource},
                  {"singularName", kind->singular},
                  {"namespaced", kind->namespaced},
                  {"kind", kind->kind},
                  {"verbs", verbs_of(*kind)}};
    if (!kind->short_names.empty()) entry["shortNames"] = kind->short_names;
    if (!kind->categories.empty()) entry["categories"] = kind->categories;
    resources.push_back(std::move(entry));
    for (const std::string& subresource : kind->subresources) {
      json below = subresource_kind(*kind, subresource);
      below["name"] = cat(kind->resource, "/", subresource);
      below["singularName"] = "";
      below["namespaced"] = kind->namespaced;
      below["verbs"] = verbs_of_subresource(subresource);
      if (below["group"] == version.group) {
        below.erase("group");
        below.erase("version");
      }
      resources.push_back(std::move(below));
    }
  }
  const std::string group_version =
      version.group.empty() ? version.version : cat(version.group, "/", version.version);
  return {{"kind", "APIResourceList"},
          {"apiVersion", "v1"},
          {"groupVersion", group_version},
          {"resources", std::move(resources)}};
}

json legacy_groups(const Kinds& kinds) {
  json groups = json::array();
  for (const Version& version : versions_of(kinds)) {
    if (version.group.empty()) continue;
    const json entry = {{"groupVersion", cat(version.group, "/", version.version)},
                        {"version", version.version}};
    if (groups.empty() || groups.back()["name"] != version.group) {
      groups.push_back(
          {{"name", version.group}, {"versions", json::array()}, {"preferredVersion", entry}});
    }
    groups.back()["versions"].push_back(entry);
  }
  return groups;
}

}  // namespace

std::optional<http::Response> discovery(const Kinds& kinds, const http::Request& request,
                                        const std::string& path) {
  if (path == "/api" || path == "/apis") {
    const bool core = path == "/api";
    if (wants_aggregated(request)) return document(aggregated(kinds, core), kAggregated);
    if (core) return document({{"kind", "APIVersions"}, {"versions", json::array({"v1"})}});
    return document(
        {{"kind", "APIGroupList"}, {"apiVersion", "v1"}, {"groups", legacy_groups(kinds)}});
  }
  for (const Version& version : versions_of(kinds)) {
    const std::string own = version.group.empty()
                                ? cat("/api/", version.version)
                                : cat("/apis/", version.group, "/", version.version);
    if (path == own) return document(legacy_resources(version));
  }
  for (json& group : legacy_groups(kinds)) {
    if (path != cat("/apis/", group["name"].get<std::string>())) continue;
    group["kind"] = "APIGroup";
    group["apiVersion"] = "v1";
    return document(group);
  }
  return std::nullopt;
}

}  // namespace cdom::sandbox::server
