#include <nlohmann/json.hpp>

#include "compute_domain/base/text.h"
#include "sandbox/patch/patch.h"

namespace cdom::sandbox::patch {

using nlohmann::json;

base::Result<void> apply_json_patch(json& document, const json& patch) {
  constexpr std::size_t kMostOperations = 10'000;  // of kube-apiserver
  if (patch.is_array() && patch.size() > kMostOperations) {
    return base::Error{base::ErrorKind::Invalid,
                       base::cat("a JSON patch may have at most ", kMostOperations, " operations")};
  }
  try {
    document = document.patch(patch);
    return {};
  } catch (const json::exception& error) {
    return base::Error{base::ErrorKind::Invalid,
                       base::cat("the JSON patch cannot be applied: ", error.what())};
  }
}

void apply_merge_patch(json& document, const json& patch) { document.merge_patch(patch); }

}  // namespace cdom::sandbox::patch
