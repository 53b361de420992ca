#include "scenarios/homes/kubectl.h"

#include <nlohmann/json.hpp>
#include <stdexcept>

#include "compute_domain/base/text.h"
#include "source_tree/source_tree.h"

namespace cdom::scenarios {
namespace {

using base::cat;
using json = nlohmann::json;

constexpr char kTable[] = "application/json;as=Table;v=v1;g=meta.k8s.io";

// Beyond those that the operator itself knows.
const api::Kind& kind_named(const std::string& name) {
  static const api::Kind kOthers[] = {
      {"ClusterRole", "clusterroles", "rbac.authorization.k8s.io", false, {"v1"}},
      {"CustomResourceDefinition",
       "customresourcedefinitions",
       "apiextensions.k8s.io",
       false,
       {"v1"}},
      {"Job", "jobs", "batch", true, {"v1"}},
      {"MPIJob", "mpijobs", "kubeflow.org", true, {"v2beta1"}},
      {"Namespace", "namespaces", "", false, {"v1"}},
  };
  for (const api::Kind* kind : api::all_kinds()) {
    if (kind->kind == name) return *kind;
  }
  for (const api::Kind& kind : kOthers) {
    if (kind.kind == name) return kind;
  }
  throw std::runtime_error(cat("no kind ", name, " in kubectl.cpp"));
}

std::string text_of(const json& cell) {
  if (cell.is_string()) return cell.get<std::string>();
  return cell.is_null() ? "" : cell.dump();
}

// The same object as people write it for a cluster that serves this version of its kind: v1beta1
// has the fields of `exactly` beside a request's name, and those of a device below `basic`.
// (KEP-4381 and its graduation to v1.)
json in_version(json object, const api::Kind& kind, const std::string& version) {
  if (object["apiVersion"] != "resource.k8s.io/v1") return object;
  object["apiVersion"] = api::api_version_of(kind, version);
  if (version != "v1beta1") return object;
  json& spec = object["spec"];
  if (kind.kind == "ResourceSlice") {
    for (json& device : spec["devices"]) {
      const json name = device["name"];
      device.erase("name");
      device = {{"name", name}, {"basic", device}};
    }
    return object;
  }
  if (kind.kind == "DeviceClass") return object;
  json& devices = spec.contains("spec") ? spec["spec"]["devices"] : spec["devices"];
  for (json& request : devices["requests"]) {
    const json exactly = request["exactly"];
    request.erase("exactly");
    request.update(exactly);
  }
  return object;
}

}  // namespace

Kubectl::Kubectl(http::Client& transport, const base::Clock& clock, std::string ns)
    : transport_(transport), client_(transport, clock, "kubectl"), ns_(std::move(ns)) {
  const auto discovered = client_.discover();
  if (!discovered) throw std::runtime_error(base::to_string(discovered.error()));
}

std::string Kubectl::resource_version() const {
  return client_.version_of(api::kind_of<api::ResourceClaim>());
}

http::Response Kubectl::send(http::Request request) const {
  request.headers.emplace("Accept", "application/json");
  if (!request.body.empty()) request.headers.emplace("Content-Type", "application/json");
  auto response = transport_.send(request);
  if (!response) {
    throw std::runtime_error(
        cat(request.method, " ", request.target, ": ", base::to_string(response.error())));
  }
  return *std::move(response);
}

void Kubectl::change(http::Request request) const {
  const std::string what = cat(request.method, " ", request.target, ": ");
  const http::Response response = send(std::move(request));
  if (response.status < 300) return;
  throw std::runtime_error(cat(what, api::decode_status(response.status, response.body).message));
}

std::string Kubectl::path(const std::string& kind, const std::string& ns, const std::string& name,
                          const std::string& subresource) const {
  const api::Kind& known = kind_named(kind);
  return api::path_of(known, client_.version_of(known), known.namespaced ? ns : "", name,
                      subresource);
}

std::string Kubectl::get(const std::string& kind, const std::string& name) const {
  http::Response response =
      send({.method = "GET", .target = path(kind, ns_, name), .headers = {}, .body = {}});
  return response.status == 200 ? std::move(response.body) : "";
}

void Kubectl::apply_object(const std::string& text) {
  json object = json::parse(text);
  const std::string kind = object["kind"];
  const api::Kind& known = kind_named(kind);
  object = in_version(std::move(object), known, client_.version_of(known));
  json& meta = object["metadata"];
  if (known.namespaced && !meta.contains("namespace")) meta["namespace"] = ns_;
  http::Request request{.method = "PATCH",
                        .target = cat(path(kind, meta.value("namespace", ""), meta["name"]),
                                      "?fieldManager=kubectl&force=true"),
                        .headers = {{"Content-Type", "application/apply-patch+yaml"}},
                        .body = object.dump()};
  change(std::move(request));
}

void Kubectl::apply(const std::string& yaml) {
  const auto objects = api::objects_in_yaml(yaml, "manifest");
  if (!objects) throw std::runtime_error(objects.error().message);
  for (const std::string& object : *objects) apply_object(object);
}

void Kubectl::apply_file(const std::string& path_in_source) { apply(source_text(path_in_source)); }

std::string Kubectl::refusal_of(const std::string& yaml) {
  try {
    apply(yaml);
  } catch (const std::runtime_error& refused) {
    return refused.what();
  }
  return "";
}

void Kubectl::patch(const std::string& kind, const std::string& name,
                    const std::string& merge_patch, const std::string& subresource) {
  change({.method = "PATCH",
          .target = path(kind, ns_, name, subresource),
          .headers = {{"Content-Type", "application/merge-patch+json"}},
          .body = merge_patch});
}

void Kubectl::annotate(const std::string& kind, const std::string& name,
                       const std::string& annotation, const std::optional<std::string>& value) {
  json patch_of;
  patch_of["metadata"]["annotations"][annotation] = value ? json(*value) : json();
  patch(kind, name, patch_of.dump());
}

void Kubectl::remove_at(const std::string& path, bool by_force, const char* propagation) {
  json options{{"apiVersion", "v1"}, {"kind", "DeleteOptions"}, {"propagationPolicy", propagation}};
  if (by_force) options["gracePeriodSeconds"] = 0;
  const http::Response response =
      send({.method = "DELETE", .target = path, .headers = {}, .body = options.dump()});
  if (response.status < 300 || response.status == 404) return;
  throw std::runtime_error(
      cat("DELETE ", path, ": ", api::decode_status(response.status, response.body).message));
}

void Kubectl::remove(const std::string& kind, const std::string& name) {
  remove_at(path(kind, ns_, name), false);
}

void Kubectl::orphan(const std::string& kind, const std::string& name) {
  remove_at(path(kind, ns_, name), false, "Orphan");
}

void Kubectl::remove_by_force(const std::string& kind, const std::string& name) {
  remove_at(path(kind, ns_, name), true);
}

void Kubectl::remove_in(const std::string& other_ns, const std::string& kind,
                        const std::string& name) {
  remove_at(path(kind, other_ns, name), false);
}

void Kubectl::remove_all(const std::string& kind) { remove_at(path(kind, ns_, ""), false); }

std::vector<std::vector<std::string>> Kubectl::table(
    const std::string& target, const std::vector<std::string>& columns) const {
  const http::Response response =
      send({.method = "GET", .target = target, .headers = {{"Accept", kTable}}, .body = {}});
  if (response.status != 200) throw std::runtime_error(response.body);
  const json table = json::parse(response.body);
  std::vector<std::vector<std::string>> rows;
  for (const json& line : table["rows"]) {
    const auto cell = [&](std::string_view column) -> std::string {
      for (std::size_t i = 0; i < table["columnDefinitions"].size(); ++i) {
        if (table["columnDefinitions"][i]["name"] == column) return text_of(line["cells"][i]);
      }
      throw std::runtime_error(cat("no column ", column));
    };
    std::vector<std::string>& cells = rows.emplace_back();
    cells.reserve(columns.size());
    for (const std::string& column : columns) cells.push_back(cell(column));
  }
  return rows;
}

std::vector<DomainRow> Kubectl::computedomains() const {
  std::vector<DomainRow> rows;
  for (const auto& cells : table(path("ComputeDomain", ns_, ""),
                                 {"Name", "Status", "Ready", "Cliques", "Reason", "Message"})) {
    rows.push_back({cells[0], cells[1], cells[2], cells[3], cells[4], cells[5]});
  }
  return rows;
}

std::vector<NodeRow> Kubectl::computedomainnodes() const {
  std::vector<NodeRow> rows;
  for (const auto& cells : table(path("ComputeDomainNode", "", ""),
                                 {"Name", "State", "Domains", "Unreachable", "Message"})) {
    rows.push_back({cells[0], cells[1], cells[2], cells[3], cells[4]});
  }
  return rows;
}

}  // namespace cdom::scenarios
