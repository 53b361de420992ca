// Mirrors: the resources that the parts of the simulated cluster look at, each mirrored once.
#pragma once

#include <map>
#include <memory>
#include <vector>

#include "sandbox/cluster/mirror.h"

namespace cdom::sandbox {

class Mirrors : public Part {
 public:
  Mirrors(http::Client& client, const base::Clock& clock, base::Random random,
          const std::vector<Resource>& resources);

  // One event, page or connection of one mirror, each in its turn.
  bool step() override;
  [[nodiscard]] std::optional<base::Duration> next_due() const override;
  [[nodiscard]] bool is_synced() const;

  // Throws std::logic_error for a resource that is not mirrored.
  [[nodiscard]] Mirror& of(const Resource& resource) const;
  // Null when it is not mirrored.
  [[nodiscard]] Mirror* find(const Resource& resource) const;
  [[nodiscard]] const std::vector<std::unique_ptr<Mirror>>& all() const { return mirrors_; }

 private:
  std::vector<std::unique_ptr<Mirror>> mirrors_;
  std::size_t turn_ = 0;
};

// OwnWrites: what a part has written and its mirror has not shown yet.
//
// A part that waits for all_seen() before it decides again never acts on a state from before its
// own last write: no second claim for one pod, no device given away twice.
class OwnWrites {
 public:
  explicit OwnWrites(const base::Clock& clock) : clock_(clock) {}

  // `written` is the API server's answer to a write.
  void note(const Mirror& mirror, const json& written);
  // A write that no mirror shows within 5 s counts as seen: it may have been undone.
  [[nodiscard]] bool all_seen();
  // When the oldest of them is given up.
  [[nodiscard]] std::optional<base::Duration> next_due() const;

 private:
  struct Write {
    const Mirror* mirror;
    std::uint64_t resource_version;
    base::Duration given_up_at;
  };
  const base::Clock& clock_;
  std::vector<Write> writes_;
};

}  // namespace cdom::sandbox
