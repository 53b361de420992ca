// CustomResourceDefinitions: how the table of kinds follows them.
//
// Unlike a real cluster, where a controller establishes a definition some milliseconds later, here
// the write that stores it also makes its resources servable; the conditions say so at once.
#pragma once

#include <vector>

#include "sandbox/apiserver/serving/call.h"
#include "sandbox/apiserver/serving/status.h"
#include "sandbox/text/json.h"

namespace cdom::sandbox::server {

// On a deleted definition for as long as it has objects.
inline constexpr const char* kDefinitionFinalizer = "customresourcecleanup.apiextensions.k8s.io";

bool is_definition(const Kind& kind);

// The defaults of spec.names and the status that a definition has once its names are accepted.
// `old_definition` is null on create.
void prepare_definition(const base::Clock& clock, const json* old_definition, json& definition);
// Everything that is wrong with it, a schema that this server does not understand included.
std::vector<Cause> definition_causes(const Kinds& kinds, const json& definition,
                                     const json* old_definition);

// Brings the rows of a stored definition into the table, or takes them out.
void install_definition(Kinds& kinds, const json& definition);
void uninstall_definition(Kinds& kinds, const json& definition);

}  // namespace cdom::sandbox::server
