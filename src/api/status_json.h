// metav1.Status in a document.
#pragma once

#include "api/json/json_text.h"
#include "compute_domain/api/codec.h"

namespace cdom::api {

// `code`: taken when the document has none.
Status status_in(const Json& json, int code);

}  // namespace cdom::api
