// MemoryCheckpointStore: a checkpoint in memory, for tests and for the sandbox. Outlives agents.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "compute_domain/agent/checkpoint_store.h"

namespace cdom::agent {

class MemoryCheckpointStore : public CheckpointStore {
 public:
  std::optional<std::string> text;
  std::vector<std::string> aside;
  std::optional<base::Error> error;  // of every write while it is set
  int saves = 0, holds = 0;
  bool is_held = false;               // by another process
  bool is_shared = false;             // with an agent of another process
  std::set<std::string> ended;        // agents that have
  std::function<void()> before_hold;  // once: what happens before the next hold is given

  base::Result<std::unique_ptr<Hold>> hold() override {
    if (before_hold) std::exchange(before_hold, {})();
    if (is_held) return base::Error{base::ErrorKind::Conflict, "held"};
    ++holds;
    return std::make_unique<Hold>();
  }
  bool is_there(const std::string& agent) override { return !ended.contains(agent); }
  base::Result<std::optional<std::string>> load() override { return text; }
  base::Result<void> save(const std::string& new_text) override {
    if (error) return *error;
    text = new_text;
    ++saves;
    return {};
  }
  base::Result<void> clear_away() override {
    if (is_shared) return base::Error{base::ErrorKind::Conflict, "shared"};
    text.reset();
    return {};
  }
  base::Result<std::string> set_aside(const std::string& unreadable) override {
    if (error) return *error;
    aside.push_back(unreadable);
    return std::string("aside");
  }
};

}  // namespace cdom::agent
