// Objects: reads and writes JSON objects through an http::Client.
//
// Each call is one request. Errors carry the API server's own words and the kind that says what the
// caller can do. As thread-safe as the client.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "compute_domain/base/result.h"
#include "compute_domain/http/client.h"
#include "sandbox/cluster/resource.h"
#include "sandbox/text/json.h"

namespace cdom::sandbox {

struct DeleteWish {
  std::string uid;                            // "": whatever object has the name
  std::optional<int> grace_period_seconds{};  // of pods
  std::string propagation = "Background";
  std::string resource_version{};  // "": in whatever state it is
};

class Objects {
 public:
  explicit Objects(http::Client& client) : client_(client) {}

  base::Result<json> get(const Resource& resource, const ObjectKey& key);
  // What is at that path, an object or not.
  base::Result<json> read(const std::string& path);
  // All of them, page by page; ns "" for every namespace. `query` is more of the query string, such
  // as a selector.
  base::Result<std::vector<json>> list(const Resource& resource, const std::string& ns = {},
                                       std::string_view query = {});
  // Fills in apiVersion and kind. The namespace is the object's own.
  base::Result<json> create(const Resource& resource, json object);
  // With the object's own resource version as precondition.
  base::Result<json> update(const Resource& resource, const json& object,
                            std::string_view subresource = {});
  base::Result<json> merge_patch(const Resource& resource, const ObjectKey& key, const json& patch,
                                 std::string_view subresource = {});
  base::Result<json> post(const std::string& path, const json& body);
  base::Result<void> remove(const Resource& resource, const ObjectKey& key,
                            const DeleteWish& wish = {});

 private:
  base::Result<json> exchange(std::string_view method, std::string target, std::string body,
                              std::string_view content_type = "application/json");
  http::Client& client_;
};

// What an answer other than success means.
base::Error error_of(const http::Response& response);

// Parts of an object that everybody reads; "" or a null object when absent.
ObjectKey key_of(const json& object);
std::string uid_of(const json& object);
std::string text_at(const json& object, std::string_view pointer);
const json& at(const json& object, std::string_view pointer);
std::string annotation_of(const json& object, const std::string& name);
std::string label_of(const json& object, const std::string& name);
bool is_deleting(const json& object);

}  // namespace cdom::sandbox
