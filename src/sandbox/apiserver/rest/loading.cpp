// ApiServer::load(): objects of a YAML text, as `kubectl apply` by the administrator would bring
// them.
#include <nlohmann/json.hpp>

#include "compute_domain/api/codec.h"
#include "compute_domain/base/text.h"
#include "compute_domain/sandbox/api_server.h"
#include "sandbox/apiserver/rest/object_path.h"
#include "sandbox/apiserver/storage/api_state.h"

namespace cdom::sandbox {

using base::cat;
using namespace server;

namespace {

std::string collection_path(const Kind& kind, const json& object) {
  std::string path = kind.group.empty() ? cat("/api/", kind.version)
                                        : cat("/apis/", kind.group, "/", kind.version);
  if (kind.namespaced) {
    const std::string& named = namespace_of(object);
    path += cat("/namespaces/", named.empty() ? "default" : named);
  }
  return cat(path, "/", kind.resource);
}

}  // namespace

base::Result<void> ApiServer::load(std::string_view yaml) {
  const auto texts = api::objects_in_yaml(yaml, "manifest");
  if (!texts) return texts.error();
  for (const std::string& text : *texts) {
    json object = json::parse(text);
    const std::string what = cat(object.value("kind", ""), " ", name_of(object));
    KindRef kind;
    {
      const std::lock_guard lock(state_->mutex);
      kind = state_->kinds.find_by_kind(object.value("apiVersion", ""), object.value("kind", ""));
    }
    if (!kind) {
      return base::Error{
          .kind = base::ErrorKind::Invalid,
          .message = cat(what, ": this server knows no kind ", object.value("kind", ""), " in ",
                         object.value("apiVersion", ""))};
    }
    const std::string collection = collection_path(*kind, object);
    http::Request request{.method = "POST", .target = collection, .headers = {}, .body = text};
    http::Response response = handle(request, admin_user());
    if (response.status == 409) {
      const std::string target = cat(collection, "/", name_of(object));
      const http::Response there = handle({.target = target}, admin_user());
      object["metadata"]["resourceVersion"] =
          text_at(json::parse(there.body), {"metadata", "resourceVersion"});
      request = {.method = "PUT", .target = target, .headers = {}, .body = object.dump()};
      response = handle(request, admin_user());
    }
    if (response.status >= 300) {
      return base::Error{
          .kind = base::ErrorKind::Invalid,
          .message = cat(what, ": ", text_at(json::parse(response.body), {"message"}))};
    }
  }
  return {};
}

}  // namespace cdom::sandbox
