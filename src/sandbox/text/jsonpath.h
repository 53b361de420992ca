// JsonPath: the part of Kubernetes' JSONPath that printer columns and selectable fields use.
//
// Members (.a, ['a']), indexes ([0], [-1]), every element ([*], .*), unions (['a.b','c'], each a
// path) and filters by one comparison ([?(@.type=="Ready")]) or existence. Anything else is refused
// by parse(). Immutable.
#pragma once

#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "compute_domain/base/result.h"

namespace cdom::sandbox {

class JsonPath {
 public:
  // With or without the braces of `kubectl -o jsonpath`: ".spec.x" and "{.spec.x}".
  static base::Result<JsonPath> parse(std::string_view text);

  // Pointers into `document`, in its order; empty when nothing is there.
  [[nodiscard]] std::vector<const nlohmann::json*> find(const nlohmann::json& document) const;

 private:
  struct Step;
  class Parser;

  // Adds to `out` what the step leads to from `value`.
  static void take(const Step& step, const nlohmann::json& value,
                   std::vector<const nlohmann::json*>& out);
  static bool passes(const Step& filter, const nlohmann::json& element);

  std::shared_ptr<const std::vector<Step>> steps_;
};

}  // namespace cdom::sandbox
