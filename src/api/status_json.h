// metav1.Status in a document of JSON or protobuf.
#pragma once

#include <cstdint>
#include <string>

#include "api/json/json_view.h"
#include "compute_domain/api/codec.h"

namespace cdom::api {

struct StatusFields {
  std::int64_t code = 0;
  std::string reason, message;
  std::int64_t retry_after_seconds = 0;
  std::string object;
};
// `code`: taken when the fields have none.
Status status_of(const StatusFields& fields, int code);

// `code`: taken when the document has none.
Status status_in(const JsonView& json, int code);

}  // namespace cdom::api
