// The field tables of a CustomResourceDefinition, of whose schema only the paths are kept.
#pragma once

#include "compute_domain/api/observed.h"
#include "core_fields.h"
#include "fields.h"
#include "meta_fields.h"

namespace cdom::api {

// An OpenAPI schema as the paths of its properties, sorted; what is in a list is behind "[]".
struct AsSchemaPaths {
  static void read(Decoding& decoding, const JsonView& json, std::vector<std::string>& out);
  static void write(Json& json, const std::vector<std::string>& paths);
};

template <>
inline constexpr auto kFields<DefinitionVersion> =
    std::tuple{field("name", &DefinitionVersion::name, Presence::Always),
               field("served", &DefinitionVersion::served, Presence::Always),
               field<AsSchemaPaths>("schema.openAPIV3Schema", &DefinitionVersion::fields)};

template <>
inline constexpr auto kFields<Definition> = std::tuple{
    field("metadata", &Definition::meta, Presence::Always),
    field("spec.versions", &Definition::versions),
    field<AsForeignStatus>("status.conditions[type=Established].status", &Definition::established)};

}  // namespace cdom::api
