// Decoding: where in a document the decoder stands, and the first thing that was wrong there.
//
// Readers go on after a failure; what they read then is thrown away. One decode, one thread.
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "compute_domain/base/result.h"

namespace cdom::api {

class Decoding {
 public:
  // A word that a later release may have added is a mistake here, as in what somebody is about to
  // apply.
  struct Strict {};
  Decoding() = default;
  explicit Decoding(Strict /*strict*/) : strict_(true) {}

  [[nodiscard]] bool is_strict() const { return strict_; }

  void enter(std::string_view name) { enter(Part{name, 0}); }
  void enter(std::size_t index) { enter(Part{{}, index}); }
  void leave(std::size_t steps = 1) { depth_ -= steps; }

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
  void enter(const Part& part) {
    if (depth_ < parts_.size()) parts_[depth_] = part;
    ++depth_;
  }

  // No table leads that deep; a message about a deeper place would name only its beginning.
  std::array<Part, 32> parts_;
  std::size_t depth_ = 0;
  bool strict_ = false;
  std::optional<std::string> problem_;
};

}  // namespace cdom::api
