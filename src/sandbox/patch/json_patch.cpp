#include <nlohmann/json.hpp>

#include "compute_domain/base/text.h"
#include "sandbox/patch/patch.h"

namespace cdom::sandbox::patch {

namespace {

using nlohmann::json;

const json& operations_of(const json& patch) {
  static const json kNotAPatch = json::array({nullptr});
  return patch.is_array() ? patch : kNotAPatch;
}

// kube-apiserver takes the replacement of a member that is absent for its addition; RFC 6902, and
// nlohmann with it, refuses that.
json as_applied(json operation, const json& document) {
  if (!operation.is_object() || operation.value("op", "") != "replace") return operation;
  const json::json_pointer path(operation.value("path", ""));
  if (path.empty() || document.contains(path)) return operation;
  const json::json_pointer parent = path.parent_pointer();
  if (document.contains(parent) && document.at(parent).is_object()) operation["op"] = "add";
  return operation;
}

}  // namespace

base::Result<void> apply_json_patch(json& document, const json& patch) {
  constexpr std::size_t kMostOperations = 10'000;  // of kube-apiserver
  if (patch.is_array() && patch.size() > kMostOperations) {
    return base::Error{base::ErrorKind::Invalid,
                       base::cat("a JSON patch may have at most ", kMostOperations, " operations")};
  }
  try {
    json patched = document;
    for (const json& operation : operations_of(patch)) {
      patched.patch_inplace(json::array({as_applied(operation, patched)}));
    }
    document = std::move(patched);
    return {};
  } catch (const json::exception& error) {
    return base::Error{base::ErrorKind::Invalid,
                       base::cat("the JSON patch cannot be applied: ", error.what())};
  }
}

void apply_merge_patch(json& document, const json& patch) { document.merge_patch(patch); }

}  // namespace cdom::sandbox::patch
