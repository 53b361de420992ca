// Decoding: where in a document the decoder stands, and the first thing that was wrong there.
//
// Readers go on after a failure; what they read then is thrown away. One decode, one thread.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "compute_domain/base/result.h"

namespace cdom::api {

class Decoding {
 public:
  void enter(std::string_view name) { parts_.push_back({name, 0}); }
  void enter(std::size_t index) { parts_.push_back({{}, index}); }
  void leave(std::size_t steps = 1) { parts_.resize(parts_.size() - steps); }

  // `problem` follows the path and a colon: "must be an integer, is string".
  void fail(std::string_view problem);

  [[nodiscard]] bool has_failed() const { return problem_.has_value(); }
  // Invalid, with the path: "spec.numNodes: must be an integer, is string".
  [[nodiscard]] base::Error error() const { return {base::ErrorKind::Invalid, *problem_}; }

 private:
  struct Part {
    std::string_view name;  // empty: an element of a list
    std::size_t index;
  };
  std::vector<Part> parts_;
  std::optional<std::string> problem_;
};

}  // namespace cdom::api
