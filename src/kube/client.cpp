#include "compute_domain/kube/client.h"

#include <algorithm>
#include <charconv>
#include <utility>

#include "compute_domain/base/log.h"
#include "compute_domain/base/text.h"

namespace cdom::kube {

namespace {

constexpr char kJson[] = "application/json";
constexpr char kMergePatch[] = "application/merge-patch+json";
// Asked for only where the server forgets a list between two of its pages.
constexpr std::size_t kMostBytesOfAWholeList = std::size_t{64} << 20;

// A target with its query, one parameter after the other.
class Target {
 public:
  explicit Target(std::string path) : text_(std::move(path)) {}

  Target& with(std::string_view name, std::string_view value) {
    if (!value.empty()) {
      text_ += base::cat(separator_, name, "=", http::percent_encoded(value));
      separator_ = '&';
    }
    return *this;
  }
  Target& with(const Selection& of) {
    return with("labelSelector", of.label_selector).with("fieldSelector", of.field_selector);
  }
  std::string text() { return std::move(text_); }

 private:
  std::string text_;
  char separator_ = '?';
};

http::Request request_of(std::string method, std::string target, std::string content_type = {},
                         std::string body = {}) {
  http::Request request{.method = std::move(method),
                        .target = std::move(target),
                        .headers = {{"Accept", kJson}},
                        .body = std::move(body)};
  if (!content_type.empty()) request.headers["Content-Type"] = std::move(content_type);
  return request;
}

// The seconds of a Retry-After header. Its other form, a date, is not used by API servers.
std::optional<base::Duration> retry_after_of(const http::Headers& headers) {
  const auto it = headers.find("Retry-After");
  if (it == headers.end()) return std::nullopt;
  int seconds = 0;
  const char* end = it->second.data() + it->second.size();
  const auto [at, error] = std::from_chars(it->second.data(), end, seconds);
  if (error != std::errc() || at != end || seconds < 0) return std::nullopt;
  return std::chrono::seconds(seconds);
}

// Refuses the same names as client-go: an empty one would make the path that of all objects, and
// dots would lead the server to another path.
std::optional<base::Error> mistake_in(const api::Kind& kind, const api::ObjectName& name) {
  for (const std::string& part : {name.name, kind.namespaced ? name.ns : "-"}) {
    if (!part.empty() && part != "." && part != ".." &&
        part.find_first_of("/%") == std::string::npos) {
      continue;
    }
    return base::invalid(base::cat("\"", part, "\" cannot be part of the name of a ", kind.kind));
  }
  return std::nullopt;
}

base::Error too_long(std::string_view verb, const std::string& resource, const std::string& what,
                     std::size_t most_bytes) {
  return base::invalid(
      base::cat(verb, " ", resource, ": ", what, " is longer than ", most_bytes >> 20, " MiB"));
}

}  // namespace

Client::Client(http::Client& transport, const base::Clock& clock, std::string field_manager,
               base::Registry* metrics)
    : transport_(transport),
      clock_(clock),
      field_manager_(std::move(field_manager)),
      metrics_(metrics) {}

base::Result<void> Client::discover() {
  for (const api::Kind* kind : api::all_kinds()) {
    if (kind->versions.size() < 2) continue;
    {
      const std::scoped_lock lock(mutex_);
      if (versions_.contains(kind->group)) continue;
    }
    const auto version = served_version(*kind);
    if (!version) return version.error();
    const std::scoped_lock lock(mutex_);
    versions_[std::string(kind->group)] = *version;
  }
  return {};
}

base::Result<void> Client::discover_again(const api::Kind& kind) const {
  if (kind.versions.size() < 2) return {};
  const auto version = served_version(kind);
  if (!version) return version.error();
  const std::string before = version_of(kind);
  if (*version == before) return {};
  base::log_info("the API server serves another version of an API group",
                 {{"group", std::string(kind.group)}, {"before", before}, {"now", *version}});
  const std::scoped_lock lock(mutex_);
  versions_[std::string(kind.group)] = *version;
  return {};
}

base::Result<std::string> Client::served_version(const api::Kind& kind) const {
  const std::string group(kind.group);
  const std::vector<std::string> wanted(kind.versions.begin(), kind.versions.end());
  const std::string path = base::cat("/apis/", group);
  const auto body = send({"get", "apigroups", request_of("GET", path)});
  if (!body && body.error().kind != base::ErrorKind::NotFound) return body.error();
  std::vector<std::string> served;
  if (body) {
    auto decoded = api::decode_group_versions(*body);
    if (!decoded) return base::invalid(base::cat("get ", path, ": ", decoded.error().message));
    served = std::move(*decoded);
  }
  const auto best = std::ranges::find_if(wanted, [&](const std::string& version) {
    return std::ranges::find(served, version) != served.end();
  });
  if (best != wanted.end()) return *best;
  return base::Error{base::ErrorKind::NotFound,
                     base::cat("the API server serves ", group, " in none of the versions ",
                               base::join(wanted, ", "), ": enable one of them",
                               // 404 is what any web server answers.
                               body ? "" : "; or is this another server than an API server?")};
}

std::string Client::version_of(const api::Kind& kind) const {
  const std::scoped_lock lock(mutex_);
  const auto it = versions_.find(kind.group);
  const bool is_spoken =
      it != versions_.end() && std::ranges::find(kind.versions, it->second) != kind.versions.end();
  return is_spoken ? it->second : std::string(kind.versions.front());
}

base::Result<bool> Client::serves(const api::Kind& kind) const {
  const auto body = send_list(kind, {.of = {}, .limit = 1, .continue_token = {}}, {}, nullptr);
  if (body) return true;
  if (body.error().kind == base::ErrorKind::NotFound) return false;
  return body.error();
}

base::Result<std::string> Client::collection_version(const api::Kind& kind,
                                                     const std::string& ns) const {
  const ListOptions options{.of = {ns, "", ""}, .limit = 1, .continue_token = {}};
  const auto body = send_list(kind, options, api::kMetadataList, nullptr);
  if (!body) return body.error();
  auto page = api::decode_metadata_page(*body);
  if (!page) return page.error();
  return std::move(page->resource_version);
}

base::Result<std::vector<api::ObjectMeta>> Client::list_metadata(const api::Kind& kind,
                                                                 const Selection& of,
                                                                 const TrimMeta& trim) const {
  std::vector<api::ObjectMeta> all;
  const auto fetch = [&](const ListOptions& options,
                         PageCursor& cursor) -> base::Result<api::Page<api::ObjectMeta>> {
    const auto body = send_list(kind, options, api::kMetadataList, &cursor);
    if (!body) return body.error();
    auto page = api::decode_metadata_page(*body);
    if (page) cursor.took(page->items.size() + page->unreadable.size(), body->size());
    return page;
  };
  const auto take = [&](api::Page<api::ObjectMeta>& page) {
    for (api::ObjectMeta& meta : page.items) {
      if (trim) trim(meta);
      all.push_back(std::move(meta));
    }
  };
  if (auto done = each_page(
          of, [&] { all.clear(); }, fetch, take);
      !done)
    return done.error();
  return all;
}

base::Result<api::Lease> Client::update(const api::Lease& lease) const {
  const auto body = send(update_call(api::kind_of<api::Lease>(), api::name_of(lease.meta), {},
                                     api::encode_lease_update(lease)));
  if (!body) return body.error();
  return api::decode<api::Lease>(*body);
}

base::Result<api::DynamicObject> Client::update(const api::DynamicObject& object,
                                                const api::Kind& kind,
                                                std::string_view subresource) const {
  const auto body = send(update_call(kind, api::name_of(object.meta), subresource, object.json));
  if (!body) return body.error();
  return api::decode<api::DynamicObject>(*body);
}

base::Result<std::string> Client::create_subresource(const api::Kind& kind,
                                                     const api::ObjectName& name,
                                                     std::string_view subresource,
                                                     std::string body) const {
  Target target(api::path_of(kind, version_of(kind), name.ns, name.name, subresource));
  target.with("fieldManager", field_manager_);
  return send({"create", kind.plural, request_of("POST", target.text(), kJson, std::move(body)),
               mistake_in(kind, name)});
}

base::Result<std::string> Client::read(const std::string& path) const {
  return send({"get", path, request_of("GET", path)});
}

base::Result<std::string> Client::send_list(const api::Kind& kind, ListOptions options,
                                            std::string_view accept, PageCursor* cursor) const {
  const bool is_whole = options.limit == 0;
  while (true) {
    if (cursor != nullptr && !is_whole) options.limit = cursor->limit();
    Call call = list_call(kind, options);
    if (!accept.empty()) call.request.headers["Accept"] = accept;
    call.request.most_bytes = is_whole ? kMostBytesOfAWholeList : PageCursor::kMostBytes;
    auto answer = exchange(call);
    if (!answer) return answer.error();
    if (!answer->is_too_long) return std::move(answer->body);
    if (cursor != nullptr && !is_whole && cursor->halve()) continue;
    const std::string in_ns =
        options.of.ns.empty() ? "" : base::cat(" of namespace ", options.of.ns);
    return too_long(call.verb, base::cat(kind.plural, in_ns),
                    options.limit == 1 && cursor != nullptr
                        ? base::cat("object ", cursor->position() + 1, " of the list")
                        : "the answer",
                    call.request.most_bytes);
  }
}

base::Result<std::string> Client::send(const Call& call) const {
  auto answer = exchange(call);
  if (!answer) return answer.error();
  if (answer->is_too_long) {
    return too_long(call.verb, std::string(call.resource), "the answer", call.request.most_bytes);
  }
  return std::move(answer->body);
}

// A server that starts, or whose definitions have just been applied, knows a kind's path a moment
// later; then its 404 has no name. Nobody may take that for the end of an object.
base::Error Client::error_of(const Call& call, const http::Response& response) {
  api::Status status = api::decode_status(response.status, response.body);
  if (!status.retry_after) status.retry_after = retry_after_of(response.headers);
  base::Error error = api::error_of(status);
  error.message = base::cat(call.verb, " ", call.resource, ": ", error.message);
  error.is_answer = true;
  if (error.kind == base::ErrorKind::NotFound && call.is_of_object && status.object.empty()) {
    error.kind = base::ErrorKind::Unavailable;
    error.message += base::cat("; the API server does not serve ", call.resource, " now");
  }
  return error;
}

base::Result<http::Response> Client::exchange(const Call& call) const {
  if (call.invalid) return *call.invalid;
  const base::Duration start = clock_.elapsed();
  auto response = transport_.send(call.request);
  const base::Duration took = clock_.elapsed() - start;
  if (!response) {
    count(call, std::string(base::name_of(response.error().kind)), took);
    return response.error();
  }
  count(call, std::to_string(response->status), took);
  if (response->status / 100 == 2) return response;
  return error_of(call, *response);
}

void Client::tell_of_json(const api::Kind& kind, const base::Error& error) {
  base::log_warning("cannot read a list in protobuf; asking for it in JSON",
                    {{"resource", std::string(kind.plural)}, {"error", base::to_string(error)}});
}

base::Result<std::unique_ptr<http::Stream>> Client::open(const Call& call) const {
  const base::Duration start = clock_.elapsed();
  auto opened = transport_.open(call.request);
  const base::Duration took = clock_.elapsed() - start;
  if (!opened) {
    count(call, std::string(base::name_of(opened.error().kind)), took);
    return opened.error();
  }
  count(call, std::to_string(opened->response.status), took);
  if (opened->stream) return std::move(opened->stream);
  return error_of(call, opened->response);
}

Client::Call Client::read_call(const api::Kind& kind, const api::ObjectName& name) const {
  return {"get", kind.plural,
          request_of("GET", api::path_of(kind, version_of(kind), name.ns, name.name)),
          mistake_in(kind, name), true};
}

Client::Call Client::list_call(const api::Kind& kind, const ListOptions& options) const {
  Target target(api::path_of(kind, version_of(kind), options.of.ns));
  target.with(options.of);
  if (options.limit > 0) target.with("limit", std::to_string(options.limit));
  target.with("continue", options.continue_token);
  return {"list", kind.plural, request_of("GET", target.text())};
}

Client::Call Client::watch_call(const api::Kind& kind, const WatchOptions& options) const {
  const auto seconds = std::chrono::ceil<std::chrono::seconds>(options.timeout).count();
  Target target(api::path_of(kind, version_of(kind), options.of.ns));
  target.with("watch", "true")
      .with("allowWatchBookmarks", "true")
      .with("timeoutSeconds", std::to_string(seconds))
      .with("resourceVersion", options.resource_version)
      .with(options.of);
  http::Request request = request_of("GET", target.text());
  request.rest = options.rest;
  return {"watch", kind.plural, std::move(request)};
}

Client::Call Client::create_call(const api::Kind& kind, const std::string& version,
                                 const std::string& ns, std::string body) const {
  Target target(api::path_of(kind, version, ns));
  target.with("fieldManager", field_manager_);
  return {"create", kind.plural, request_of("POST", target.text(), kJson, std::move(body))};
}

Client::Call Client::patch_call(const api::Kind& kind, const std::string& version,
                                const api::ObjectName& name, std::string_view subresource,
                                std::string body) const {
  Target target(api::path_of(kind, version, name.ns, name.name, subresource));
  target.with("fieldManager", field_manager_);
  return {"patch", kind.plural, request_of("PATCH", target.text(), kMergePatch, std::move(body)),
          mistake_in(kind, name), true};
}

Client::Call Client::update_call(const api::Kind& kind, const api::ObjectName& name,
                                 std::string_view subresource, std::string body) const {
  Target target(api::path_of(kind, version_of(kind), name.ns, name.name, subresource));
  target.with("fieldManager", field_manager_);
  return {"update", kind.plural, request_of("PUT", target.text(), kJson, std::move(body)),
          mistake_in(kind, name), true};
}

Client::Call Client::remove_call(const api::Kind& kind, const api::ObjectName& name,
                                 const api::Precondition& if_is, const api::Deletion& how) const {
  return {"delete", kind.plural,
          request_of("DELETE", api::path_of(kind, version_of(kind), name.ns, name.name), kJson,
                     api::delete_options(if_is, how)),
          mistake_in(kind, name), true};
}

void Client::count(const Call& call, const std::string& code, base::Duration took) const {
  if (metrics_ == nullptr) return;
  const std::string& method = call.request.method;
  metrics_
      ->counter("rest_client_requests_total", "Requests to the API server, by HTTP code or error.",
                {{"code", code}, {"method", method}, {"resource", std::string(call.resource)}})
      .add();
  metrics_
      ->histogram("rest_client_request_duration_seconds", "Time to the answer of the API server.",
                  {0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1, 3, 10}, {{"verb", method}})
      .observe(std::chrono::duration<double>(took).count());
}

}  // namespace cdom::kube
