// What a plain (unquoted) YAML scalar means, as Kubernetes' own tools resolve it: YAML 1.1 with the
// words and numbers of go-yaml v2, on which sigs.k8s.io/yaml and so kubectl stand.
#pragma once

#include <optional>
#include <string_view>

#include "json_text.h"

namespace cdom::api {

// `yes` is true, `010` is 8, `1_000` is 1000, `1e3` is 1000, `2026-01-02` is text. nullopt for what
// JSON cannot say (.inf, .nan).
std::optional<Json> resolve_plain_scalar(std::string_view text);

}  // namespace cdom::api
