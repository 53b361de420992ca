// Selection: which objects a list or watch is about: labelSelector, fieldSelector, and the name in
// the path.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "sandbox/apiserver/kinds/kinds.h"
#include "sandbox/apiserver/serving/request_info.h"
#include "sandbox/text/json.h"

namespace cdom::sandbox::server {

class Selection {
 public:
  // Throws StatusError (400) for a selector that does not parse or a field that the kind does not
  // know.
  Selection(const Kind& kind, const RequestInfo& info);
  ~Selection();
  Selection(Selection&&) noexcept;

  [[nodiscard]] bool is_everything() const;
  // `object` as it is stored.
  [[nodiscard]] bool matches(const json& object) const;

 private:
  struct Parts;
  std::unique_ptr<const Parts> parts_;
};

}  // namespace cdom::sandbox::server
