#include "sandbox/cluster/resource.h"

#include "compute_domain/base/text.h"
#include "compute_domain/http/message.h"

namespace cdom::sandbox {

std::string to_string(const ObjectKey& key) {
  return key.ns.empty() ? key.name : base::cat(key.ns, "/", key.name);
}

std::string Resource::api_version() const {
  return group.empty() ? std::string(version) : base::cat(group, "/", version);
}

std::string Resource::collection(const std::string& ns) const {
  std::string path =
      group.empty() ? base::cat("/api/", version) : base::cat("/apis/", group, "/", version);
  if (!ns.empty()) path += base::cat("/namespaces/", http::percent_encoded(ns));
  return base::cat(path, "/", plural);
}

std::string Resource::path(const ObjectKey& key, std::string_view subresource) const {
  std::string path = base::cat(collection(key.ns), "/", http::percent_encoded(key.name));
  if (!subresource.empty()) path += base::cat("/", subresource);
  return path;
}

Resource Resource::in(std::string_view other_version) const {
  Resource other = *this;
  other.version = other_version;
  return other;
}

}  // namespace cdom::sandbox
