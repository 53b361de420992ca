#include "json_text.h"

#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

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

// Opaque parameters as they stand in the text. An API server keeps them byte for byte
// (runtime.RawExtension), a field that comes twice included, and the library's document has each
// once: parameters with duplicates become a string, which is their text with the duplicates.
class Parameters {
 public:
  void see_key(int depth, const std::string& name) {
    if (name == "opaque") opaque_depth_ = depth;
    if (name == "parameters" && depth == opaque_depth_ + 1) {
      depth_ = depth;
      names_.clear();
      duplicates_.clear();
    } else if (depth == depth_ + 1 && !names_.insert(name).second) {
      duplicates_.push_back(name);
    }
  }
  void see_object_end(int depth, Json& object) {
    if (depth != depth_) return;
    depth_ = kNowhere;
    if (duplicates_.empty()) return;
    std::string text = text_of(object);
    text.pop_back();
    for (const std::string& name : duplicates_) {
      text += base::cat(',', text_of(Json(name)), ':', text_of(object[name]));
    }
    object = Json(text + '}');
  }

 private:
  static constexpr int kNowhere = -2;
  int opaque_depth_ = kNowhere, depth_ = kNowhere;
  std::set<std::string> names_;
  std::vector<std::string> duplicates_;
};

}  // namespace

base::Result<Json> parse_json(std::string_view text) {
  int metadata_depth = -1;
  Parameters parameters;
  const auto keep = [&](int depth, Json::parse_event_t event, Json& parsed) {
    if (depth > kMaxDepth) throw TooDeep{};
    if (event == Json::parse_event_t::object_end) parameters.see_object_end(depth, parsed);
    if (event != Json::parse_event_t::key) return true;
    const auto& name = parsed.get_ref<const std::string&>();
    parameters.see_key(depth, name);
    if (name == "metadata") metadata_depth = depth;
    return depth != metadata_depth + 1 || name != "managedFields";
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
