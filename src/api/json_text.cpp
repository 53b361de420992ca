#include "json_text.h"

#include <nlohmann/json.hpp>

#include "compute_domain/base/text.h"

namespace cdom::api {

namespace {

// Deeper than any Kubernetes object; Go's decoder stops at 10,000.
constexpr int kMaxDepth = 200;

struct TooDeep {};

// The library's "[json.exception.parse_error.101] parse error at line 1, column 2: …" without its
// own bookkeeping in front.
std::string_view without_exception_id(std::string_view what) {
  const auto end = what.find("] ");
  return end == std::string_view::npos ? what : what.substr(end + 2);
}

}  // namespace

base::Result<Json> parse_json(std::string_view text) {
  int metadata_depth = -1;
  const auto keep = [&](int depth, Json::parse_event_t event, const Json& parsed) {
    if (depth > kMaxDepth) throw TooDeep{};
    if (event != Json::parse_event_t::key) return true;
    if (parsed == "metadata") metadata_depth = depth;
    return depth != metadata_depth + 1 || parsed != "managedFields";
  };
  try {
    return Json::parse(text, keep);
  } catch (const Json::exception& e) {
    return base::Error{base::ErrorKind::Invalid,
                       base::cat("not JSON: ", without_exception_id(e.what()))};
  } catch (const TooDeep&) {
    return base::Error{base::ErrorKind::Invalid,
                       base::cat("JSON is nested more than ", kMaxDepth, " levels deep")};
  }
}

std::string text_of(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::string_view type_name_of(const Json& json) {
  switch (json.type()) {
    case Json::value_t::null:
      return "null";
    case Json::value_t::object:
      return "object";
    case Json::value_t::array:
      return "list";
    case Json::value_t::string:
      return "string";
    case Json::value_t::boolean:
      return "boolean";
    default:
      return "number";
  }
}

}  // namespace cdom::api
