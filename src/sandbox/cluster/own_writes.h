// OwnWrites: what a part has written and its informers have not shown yet.
//
// A part that waits for all_seen() before it decides again never acts on a state from before its
// own last write: no second claim for one pod, no device given away twice. One thread.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "compute_domain/base/clock.h"
#include "sandbox/cluster/json_informer.h"

namespace cdom::sandbox {

class OwnWrites {
 public:
  explicit OwnWrites(const base::Clock& clock) : clock_(clock) {}

  // `written` is the API server's answer to a write.
  void note(const JsonInformer& informer, const json& written);
  // A write that no informer shows within 5 s counts as seen: it may have been undone.
  [[nodiscard]] bool all_seen();
  // When the oldest of them is given up.
  [[nodiscard]] std::optional<base::Duration> next_due() const;

 private:
  struct Write {
    const JsonInformer* informer;
    std::uint64_t resource_version;
    base::Duration given_up_at;
  };
  const base::Clock& clock_;
  std::vector<Write> writes_;
};

}  // namespace cdom::sandbox
