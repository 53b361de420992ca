// MemoryCheckpointStore: a checkpoint in memory, for tests and for the sandbox. Outlives agents.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "compute_domain/agent/checkpoint_store.h"

namespace cdom::agent {

class MemoryCheckpointStore : public CheckpointStore {
 public:
  std::optional<std::string> text;
  std::vector<std::string> aside;
  std::optional<base::Error> error;  // of every call while it is set
  int saves = 0;

  base::Result<std::optional<std::string>> load() override {
    if (error) return *error;
    return text;
  }
  base::Result<void> save(const std::string& new_text) override {
    if (error) return *error;
    text = new_text;
    ++saves;
    return {};
  }
  base::Result<void> set_aside(const std::string& unreadable) override {
    if (error) return *error;
    aside.push_back(unreadable);
    return {};
  }
};

}  // namespace cdom::agent
