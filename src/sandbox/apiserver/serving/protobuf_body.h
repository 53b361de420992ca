// The protobuf bodies that kubectl sends where it does not send JSON: create namespace, configmap,
// serviceaccount and token, auth can-i and whoami.
//
// Four bytes "k8s\0", then runtime.Unknown {1: {1: apiVersion, 2: kind}, 2: the object}
// (k8s.io/apimachinery, runtime/serializer/protobuf). Only the fields that kubectl sets are read.
#pragma once

#include <string_view>

#include "sandbox/text/json.h"

namespace cdom::sandbox::server {

// Throws StatusError 415 for other kinds, 400 for bytes that do not parse.
json read_protobuf_body(std::string_view body);

}  // namespace cdom::sandbox::server
