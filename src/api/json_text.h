// JSON text to and from the library's document. The only way in: what comes from here is bounded
// in depth, so that whoever walks it may recurse, and is without managedFields, which nobody here
// reads and which are a third of what an API server sends.
#pragma once

#include <functional>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

#include "compute_domain/base/result.h"

namespace cdom::api {

using Json = nlohmann::json;

// What of a document is read. A list stands for each of its elements.
struct Wanted {
  bool everything = false;
  std::map<std::string, Wanted, std::less<>> members;  // of an object; others are not wanted

  // Of a member; nullptr: none of it.
  [[nodiscard]] const Wanted* of(const std::string& name) const;
};

// Invalid: line, column and what the parser expected there. What is not `wanted` is checked and
// left out, at the cost of its characters; of a node that is nine tenths.
base::Result<Json> parse_json(std::string_view text, const Wanted& wanted = {.everything = true});

// Without spaces. Bytes that are no UTF-8 become U+FFFD.
std::string text_of(const Json& json);

// "string", "number", "list", …: as messages call the type of a value.
std::string_view type_name_of(const Json& json);

}  // namespace cdom::api
