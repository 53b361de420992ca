#include "sandbox/cluster/objects.h"

#include <nlohmann/json.hpp>

#include "compute_domain/base/text.h"

namespace cdom::sandbox {
namespace {

base::ErrorKind kind_of(int status, std::string_view reason) {
  using base::ErrorKind;
  switch (status) {
    case 401:
    case 403:
      return ErrorKind::Forbidden;
    case 404:
      return ErrorKind::NotFound;
    case 409:
      return reason == "AlreadyExists" ? ErrorKind::AlreadyExists : ErrorKind::Conflict;
    case 410:
      return ErrorKind::Expired;
    case 400:
    case 405:
    case 415:
    case 422:
      return ErrorKind::Invalid;
    default:
      return ErrorKind::Unavailable;
  }
}

}  // namespace

base::Error error_of(const http::Response& response) {
  const json status = json::parse(response.body, nullptr, false);
  std::string reason = text_at(status, "/reason");
  std::string message = text_at(status, "/message");
  if (message.empty())
    message = base::cat("HTTP ", response.status, " ", response.body.substr(0, 200));
  return {kind_of(response.status, reason), std::move(message)};
}

base::Result<json> Objects::exchange(std::string_view method, std::string target, std::string body,
                                     std::string_view content_type) {
  http::Request request{std::string(method), std::move(target), {}, std::move(body)};
  request.headers["Accept"] = "application/json";
  if (!request.body.empty()) request.headers["Content-Type"] = std::string(content_type);
  auto answer = client_.send(request);
  if (!answer) return answer.error();
  if (answer->status < 200 || answer->status > 299) return error_of(*answer);
  json object = json::parse(answer->body, nullptr, false);
  if (object.is_discarded()) {
    return base::Error{base::ErrorKind::Unavailable,
                       base::cat("the answer to ", method, " ", request.target, " is not JSON")};
  }
  return object;
}

base::Result<json> Objects::read(const std::string& path) { return exchange("GET", path, {}); }

base::Result<json> Objects::get(const Resource& resource, const ObjectKey& key) {
  return exchange("GET", resource.path(key), {});
}

base::Result<std::vector<json>> Objects::list(const Resource& resource, const std::string& ns,
                                              std::string_view query) {
  std::vector<json> all;
  std::string next;
  do {
    std::string target = base::cat(resource.collection(ns), "?limit=500");
    if (!query.empty()) target += base::cat("&", query);
    if (!next.empty()) target += base::cat("&continue=", http::percent_encoded(next));
    auto page = exchange("GET", std::move(target), {});
    if (!page) return page.error();
    if (page->contains("items") && (*page)["items"].is_array()) {
      for (json& item : (*page)["items"]) all.push_back(std::move(item));
    }
    next = text_at(*page, "/metadata/continue");
  } while (!next.empty());
  return all;
}

base::Result<json> Objects::create(const Resource& resource, json object) {
  object["apiVersion"] = resource.api_version();
  object["kind"] = resource.kind;
  return exchange("POST", resource.collection(text_at(object, "/metadata/namespace")),
                  object.dump());
}

base::Result<json> Objects::update(const Resource& resource, const json& object,
                                   std::string_view subresource) {
  json body = object;  // items of a list carry neither
  body["apiVersion"] = resource.api_version();
  body["kind"] = resource.kind;
  return exchange("PUT", resource.path(key_of(object), subresource), body.dump());
}

base::Result<json> Objects::merge_patch(const Resource& resource, const ObjectKey& key,
                                        const json& patch, std::string_view subresource) {
  return exchange("PATCH", resource.path(key, subresource), patch.dump(),
                  "application/merge-patch+json");
}

base::Result<json> Objects::post(const std::string& path, const json& body) {
  return exchange("POST", path, body.dump());
}

base::Result<void> Objects::remove(const Resource& resource, const ObjectKey& key,
                                   const DeleteWish& wish) {
  json options{{"apiVersion", "v1"}, {"kind", "DeleteOptions"}};
  options["propagationPolicy"] = wish.propagation;
  if (!wish.uid.empty()) options["preconditions"]["uid"] = wish.uid;
  if (!wish.resource_version.empty()) {
    options["preconditions"]["resourceVersion"] = wish.resource_version;
  }
  if (wish.grace_period_seconds) options["gracePeriodSeconds"] = *wish.grace_period_seconds;
  auto gone = exchange("DELETE", resource.path(key), options.dump());
  if (!gone) return gone.error();
  return {};
}

const json& at(const json& object, std::string_view pointer) {
  static const json kNull;
  const json::json_pointer path{std::string(pointer)};
  return object.is_structured() && object.contains(path) ? object.at(path) : kNull;
}

std::string text_at(const json& object, std::string_view pointer) {
  const json& value = at(object, pointer);
  return value.is_string() ? value.get<std::string>() : std::string();
}

ObjectKey key_of(const json& object) {
  return {text_at(object, "/metadata/namespace"), text_at(object, "/metadata/name")};
}

std::string uid_of(const json& object) { return text_at(object, "/metadata/uid"); }

namespace {
std::string entry_of(const json& map, const std::string& name) {
  const auto found = map.is_object() ? map.find(name) : map.end();
  return found != map.end() && found->is_string() ? found->get<std::string>() : std::string();
}
}  // namespace

std::string annotation_of(const json& object, const std::string& name) {
  return entry_of(at(object, "/metadata/annotations"), name);
}

std::string label_of(const json& object, const std::string& name) {
  return entry_of(at(object, "/metadata/labels"), name);
}

bool is_deleting(const json& object) {
  return !text_at(object, "/metadata/deletionTimestamp").empty();
}

}  // namespace cdom::sandbox
