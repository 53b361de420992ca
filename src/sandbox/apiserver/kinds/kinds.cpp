#include "sandbox/apiserver/kinds/kinds.h"

#include <algorithm>

#include "compute_domain/base/text.h"

namespace cdom::sandbox::server {

std::string Kind::api_version() const {
  return group.empty() ? version : base::cat(group, "/", version);
}

std::string Kind::qualified_resource() const {
  return group.empty() ? resource : base::cat(resource, ".", group);
}

bool Kind::has_subresource(std::string_view subresource) const {
  return std::ranges::find(subresources, subresource) != subresources.end();
}

Kinds::Kinds(const std::vector<std::string>& disabled) {
  for (Kind& kind : builtin_kinds()) {
    if (std::ranges::find(disabled, kind.api_version()) == disabled.end()) add(std::move(kind));
  }
}

KindRef Kinds::find(std::string_view group, std::string_view version,
                    std::string_view resource) const {
  const auto found = std::ranges::find_if(rows_, [&](const KindRef& row) {
    return row->resource == resource && row->group == group && row->version == version;
  });
  return found == rows_.end() ? nullptr : *found;
}

KindRef Kinds::stored(std::string_view group, std::string_view resource) const {
  KindRef any;
  for (const KindRef& row : rows_) {
    if (row->resource != resource || row->group != group) continue;
    if (row->version == row->storage_version) return row;
    if (!any) any = row;
  }
  return any;
}

KindRef Kinds::find_by_kind(std::string_view api_version, std::string_view kind) const {
  const auto found = std::ranges::find_if(rows_, [&](const KindRef& row) {
    return row->kind == kind && row->api_version() == api_version;
  });
  return found == rows_.end() ? nullptr : *found;
}

void Kinds::add(Kind kind) {
  if (kind.storage_version.empty()) kind.storage_version = kind.version;
  if (kind.bucket.empty()) kind.bucket = kind.qualified_resource();
  // Rows of one group stay together; a new custom group goes to its place by name.
  auto at = std::ranges::find_if(rows_.rbegin(), rows_.rend(), [&](const KindRef& row) {
              return row->group == kind.group;
            }).base();
  if (at == rows_.begin() && kind.is_custom()) {
    at = std::ranges::find_if(
        rows_, [&](const KindRef& row) { return row->is_custom() && row->group > kind.group; });
  } else if (at == rows_.begin()) {
    at = rows_.end();
  }
  rows_.insert(at, std::make_shared<const Kind>(std::move(kind)));
}

void Kinds::remove(std::string_view group, std::string_view resource) {
  ++removals_;
  std::erase_if(
      rows_, [&](const KindRef& row) { return row->group == group && row->resource == resource; });
}

}  // namespace cdom::sandbox::server
