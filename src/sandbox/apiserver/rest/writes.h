// Create, update and patch. Called with the state's mutex held; they throw StatusError.
//
// Each goes through the same steps: read the body, bring it into the stored version, put back what
// the client may not write, defaults, validation, admission, managedFields, and then the write,
// unless nothing has changed or it is a dry run.
#pragma once

#include "sandbox/apiserver/serving/call.h"
#include "sandbox/text/json.h"

namespace cdom::sandbox::server {

http::Response create_object(Call& call);
http::Response update_object(Call& call);
http::Response patch_object(Call& call);

// The last steps of every update: from what a client (or the server) wants `old_object` to become
// to what is stored. `next` is in the stored version.
Object finish_update(Call& call, const Object& old_object, json next);
// The last steps of a create, for objects made by the server itself too.
Object finish_create(Call& call, json object);

// 200 or 201 with the object as the request wants it, and the warnings of the call.
http::Response answer(const Call& call, int status, const StoredObject& object);

}  // namespace cdom::sandbox::server
