#include "sandbox/apiserver/printing/representation.h"

#include <nlohmann/json.hpp>

#include "compute_domain/base/text.h"
#include "sandbox/apiserver/kinds/versions.h"
#include "sandbox/apiserver/printing/table.h"

namespace cdom::sandbox::server {

using base::cat;

namespace {

json list_meta(const ListMeta& meta) {
  json out = {{"resourceVersion", std::to_string(meta.resource_version)}};
  if (!meta.continue_token.empty()) out["continue"] = meta.continue_token;
  if (meta.remaining) out["remainingItemCount"] = *meta.remaining;
  return out;
}

// Items of built-in lists lack kind and apiVersion, as Go's typed lists are written.
std::string without_type(const json& object) {
  json copy = object;
  copy.erase("apiVersion");
  copy.erase("kind");
  return copy.dump();
}

}  // namespace

Representation::Representation(KindRef kind, const http::Request& request, const RequestInfo& info,
                               const base::Clock& clock)
    : kind_(std::move(kind)),
      form_(wanted_form(request)),
      include_object_(info.option("includeObject")),
      clock_(clock),
      plain_(form_ == Form::Whole && is_stored_form(*kind_)) {}

std::string Representation::object(const StoredObject& object) const {
  if (plain_) return object.text();
  switch (form_) {
    case Form::Whole:
    case Form::PartialMetadataList:  // in a watch; kube-apiserver logs an error and sends it whole
      return from_storage(*kind_, object.value()).dump();
    case Form::Table:
      return table({&object}, {.resource_version = object.resource_version()});
    case Form::PartialMetadata:
      return partial_metadata(object);
  }
  return {};
}

std::string Representation::list(const std::vector<Object>& objects, const ListMeta& meta) const {
  if (form_ == Form::Table) {
    std::vector<const StoredObject*> rows;
    rows.reserve(objects.size());
    for (const Object& object : objects) rows.push_back(object.get());
    return table(rows, meta);
  }
  const bool metadata_only = form_ == Form::PartialMetadataList;
  const std::string api_version = metadata_only ? "meta.k8s.io/v1" : kind_->api_version();
  const std::string list_kind = metadata_only ? "PartialObjectMetadataList" : kind_->list_kind();

  // In Go a list of metadata that has nothing to hold is not made.
  const bool is_null = metadata_only && objects.empty();
  std::string out = cat("{\"apiVersion\":\"", api_version, "\",\"items\":", is_null ? "null" : "[");
  bool is_first = true;
  for (const Object& object : objects) {
    if (!is_first) out += ',';
    is_first = false;
    if (metadata_only) {
      out += partial_metadata(*object);
    } else if (kind_->is_custom()) {
      out += this->object(*object);
    } else if (plain_) {
      object->append_without_type(out);
    } else {
      out += without_type(from_storage(*kind_, object->value()));
    }
  }
  out += cat(is_null ? "" : "]", ",\"kind\":\"", list_kind,
             "\",\"metadata\":", list_meta(meta).dump(), "}");
  return out;
}

std::string Representation::bookmark(std::uint64_t resource_version,
                                     bool ends_initial_events) const {
  json metadata = {{"resourceVersion", std::to_string(resource_version)},
                   {"creationTimestamp", nullptr}};
  if (ends_initial_events) metadata["annotations"]["k8s.io/initial-events-end"] = "true";
  if (form_ == Form::Table) {
    return json{{"kind", "Table"},
                {"apiVersion", "meta.k8s.io/v1"},
                {"metadata", std::move(metadata)},
                {"columnDefinitions", nullptr},
                {"rows", json::array()}}
        .dump();
  }
  const bool metadata_only = form_ == Form::PartialMetadata;
  return json{{"kind", metadata_only ? "PartialObjectMetadata" : kind_->kind},
              {"apiVersion", metadata_only ? "meta.k8s.io/v1" : kind_->api_version()},
              {"metadata", std::move(metadata)}}
      .dump();
}

std::string Representation::table(const std::vector<const StoredObject*>& objects,
                                  const ListMeta& meta) const {
  json rows = json::array();
  for (const StoredObject* object : objects) {
    const json value = from_storage(*kind_, object->value());
    json row = {{"cells", table_cells(*kind_, value, clock_.now())}};
    if (include_object_ == "Object") {
      row["object"] = value;
    } else if (include_object_ != "None") {
      row["object"] = {{"kind", "PartialObjectMetadata"},
                       {"apiVersion", "meta.k8s.io/v1"},
                       {"metadata", value.at("metadata")}};
      row["object"]["metadata"].erase("managedFields");
    }
    rows.push_back(std::move(row));
  }
  return json{{"kind", "Table"},
              {"apiVersion", "meta.k8s.io/v1"},
              {"metadata", list_meta(meta)},
              {"columnDefinitions", table_columns(*kind_)},
              {"rows", std::move(rows)}}
      .dump();
}

std::string Representation::partial_metadata(const StoredObject& object) const {
  return json{{"kind", "PartialObjectMetadata"},
              {"apiVersion", "meta.k8s.io/v1"},
              {"metadata", object.value().at("metadata")}}
      .dump();
}

}  // namespace cdom::sandbox::server
