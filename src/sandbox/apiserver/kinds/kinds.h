// Kinds: which resources this API server knows, each in each of its versions.
//
// A Kind is one row: names, scope, subresources and the few rules in which Kubernetes' resources
// differ. Built-in rows are in builtin_kinds.cpp; a CustomResourceDefinition adds rows while the
// server runs. Rows are immutable and shared; the table belongs to ApiState and its mutex.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace cdom::sandbox::server {

struct CustomVersion;

struct Kind {
  std::string group;  // "" for the core group
  std::string version;
  std::string kind;
  std::string resource;  // plural, as in the path
  std::string singular;
  bool namespaced = true;
  std::vector<std::string> short_names = {};
  std::vector<std::string> categories = {};
  // "status", "log", "binding"…: what may follow the name in a path.
  std::vector<std::string> subresources = {};

  // Only POST, answered and not stored: reviews.
  bool is_review = false;
  // metadata.generation counts the changes of what the user asked for.
  bool has_generation = false;
  // PUT without a resource version overwrites; PUT of an absent object creates it.
  bool unconditional_update = true;
  bool create_on_update = false;

  // The versions of one resource share a bucket, in which objects have `storage_version`.
  std::string bucket = {};
  std::string storage_version = {};
  // Set for custom resources only.
  std::shared_ptr<const CustomVersion> custom = nullptr;

  [[nodiscard]] std::string list_kind() const { return kind + "List"; }
  // "v1", "resource.k8s.io/v1".
  [[nodiscard]] std::string api_version() const;
  // "pods", "resourceclaims.resource.k8s.io": as in messages.
  [[nodiscard]] std::string qualified_resource() const;
  [[nodiscard]] bool has_subresource(std::string_view subresource) const;
  [[nodiscard]] bool is_custom() const { return custom != nullptr; }
};

using KindRef = std::shared_ptr<const Kind>;

class Kinds {
 public:
  // With the built-in rows, less the versions named in `disabled` ("resource.k8s.io/v1").
  explicit Kinds(const std::vector<std::string>& disabled = {});

  [[nodiscard]] KindRef find(std::string_view group, std::string_view version,
                             std::string_view resource) const;
  // The row of that group and resource in the version in which it is stored.
  [[nodiscard]] KindRef stored(std::string_view group, std::string_view resource) const;
  [[nodiscard]] KindRef find_by_kind(std::string_view api_version, std::string_view kind) const;

  // The first row of a resource decides the order of versions in discovery.
  void add(Kind kind);
  // Forgets all versions of a resource.
  void remove(std::string_view group, std::string_view resource);
  // How often kinds have been removed. May be read without any lock.
  [[nodiscard]] std::uint64_t removals() const { return removals_; }

  // Rows in discovery's order: the core group, then built-in groups, then custom ones by name.
  [[nodiscard]] const std::vector<KindRef>& all() const { return rows_; }

 private:
  std::vector<KindRef> rows_;
  std::atomic<std::uint64_t> removals_ = 0;
};

std::vector<Kind> builtin_kinds();

}  // namespace cdom::sandbox::server
