// JSON text to and from the library's document. The only way in: the text is read as Go reads it
// (json_scanner.h); what comes from here is bounded in depth, so that whoever walks it may recurse,
// and is without managedFields, which nobody here reads and which are a third of what an API server
// sends.
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
  bool everything = false;  // also of members that are not named here
  bool as_text = false;     // unless null a string in its place, which is its text as it stands
  std::map<std::string, Wanted, std::less<>> members = {};  // of an object

  // Of a member; nullptr: none of it.
  [[nodiscard]] const Wanted* of(const std::string& name) const;
  // Both of them.
  void add(const Wanted& other);
};

// Invalid: line, column and what is expected there; or what of a wanted value cannot be kept, as
// its depth. What is not `wanted` is checked and left out, at the cost of its characters; of a node
// that is nine tenths. Of members with one name the last counts.
base::Result<Json> parse_json(std::string_view text, const Wanted& wanted = {.everything = true});

// Without spaces. Bytes that are no UTF-8 become U+FFFD.
std::string text_of(const Json& json);

}  // namespace cdom::api
