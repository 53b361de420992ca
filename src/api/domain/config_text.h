// What the kinds of our opaque configuration have in common: their version, and how strictly they
// are read.
#pragma once

#include <string>
#include <string_view>

#include "api/fields/fields.h"
#include "api/json/strict.h"
#include "compute_domain/api/kind.h"
#include "compute_domain/base/text.h"

namespace cdom::api {

inline std::string config_api_version() {
  return api_version_of(kind_of<ComputeDomain>(), "v1beta1");
}

// A T has members `api_version` and `kind`, which are to say that it is of `kind`.
template <HasFields T>
base::Result<T> decode_config(const std::string& parameters, std::string_view kind) {
  auto text = decode_fields<T>(parameters, Decoding(Decoding::Strict()));
  if (!text) return text;
  if (text->api_version != config_api_version() || text->kind != kind) {
    return base::invalid(base::cat("no kind \"", text->kind, "\" is registered for version \"",
                                   text->api_version, "\": must be ", kind, " of ",
                                   config_api_version()));
  }
  if (auto problem = strict_problem(parameters, field_names<T>()); !problem.empty()) {
    return base::invalid(problem);
  }
  return text;
}

}  // namespace cdom::api
