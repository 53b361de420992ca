// metav1.Status in a document.
#pragma once

#include "compute_domain/api/codec.h"
#include "json_text.h"

namespace cdom::api {

// `code`: taken when the document has none.
Status status_in(const Json& json, int code);

}  // namespace cdom::api
