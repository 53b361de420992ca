// RequestInfo: what an HTTP request asks of the API server, read from its method and target.
//
// Paths and verbs as in k8s.io/apiserver (endpoints/request): /api/v1/…, /apis/<group>/<version>/…,
// then [namespaces/<namespace>/]<resource>[/<name>[/<subresource>]]. Pure.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "compute_domain/http/message.h"

namespace cdom::sandbox::server {

struct RequestInfo {
  bool is_resource = false;
  std::string path;
  // RBAC's verb: get, list, watch, create, update, patch, delete, deletecollection; for other
  // paths the method in lower case.
  std::string verb;
  std::string group, version;
  std::string resource, subresource;
  std::string namespace_, name;
  std::map<std::string, std::string> query;  // the first value of each key

  // "" when absent.
  [[nodiscard]] const std::string& option(const std::string& key) const;
  // "true", "1" and the like.
  [[nodiscard]] bool is_set(const std::string& key) const;
};

RequestInfo read_request(const http::Request& request);

// A resource version in a query or body; nullopt when it is no number. "" is 0.
std::optional<std::uint64_t> parse_resource_version(std::string_view text);

// How the answer shall look, from the Accept header.
enum class Form { Whole, Table, PartialMetadata, PartialMetadataList };
Form wanted_form(const http::Request& request);

}  // namespace cdom::sandbox::server
