// DynamicObject: an object of a kind that is known only at run time, with all that it has.
//
// The other types of this module keep only the fields that this project reads, so they must not be
// written back as a whole. This one keeps the document, for callers that need more of an object, or
// a kind that has no type here. Its kind is a value that each call of kube::Client and
// kube::Informer gets. A value; compares equal by its document.
#pragma once

#include <string>
#include <string_view>

#include "compute_domain/api/kind.h"
#include "compute_domain/api/meta.h"
#include "compute_domain/base/result.h"

namespace cdom::api {

struct DynamicObject {
  ObjectMeta meta;
  std::string json;  // all of it as text, with apiVersion and kind

  friend bool operator==(const DynamicObject& a, const DynamicObject& b) {
    return a.json == b.json;
  }
};

// There is no such table: the kind has to be given.
template <>
const Kind& kind_of<DynamicObject>() = delete;

// What goes to the API server of an object of that kind: `json` need not have apiVersion and kind,
// which are those of `kind` in its first version. Invalid: it is no JSON object, or its metadata
// cannot be read.
base::Result<DynamicObject> dynamic_object(const Kind& kind, std::string_view json);

}  // namespace cdom::api
