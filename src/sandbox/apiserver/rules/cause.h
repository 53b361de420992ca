// Cause: one thing that is wrong with an object, as it stands in a Status' details.causes.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace cdom::sandbox {

struct Cause {
  std::string reason;   // FieldValueInvalid, FieldValueRequired, FieldManagerConflict, …
  std::string message;  // without the field: "Invalid value: -1: must be …"
  std::string field;    // "spec.numNodes"; for an apply conflict ".spec.numNodes"

  friend bool operator==(const Cause&, const Cause&) = default;
};

// The message of a 422: `ComputeDomain.resource.nvidia.com "a" is invalid: spec.numNodes: Invalid
// value: …`; several causes stand in brackets, each text once.
std::string invalid_message(std::string_view kind, std::string_view group, std::string_view name,
                            const std::vector<Cause>& causes);

}  // namespace cdom::sandbox
