// JSON text to and from the library's document, and the only way in. The text is read as Go reads
// it (json_scanner.h). The document is bounded in depth, so that code may recurse over it, and has
// no managedFields, which nobody here reads and which are a third of what an API server sends.
#pragma once

#include <functional>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

#include "compute_domain/base/result.h"

namespace cdom::api {

using Json = nlohmann::json;

// The part of a document that is read. A list stands for each of its elements.
struct Wanted {
  bool everything = false;  // also of members that are not named here
  bool as_text = false;     // unless null a string in its place, which is its text as it stands
  std::map<std::string, Wanted, std::less<>> members = {};  // of an object

  // What is read of a member; nullptr: nothing.
  [[nodiscard]] const Wanted* of(const std::string& name) const;
  // From now on both are read.
  void add(const Wanted& other);
};

// Invalid: names line, column and what is expected there, or says why a wanted value cannot be
// kept (its depth, for one). What is not `wanted`, nine tenths of a Node, is checked and left out,
// at the cost of its characters. When members share a name, the last one counts.
base::Result<Json> parse_json(std::string_view text, const Wanted& wanted = {.everything = true});

// Without spaces. Bytes that are no UTF-8 become U+FFFD.
std::string text_of(const Json& json);

}  // namespace cdom::api
