#include "sandbox/cluster/json_client.h"

#include <nlohmann/json.hpp>
#include <utility>

#include "compute_domain/base/text.h"

namespace cdom::sandbox {
namespace {

using api::DynamicObject;

// Without the request, which the client puts first: "create pods: ".
base::Error in_its_words(base::Error error, std::string_view verb, std::string_view plural) {
  const std::string request = base::cat(verb, " ", plural, ": ");
  if (error.message.starts_with(request)) error.message.erase(0, request.size());
  return error;
}

base::Result<json> document_of(const base::Result<DynamicObject>& answer, std::string_view verb,
                               const api::Kind& kind) {
  if (!answer) return in_its_words(answer.error(), verb, kind.plural);
  return json::parse(answer->json, nullptr, false);
}

base::Result<json> document_of(const base::Result<std::string>& answer, std::string_view verb,
                               std::string_view resource) {
  if (!answer) return in_its_words(answer.error(), verb, resource);
  json document = json::parse(*answer, nullptr, false);
  if (document.is_discarded()) {
    return base::Error{base::ErrorKind::Unavailable, "the answer is not JSON"};
  }
  return document;
}

}  // namespace

base::Result<json> JsonClient::get(const api::Kind& kind, const api::ObjectName& name) {
  return document_of(client_.get<DynamicObject>(name, kind), "get", kind);
}

base::Result<std::vector<json>> JsonClient::list(const api::Kind& kind, const kube::Selection& of) {
  const auto keep = [](DynamicObject& object) {
    return std::optional(json::parse(object.json, nullptr, false));
  };
  auto all = client_.list_kept<DynamicObject>(of, keep, nullptr, kind);
  if (!all) return in_its_words(all.error(), "list", kind.plural);
  return all;
}

base::Result<json> JsonClient::create(const api::Kind& kind, const json& object) {
  const auto whole = api::dynamic_object(kind, object.dump());
  if (!whole) return whole.error();
  return document_of(client_.create(*whole, kind), "create", kind);
}

base::Result<json> JsonClient::update(const api::Kind& kind, const json& object,
                                      std::string_view subresource) {
  const auto whole = api::dynamic_object(kind, object.dump());
  if (!whole) return whole.error();
  return document_of(client_.update(*whole, kind, subresource), "update", kind);
}

base::Result<json> JsonClient::merge_patch(const api::Kind& kind, const api::ObjectName& name,
                                           const json& patch, std::string_view subresource) {
  return document_of(client_.patch<DynamicObject>(name, subresource, patch.dump(), {}, kind),
                     "patch", kind);
}

base::Result<void> JsonClient::remove(const api::Kind& kind, const api::ObjectName& name,
                                      const api::Precondition& if_is, const api::Deletion& how) {
  const auto gone = client_.remove<DynamicObject>(name, if_is, how, kind);
  if (!gone) return in_its_words(gone.error(), "delete", kind.plural);
  return {};
}

base::Result<json> JsonClient::create_subresource(const api::Kind& kind,
                                                  const api::ObjectName& name,
                                                  std::string_view subresource, const json& body) {
  return document_of(client_.create_subresource(kind, name, subresource, body.dump()), "create",
                     kind.plural);
}

base::Result<json> JsonClient::read(const std::string& path) {
  return document_of(client_.read(path), "get", path);
}

}  // namespace cdom::sandbox
