// Client: the Kubernetes API in terms of typed objects, over an http::Client.
//
// One method per verb; each makes one request and never retries, as only the caller knows what a
// repeated write means (a create whose answer was lost comes back as AlreadyExists). Errors are
// those of api::error_of, with the server's Retry-After. Where T is api::DynamicObject, `kind` says
// of which kind. Thread-safe.
#pragma once

#include <algorithm>
#include <cstddef>
#include <functional>
#include <iterator>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "compute_domain/api/codec.h"
#include "compute_domain/api/kind.h"
#include "compute_domain/base/clock.h"
#include "compute_domain/base/metrics.h"
#include "compute_domain/base/result.h"
#include "compute_domain/http/client.h"
#include "compute_domain/kube/page_cursor.h"

namespace cdom::kube {

// Which objects of a kind; everything of it by default.
struct Selection {
  std::string ns;  // "" for all namespaces, and for cluster-scoped kinds
  std::string label_selector;
  std::string field_selector;
};

// How objects come.
enum class Encoding {
  Json,
  Protobuf,  // where server and kind have it; else JSON
};

struct ListOptions {
  Selection of;
  std::size_t limit = 0;  // 0: no limit
  std::string continue_token;
  Encoding encoding = Encoding::Json;
};

struct WatchOptions {
  Selection of;
  std::string resource_version;  // events after this one
  base::Duration timeout = std::chrono::minutes(5);
  Encoding encoding = Encoding::Json;
  base::Duration rest{};  // http::Request::rest
};

class Client {
 public:
  static constexpr std::size_t kPageSize = 500;

  // `field_manager` names the writer in managedFields. `metrics` may be null.
  Client(http::Client& transport, const base::Clock& clock, std::string field_manager,
         base::Registry* metrics = nullptr);

  // Asks which versions of each API group with several are served and settles on the first of
  // Kind::versions among them. NotFound when none is. Before that, version_of() is the first.
  base::Result<void> discover();
  // The same once more for the group of `kind`, whose collection the server answers with 404: it
  // may have been upgraded since. NotFound when no version is served; the old one stays then.
  base::Result<void> discover_again(const api::Kind& kind) const;
  [[nodiscard]] std::string version_of(const api::Kind& kind) const;
  // Whether the server has this kind (is the CRD there?). Forbidden when we may not list it.
  base::Result<bool> serves(const api::Kind& kind) const;

  // The version that the collection has now: of a list of one object's metadata, which is as new as
  // all that was answered before. `ns` is "" for all namespaces.
  base::Result<std::string> collection_version(const api::Kind& kind, const std::string& ns) const;

  template <class T>
  base::Result<T> get(const api::ObjectName& name, const api::Kind& kind = api::kind_of<T>()) const;
  // One page. Invalid when it is longer than an answer may be.
  template <class T>
  base::Result<api::Page<T>> list(const ListOptions& options) const;
  // The same, of as many objects as `cursor` says, and fewer where these are too long: Invalid only
  // when one object is. `options.limit` is not read, unless it is 0.
  template <class T>
  base::Result<api::Page<T>> list(const ListOptions& options, PageCursor& cursor,
                                  const api::Kind& kind = api::kind_of<T>()) const;
  // Every page, of at most kPageSize objects each; in one piece when a token expires between pages.
  // Invalid when an object cannot be decoded, as a list without it proves nothing; unless
  // `unreadable` takes those.
  template <class T>
  base::Result<std::vector<T>> list_all(const Selection& of = {},
                                        std::vector<api::Unreadable>* unreadable = nullptr,
                                        const api::Kind& kind = api::kind_of<T>()) const;
  // The same of what `keep` returns for each object, which it may take apart: as each page comes,
  // so that no more than one is held whole. It returns an optional; nullopt keeps nothing.
  template <class T, class Keep>
  auto list_kept(const Selection& of, const Keep& keep,
                 std::vector<api::Unreadable>* unreadable = nullptr,
                 const api::Kind& kind = api::kind_of<T>()) const
      -> base::Result<std::vector<typename std::invoke_result_t<Keep, T&>::value_type>>;
  // The same, of each object that can be read nothing but its metadata, without what `trim` takes
  // out of it; the right to list them whole is needed.
  using TrimMeta = std::function<void(api::ObjectMeta&)>;
  template <class T>
  base::Result<std::vector<api::ObjectMeta>> list_metadata(const Selection& of = {},
                                                           const TrimMeta& trim = {}) const;
  template <class T>
  base::Result<T> create(const T& object, const api::Kind& kind = api::kind_of<T>()) const;
  // `merge_patch` as api/codec.h builds them, with their preconditions inside; `version` where it
  // was built for one.
  template <class T>
  base::Result<T> patch(const api::ObjectName& name, std::string_view subresource,
                        const std::string& merge_patch, std::string_view version = {},
                        const api::Kind& kind = api::kind_of<T>()) const;
  // PUT; meta.resource_version is the precondition. For what has nothing that its type leaves out.
  base::Result<api::Lease> update(const api::Lease& lease) const;
  base::Result<api::DynamicObject> update(const api::DynamicObject& object, const api::Kind& kind,
                                          std::string_view subresource = {}) const;
  // Success means that the server accepted it: an object with finalizers is still there.
  template <class T>
  base::Result<void> remove(const api::ObjectName& name, const api::Precondition& if_is,
                            const api::Deletion& how = {},
                            const api::Kind& kind = api::kind_of<T>()) const;
  // The same; what finalizers still hold, as it is now, or nullopt: it is gone.
  template <class T>
  base::Result<std::optional<T>> begin_removal(const api::ObjectName& name,
                                               const api::Precondition& if_is) const;
  // Lines or messages for api::decode_watch_event, bookmarks among them.
  template <class T>
  base::Result<std::unique_ptr<http::Stream>> open_watch(
      const WatchOptions& options, const api::Kind& kind = api::kind_of<T>()) const;
  // POST of a document to a subresource that is not the object itself: a Binding, a TokenRequest.
  // The text of the answer.
  base::Result<std::string> create_subresource(const api::Kind& kind, const api::ObjectName& name,
                                               std::string_view subresource,
                                               std::string body) const;
  // GET of what is not an object, as discovery ("/apis/batch/v1"): the text of the answer.
  base::Result<std::string> read(const std::string& path) const;

 private:
  struct Call {
    std::string_view verb;  // as RBAC and metrics name it: "create"
    std::string_view resource;
    http::Request request;
    std::optional<base::Error> invalid = std::nullopt;  // it must not be sent
    bool is_of_object = false;                          // of a name, not of a collection
  };
  [[nodiscard]] base::Result<std::string> served_version(const api::Kind& kind) const;
  base::Result<std::string> send(const Call& call) const;
  static base::Error error_of(const Call& call, const http::Response& response);
  // The answer, of status 2xx.
  base::Result<http::Response> exchange(const Call& call) const;
  // The body of a page, of `cursor->limit()` objects at most if there is one.
  base::Result<std::string> send_list(const api::Kind& kind, ListOptions options,
                                      std::string_view accept, PageCursor* cursor) const;
  // A list that cannot be read is asked for again in JSON.
  static void tell_of_json(const api::Kind& kind, const base::Error& error);
  base::Result<std::unique_ptr<http::Stream>> open(const Call& call) const;
  // The media types that are asked for; "": JSON alone.
  template <class T>
  [[nodiscard]] std::string_view accepted(const api::Kind& kind, Encoding encoding) const {
    const bool is_asked_for = encoding == Encoding::Protobuf;
    return is_asked_for && api::reads_protobuf<T>(version_of(kind)) ? api::kProtobufOrJson
                                                                    : std::string_view();
  }
  base::Result<std::vector<api::ObjectMeta>> list_metadata(const api::Kind& kind,
                                                           const Selection& of,
                                                           const TrimMeta& trim) const;
  // start() before the first page; take() for each that fetch() gives.
  static base::Result<void> each_page(const Selection& of, const auto& start, const auto& fetch,
                                      const auto& take);

  [[nodiscard]] Call read_call(const api::Kind& kind, const api::ObjectName& name) const;
  [[nodiscard]] Call list_call(const api::Kind& kind, const ListOptions& options) const;
  [[nodiscard]] Call watch_call(const api::Kind& kind, const WatchOptions& options) const;
  // These in a version that their body is in too.
  [[nodiscard]] Call create_call(const api::Kind& kind, const std::string& version,
                                 const std::string& ns, std::string body) const;
  [[nodiscard]] Call patch_call(const api::Kind& kind, const std::string& version,
                                const api::ObjectName& name, std::string_view subresource,
                                std::string body) const;
  [[nodiscard]] Call update_call(const api::Kind& kind, const api::ObjectName& name,
                                 std::string_view subresource, std::string body) const;
  [[nodiscard]] Call remove_call(const api::Kind& kind, const api::ObjectName& name,
                                 const api::Precondition& if_is,
                                 const api::Deletion& how = {}) const;
  void count(const Call& call, const std::string& code, base::Duration took) const;

  http::Client& transport_;
  const base::Clock& clock_;
  const std::string field_manager_;
  base::Registry* const metrics_;
  mutable std::mutex mutex_;
  // Group to version, once discovered.
  mutable std::map<std::string, std::string, std::less<>> versions_;
};

// A list that takes longer than the server keeps its history is read once more, in one piece, as
// client-go's pager does.
base::Result<void> Client::each_page(const Selection& of, const auto& start, const auto& fetch,
                                     const auto& take) {
  ListOptions options{.of = of, .limit = kPageSize, .continue_token = {}};
  PageCursor cursor(kPageSize);
  start();
  do {
    auto page = fetch(options, cursor);
    const bool has_expired = !page && page.error().kind == base::ErrorKind::Expired;
    if (has_expired && !options.continue_token.empty()) {
      options.limit = 0;
      options.continue_token.clear();
      start();
      page = fetch(options, cursor);
    }
    if (!page) return page.error();
    take(*page);
    options.continue_token = std::move(page->continue_token);
  } while (!options.continue_token.empty());
  return {};
}

template <class T>
base::Result<T> Client::get(const api::ObjectName& name, const api::Kind& kind) const {
  const auto body = send(read_call(kind, name));
  if (!body) return body.error();
  return api::decode<T>(*body);
}

template <class T>
base::Result<api::Page<T>> Client::list(const ListOptions& options) const {
  const auto body = send_list(api::kind_of<T>(), options, {}, nullptr);
  if (!body) return body.error();
  return api::decode_page<T>(*body);
}

template <class T>
base::Result<api::Page<T>> Client::list(const ListOptions& options, PageCursor& cursor,
                                        const api::Kind& kind) const {
  const std::string_view accept = accepted<T>(kind, options.encoding);
  auto body = send_list(kind, options, accept, &cursor);
  if (!body) return body.error();
  auto page = api::decode_page<T>(*body);
  if (!page && !accept.empty()) {
    // The reader of JSON reads each object by itself, and says what is wrong with one.
    tell_of_json(kind, page.error());
    body = send_list(kind, options, {}, &cursor);
    if (!body) return body.error();
    page = api::decode_page<T>(*body);
  }
  if (page) cursor.took(page->items.size() + page->unreadable.size(), body->size());
  return page;
}

template <class T>
base::Result<std::vector<T>> Client::list_all(const Selection& of,
                                              std::vector<api::Unreadable>* unreadable,
                                              const api::Kind& kind) const {
  return list_kept<T>(
      of, [](T& object) { return std::optional<T>(std::move(object)); }, unreadable, kind);
}

template <class T, class Keep>
auto Client::list_kept(const Selection& of, const Keep& keep,
                       std::vector<api::Unreadable>* unreadable, const api::Kind& kind) const
    -> base::Result<std::vector<typename std::invoke_result_t<Keep, T&>::value_type>> {
  std::vector<typename std::invoke_result_t<Keep, T&>::value_type> all;
  std::vector<api::Unreadable> odd;
  const auto fetch = [&](const ListOptions& options, PageCursor& cursor) {
    return list<T>(options, cursor, kind);
  };
  const auto start = [&] {
    all.clear();
    odd.clear();
  };
  const auto take = [&](api::Page<T>& page) {
    for (T& object : page.items) {
      if (auto kept = keep(object)) all.push_back(*std::move(kept));
    }
    std::ranges::move(page.unreadable, std::back_inserter(odd));
  };
  if (auto done = each_page(of, start, fetch, take); !done) return done.error();
  if (unreadable == nullptr && !odd.empty()) return base::invalid(odd.front().problem);
  if (unreadable != nullptr) *unreadable = std::move(odd);
  return all;
}

template <class T>
base::Result<std::vector<api::ObjectMeta>> Client::list_metadata(const Selection& of,
                                                                 const TrimMeta& trim) const {
  return list_metadata(api::kind_of<T>(), of, trim);
}

template <class T>
base::Result<T> Client::create(const T& object, const api::Kind& kind) const {
  const std::string version = version_of(kind);
  const auto body =
      send(create_call(kind, version, object.meta.ns, api::encode<T>(object, version)));
  if (!body) return body.error();
  return api::decode<T>(*body);
}

template <class T>
base::Result<T> Client::patch(const api::ObjectName& name, std::string_view subresource,
                              const std::string& merge_patch, std::string_view version,
                              const api::Kind& kind) const {
  const auto body = send(patch_call(kind, version.empty() ? version_of(kind) : std::string(version),
                                    name, subresource, merge_patch));
  if (!body) return body.error();
  return api::decode<T>(*body);
}

template <class T>
base::Result<void> Client::remove(const api::ObjectName& name, const api::Precondition& if_is,
                                  const api::Deletion& how, const api::Kind& kind) const {
  const auto body = send(remove_call(kind, name, if_is, how));
  if (!body) return body.error();
  return {};
}

template <class T>
base::Result<std::optional<T>> Client::begin_removal(const api::ObjectName& name,
                                                     const api::Precondition& if_is) const {
  const auto body = send(remove_call(api::kind_of<T>(), name, if_is));
  if (!body) return body.error();
  // For most kinds the server answers with a Status when the object is gone.
  const auto type = api::type_meta_in(*body);
  if (!type) return type.error();
  if (type->kind != api::kind_of<T>().kind) return std::optional<T>();
  auto object = api::decode<T>(*body);
  if (!object) return object.error();
  return std::optional<T>(*std::move(object));
}

template <class T>
base::Result<std::unique_ptr<http::Stream>> Client::open_watch(const WatchOptions& options,
                                                               const api::Kind& kind) const {
  Call call = watch_call(kind, options);
  if (const auto accept = accepted<T>(kind, options.encoding); !accept.empty()) {
    call.request.headers["Accept"] = accept;
  }
  return open(call);
}

}  // namespace cdom::kube
