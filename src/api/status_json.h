// metav1.Status in a document.
#pragma once

#include "api/json/json_view.h"
#include "compute_domain/api/codec.h"

namespace cdom::api {

// `code`: taken when the document has none.
Status status_in(const JsonView& json, int code);

}  // namespace cdom::api
