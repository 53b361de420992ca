// Informers: the kinds that the parts of the simulated cluster look at, each followed once.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "sandbox/cluster/json_informer.h"

namespace cdom::sandbox {

class Informers : public Part {
 public:
  Informers(const kube::Client& client, const base::Clock& clock, base::Random random,
            const std::vector<api::Kind>& kinds);

  // One event, page or connection of one informer, each in its turn.
  bool step() override;
  [[nodiscard]] std::optional<base::Duration> next_due() const override;
  [[nodiscard]] bool has_synced() const;

  // Throws std::logic_error for a kind that is not followed.
  [[nodiscard]] JsonInformer& of(const api::Kind& kind) const;
  [[nodiscard]] const std::vector<std::unique_ptr<JsonInformer>>& all() const { return informers_; }

 private:
  std::vector<std::unique_ptr<JsonInformer>> informers_;
  std::size_t turn_ = 0;
};

}  // namespace cdom::sandbox
