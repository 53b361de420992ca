// JsonClient: a kube::Client of whole objects, for whoever looks into their JSON documents.
//
// Each call but list() is one request. Errors carry the API server's own words, as Events quote
// them, and the kind that says what the caller can do. As thread-safe as the client.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "compute_domain/api/codec.h"
#include "compute_domain/base/result.h"
#include "compute_domain/kube/client.h"
#include "sandbox/cluster/kinds.h"
#include "sandbox/text/json.h"

namespace cdom::sandbox {

class JsonClient {
 public:
  explicit JsonClient(const kube::Client& client) : client_(client) {}

  base::Result<json> get(const api::Kind& kind, const api::ObjectName& name);
  // All of them, page by page.
  base::Result<std::vector<json>> list(const api::Kind& kind, const kube::Selection& of = {});
  // The namespace is the object's own.
  base::Result<json> create(const api::Kind& kind, const json& object);
  // With the object's own resource version as precondition.
  base::Result<json> update(const api::Kind& kind, const json& object,
                            std::string_view subresource = {});
  base::Result<json> merge_patch(const api::Kind& kind, const api::ObjectName& name,
                                 const json& patch, std::string_view subresource = {});
  base::Result<void> remove(const api::Kind& kind, const api::ObjectName& name,
                            const api::Precondition& if_is = {}, const api::Deletion& how = {});
  // POST to a subresource that is not the object itself.
  base::Result<json> create_subresource(const api::Kind& kind, const api::ObjectName& name,
                                        std::string_view subresource, const json& body);
  // What is at that path, an object or not.
  base::Result<json> read(const std::string& path);

 private:
  const kube::Client& client_;
};

}  // namespace cdom::sandbox
