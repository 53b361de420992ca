#include "sandbox/apiserver/kinds/custom_version.h"

#include <nlohmann/json.hpp>

#include "compute_domain/base/text.h"
#include "sandbox/apiserver/rest/object_path.h"

namespace cdom::sandbox::server {

using base::cat;

namespace {

std::vector<std::string> texts_at(const json& object,
                                  std::initializer_list<std::string_view> path) {
  std::vector<std::string> out;
  const json& list = at_path(object, path);
  if (!list.is_array()) return out;
  for (const json& entry : list) {
    if (entry.is_string()) out.push_back(entry);
  }
  return out;
}

base::Error about(const std::string& version, const std::string& field, const base::Error& error) {
  return {.kind = base::ErrorKind::Invalid,
          .message = cat("version ", version, ", ", field, ": ", error.message)};
}

base::Result<std::vector<PrinterColumn>> columns_of(const json& version) {
  std::vector<PrinterColumn> out;
  const json& columns = at_path(version, {"additionalPrinterColumns"});
  if (!columns.is_array()) return out;
  for (const json& column : columns) {
    auto path = JsonPath::parse(text_at(column, {"jsonPath"}));
    if (!path) return path.error();
    out.push_back({.name = text_at(column, {"name"}),
                   .type = text_at(column, {"type"}),
                   .format = text_at(column, {"format"}),
                   .description = text_at(column, {"description"}),
                   .priority = column.value("priority", 0),
                   .path = std::move(path).value()});
  }
  return out;
}

std::vector<std::string> selectable_fields_of(const json& version) {
  std::vector<std::string> out;
  const json& fields = at_path(version, {"selectableFields"});
  if (!fields.is_array()) return out;
  for (const json& field : fields) {
    const std::string& path = text_at(field, {"jsonPath"});
    out.push_back(path.starts_with('.') ? path.substr(1) : path);
  }
  return out;
}

base::Result<std::shared_ptr<const CustomVersion>> read_version(const json& version) {
  const std::string& name = text_at(version, {"name"});
  auto out = std::make_shared<CustomVersion>();
  const json& source = at_path(version, {"schema", "openAPIV3Schema"});
  auto schema = schema::parse(source);
  if (!schema) return about(name, "schema.openAPIV3Schema", schema.error());
  out->schema = std::move(schema).value();
  out->merge_rules = patch::merge_rules_of(out->schema);
  out->source = std::make_shared<const json>(source);
  auto columns = columns_of(version);
  if (!columns) return about(name, "additionalPrinterColumns", columns.error());
  out->columns = std::move(columns).value();
  out->selectable_fields = selectable_fields_of(version);
  return std::shared_ptr<const CustomVersion>(std::move(out));
}

}  // namespace

base::Result<std::vector<Kind>> kinds_of_definition(const json& definition) {
  const json& spec = at_path(definition, {"spec"});
  std::vector<Kind> out;
  std::string storage_version;
  for (const json& version : at_path(spec, {"versions"})) {
    const std::string& name = text_at(version, {"name"});
    if (version.value("storage", false)) storage_version = name;
    auto custom = read_version(version);
    if (!custom) return custom.error();
    if (!version.value("served", false)) continue;
    Kind kind{.group = text_at(spec, {"group"}),
              .version = name,
              .kind = text_at(spec, {"names", "kind"}),
              .resource = text_at(spec, {"names", "plural"}),
              .singular = text_at(spec, {"names", "singular"}),
              .namespaced = text_at(spec, {"scope"}) == "Namespaced",
              .short_names = texts_at(spec, {"names", "shortNames"}),
              .categories = texts_at(spec, {"names", "categories"})};
    if (at_path(version, {"subresources", "status"}).is_object()) {
      kind.subresources.push_back("status");
    }
    kind.unconditional_update = false;
    kind.custom = std::move(custom).value();
    out.push_back(std::move(kind));
  }
  for (Kind& kind : out) kind.storage_version = storage_version;
  return out;
}

}  // namespace cdom::sandbox::server
