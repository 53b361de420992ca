// ApiServer::load() and apply(): objects of a YAML text, as the administrator would bring them.
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

// One object, and where it belongs.
struct Document {
  std::string text;
  json object;
  std::string collection;

  [[nodiscard]] std::string path() const { return cat(collection, "/", name_of(object)); }
};

base::Error refused(const json& object, const std::string& why) {
  return {.kind = base::ErrorKind::Invalid,
          .message = cat(object.value("kind", ""), " ", name_of(object), ": ", why)};
}

base::Result<Document> document_of(ApiState& state, const std::string& text) {
  json object = json::parse(text);
  const std::string version = object.value("apiVersion", ""), name = object.value("kind", "");
  KindRef kind;
  {
    const std::lock_guard lock(state.mutex);
    kind = state.kinds.find_by_kind(version, name);
  }
  if (!kind) return refused(object, cat("this server knows no kind ", name, " in ", version));
  std::string collection = collection_path(*kind, object);
  return Document{text, std::move(object), std::move(collection)};
}

base::Result<void> answer_of(const http::Response& response, const json& object) {
  if (response.status < 300) return {};
  return refused(object, text_at(json::parse(response.body), {"message"}));
}

}  // namespace

base::Result<void> ApiServer::load(std::string_view yaml) {
  const auto texts = api::objects_in_yaml(yaml, "manifest");
  if (!texts) return texts.error();
  for (const std::string& text : *texts) {
    auto document = document_of(*state_, text);
    if (!document) return document.error();
    json& object = document->object;
    http::Response response =
        handle({.method = "POST", .target = document->collection, .headers = {}, .body = text},
               admin_user());
    if (response.status == 409) {
      const http::Response there = handle({.target = document->path()}, admin_user());
      object["metadata"]["resourceVersion"] =
          text_at(json::parse(there.body), {"metadata", "resourceVersion"});
      response = handle(
          {.method = "PUT", .target = document->path(), .headers = {}, .body = object.dump()},
          admin_user());
    }
    if (auto loaded = answer_of(response, object); !loaded) return loaded;
  }
  return {};
}

base::Result<void> ApiServer::apply(std::string_view yaml) {
  const auto texts = api::objects_in_yaml(yaml, "manifest");
  if (!texts) return texts.error();
  for (const std::string& text : *texts) {
    auto document = document_of(*state_, text);
    if (!document) return document.error();
    const http::Response response =
        handle({.method = "PATCH",
                .target = cat(document->path(), "?fieldManager=kubectl&force=true"),
                .headers = {{"Content-Type", "application/apply-patch+yaml"}},
                .body = text},
               admin_user());
    if (auto applied = answer_of(response, document->object); !applied) return applied;
  }
  return {};
}

}  // namespace cdom::sandbox
