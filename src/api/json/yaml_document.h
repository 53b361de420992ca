// YAML text to JSON documents.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "compute_domain/base/result.h"
#include "json_text.h"

namespace cdom::api {

// Takes a document; "" or what is wrong with it.
using TakeDocument = std::function<std::string(Json&)>;

// Gives each document that holds something. Invalid: file, line and what is wrong. Aliases and
// merge keys are resolved; what they mean is bounded by the size of the text.
base::Result<void> read_yaml(std::string_view text, std::string_view file_name,
                             const TakeDocument& take);

// "pods.yaml:3: what". `line` counts from 1.
base::Error yaml_error(std::string_view file_name, int line, std::string_view what);

}  // namespace cdom::api
