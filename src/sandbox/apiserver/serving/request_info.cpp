#include "sandbox/apiserver/serving/request_info.h"

#include <charconv>
#include <vector>

#include "compute_domain/base/text.h"

namespace cdom::sandbox::server {

namespace {

std::map<std::string, std::string> read_query(std::string_view query) {
  std::map<std::string, std::string> out;
  if (query.empty()) return out;
  for (const std::string& pair : base::split(query, '&')) {
    const auto equals = pair.find('=');
    const std::string key = http::percent_decoded(std::string_view(pair).substr(0, equals), true);
    const std::string value =
        equals == std::string::npos
            ? ""
            : http::percent_decoded(std::string_view(pair).substr(equals + 1), true);
    if (!key.empty()) out.try_emplace(key, value);
  }
  return out;
}

std::vector<std::string> segments_of(std::string_view path) {
  std::vector<std::string> out;
  for (const std::string& segment : base::split(path, '/')) {
    if (!segment.empty()) out.push_back(http::percent_decoded(segment, false));
  }
  return out;
}

// Fills resource, namespace, name and subresource from what follows the version.
void read_resource(RequestInfo& info, std::vector<std::string> rest) {
  const bool is_namespace_subresource =
      rest.size() == 3 && (rest[2] == "status" || rest[2] == "finalize");
  if (rest.size() >= 2 && rest[0] == "namespaces") {
    info.namespace_ = rest[1];
    if (rest.size() > 2 && !is_namespace_subresource) rest.erase(rest.begin(), rest.begin() + 2);
  }
  if (!rest.empty()) info.resource = rest[0];
  if (rest.size() > 1) info.name = rest[1];
  if (rest.size() > 2) info.subresource = rest[2];
  info.is_resource = !rest.empty() && rest.size() <= 3;
}

std::string verb_of(const std::string& method, const RequestInfo& info) {
  if (method == "POST") return "create";
  if (method == "PUT") return "update";
  if (method == "PATCH") return "patch";
  if (method == "DELETE") return info.name.empty() ? "deletecollection" : "delete";
  if (info.is_set("watch")) return "watch";
  return info.name.empty() ? "list" : "get";
}

}  // namespace

const std::string& RequestInfo::option(const std::string& key) const {
  static const std::string kNone;
  const auto found = query.find(key);
  return found == query.end() ? kNone : found->second;
}

bool RequestInfo::is_set(const std::string& key) const {
  const auto found = query.find(key);
  return found != query.end() && found->second != "false" && found->second != "0";
}

RequestInfo read_request(const http::Request& request) {
  RequestInfo info;
  const std::string_view target = request.target;
  const auto mark = target.find('?');
  info.path = std::string(target.substr(0, mark));
  if (mark != std::string_view::npos) info.query = read_query(target.substr(mark + 1));

  std::vector<std::string> segments = segments_of(info.path);
  if (segments.size() > 2 && segments[0] == "api") {
    info.version = segments[1];
    read_resource(info, {segments.begin() + 2, segments.end()});
  } else if (segments.size() > 3 && segments[0] == "apis") {
    info.group = segments[1];
    info.version = segments[2];
    read_resource(info, {segments.begin() + 3, segments.end()});
  }
  info.verb = info.is_resource ? verb_of(request.method, info) : base::to_lower(request.method);
  return info;
}

std::optional<std::uint64_t> parse_resource_version(std::string_view text) {
  std::uint64_t value = 0;
  if (text.empty()) return value;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

Form wanted_form(const http::Request& request) {
  const auto accept = request.headers.find("Accept");
  if (accept == request.headers.end()) return Form::Whole;
  // Clients name the form they want first; what follows is the fallback.
  for (const std::string& choice : base::split(accept->second, ',')) {
    if (choice.find("application/json") == std::string::npos) continue;
    if (choice.find("as=Table") != std::string::npos) return Form::Table;
    if (choice.find("as=PartialObjectMetadataList") != std::string::npos) {
      return Form::PartialMetadataList;
    }
    if (choice.find("as=PartialObjectMetadata") != std::string::npos) return Form::PartialMetadata;
    return Form::Whole;
  }
  return Form::Whole;
}

}  // namespace cdom::sandbox::server
