// CheckpointStore: where the checkpoint's text lies. A port.
#pragma once

#include <optional>
#include <string>

#include "compute_domain/base/result.h"

namespace cdom::agent {

class CheckpointStore {
 public:
  virtual ~CheckpointStore() = default;
  // nullopt: there is none.
  virtual base::Result<std::optional<std::string>> load() = 0;
  // Atomic and durable: after a crash either the old text is there or the new one.
  virtual base::Result<void> save(const std::string& text) = 0;
  // Keeps a text that could not be read, beside the checkpoint, for people.
  virtual base::Result<void> set_aside(const std::string& text) = 0;
};

}  // namespace cdom::agent
