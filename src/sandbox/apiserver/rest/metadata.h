// Metadata: what the API server itself does with object metadata, for every kind alike.
//
// Names and uids on create, what a client may not change on update, finalizers, labels and owner
// references (k8s.io/apiserver registry/rest, apimachinery api/validation).
#pragma once

#include <vector>

#include "sandbox/apiserver/serving/call.h"
#include "sandbox/apiserver/serving/status.h"
#include "sandbox/text/json.h"

namespace cdom::sandbox::server {

// Takes out what a client may not set and gives uid, creationTimestamp and generation. The name is
// not chosen here: see generate_name().
void prepare_created_metadata(Call& call, json& object);

// `prefix` (its first 58 characters) and five random letters that make no words.
std::string generate_name(base::Random& random, std::string_view prefix);

// Puts back what an update may not change: creationTimestamp, deletionTimestamp, generation…
void keep_server_metadata(const json& old_object, json& object);

// Refuses with 409 or 422 when the body's uid or resourceVersion is not that of `old_object`.
void check_update_preconditions(const Call& call, const json& old_object, const json& body);

// What is wrong with the metadata; `old_object` is null on create.
std::vector<Cause> metadata_causes(const Kind& kind, const json& object, const json* old_object);

// Removes repeated owner references, with a warning.
void drop_repeated_owners(Call& call, json& object);

}  // namespace cdom::sandbox::server
