// The three patch types that are no apply: JSON patch, merge patch and strategic merge patch.
//
// Each changes `document` in place; on an error the document is as it was. Pure functions.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "compute_domain/base/result.h"
#include "sandbox/patch/merge_rules.h"

namespace cdom::sandbox::patch {

// RFC 6902, but for a replacement of an absent member, which adds it, as kube-apiserver does. A
// failed test, a missing path or an operation that is none: ErrorKind::Invalid.
base::Result<void> apply_json_patch(nlohmann::json& document, const nlohmann::json& patch);

// RFC 7386: null removes, objects merge, everything else replaces.
void apply_merge_patch(nlohmann::json& document, const nlohmann::json& patch);

// As kubectl apply and patch use it on built-in kinds: merge keys, $patch (delete, replace, merge),
// $retainKeys, $setElementOrder/…, $deleteFromPrimitiveList/….
base::Result<void> apply_strategic_merge_patch(nlohmann::json& document,
                                               const nlohmann::json& patch,
                                               const MergeRules& rules);

}  // namespace cdom::sandbox::patch
