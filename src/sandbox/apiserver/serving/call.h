// Call: one request for a resource while it is being served.
#pragma once

#include <string>
#include <vector>

#include "sandbox/apiserver/kinds/kinds.h"
#include "sandbox/apiserver/serving/request_info.h"
#include "sandbox/apiserver/storage/api_state.h"

namespace cdom::sandbox::server {

// What happens to fields that the schema does not know.
enum class FieldValidation { Ignore, Warn, Strict };

struct Call {
  ApiState& state;
  const http::Request& request;
  const RequestInfo& info;
  const User& user;
  KindRef kind;

  bool dry_run = false;
  FieldValidation field_validation = FieldValidation::Warn;
  std::string field_manager = {};
  // Become `Warning` headers of the answer.
  std::vector<std::string> warnings = {};

  // The key of the named object in its bucket.
  [[nodiscard]] std::string key() const { return key_of(info.name); }
  [[nodiscard]] std::string key_of(const std::string& name) const {
    return kind->namespaced ? info.namespace_ + "/" + name : name;
  }
  // What the keys of all objects that the request is about begin with.
  [[nodiscard]] std::string prefix() const {
    return kind->namespaced && !info.namespace_.empty() ? info.namespace_ + "/" : "";
  }
};

}  // namespace cdom::sandbox::server
