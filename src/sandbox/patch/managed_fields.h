// ManagedFields: metadata.managedFields as values, who owns which fields of an object.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "sandbox/patch/field_set.h"
#include "sandbox/patch/server_side_apply.h"

namespace cdom::sandbox::patch {

enum class Operation { Apply, Update };

struct ManagedEntry {
  FieldManager manager;
  Operation operation = Operation::Update;
  FieldSet fields;

  // Two writes are of the same manager when name, operation and subresource are equal, and for
  // Update also the API version.
  [[nodiscard]] bool is_of(const FieldManager& other, Operation other_operation) const;
};

using ManagedFields = std::vector<ManagedEntry>;

ManagedFields managed_fields_of(const nlohmann::json& object);
// Replaces the object's; entries without fields are left out, and beyond ten Update entries the
// oldest become one named "ancient-changes".
void set_managed_fields(nlohmann::json& object, ManagedFields entries);

// `conflict with "b" with subresource "status" using v1`.
std::string conflict_with(const ManagedEntry& entry);

}  // namespace cdom::sandbox::patch
