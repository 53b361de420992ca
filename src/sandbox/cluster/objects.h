// What everybody reads off an object's JSON document, whatever its kind. Pure functions.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "compute_domain/api/core.h"
#include "compute_domain/api/meta.h"
#include "sandbox/cluster/kinds.h"
#include "sandbox/text/json.h"

namespace cdom::sandbox {

// Immutable, and shared by those who look at it.
using ObjectPtr = std::shared_ptr<const json>;

// What is at a path such as "/spec/containers/0/name" (without escapes); null or "" when absent.
const json& at(const json& object, std::string_view path);
std::string text_at(const json& object, std::string_view path);

api::ObjectName key_of(const json& object);
std::string uid_of(const json& object);
std::string annotation_of(const json& object, const std::string& name);
std::string label_of(const json& object, const std::string& name);
bool is_deleting(const json& object);
// What an Event about it names.
api::ObjectReference reference_to(const api::Kind& kind, const json& object);

}  // namespace cdom::sandbox
