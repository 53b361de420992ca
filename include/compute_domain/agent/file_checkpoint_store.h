// FileCheckpointStore: the checkpoint as a file on the node's disk.
//
// Two agents on a node, old and new during a rolling update, share the file: whoever steps holds
// base::FileLock on lock_path() and reads the file anew. One thread.
#pragma once

#include <string>

#include "compute_domain/agent/checkpoint_store.h"

namespace cdom::agent {

class FileCheckpointStore : public CheckpointStore {
 public:
  explicit FileCheckpointStore(std::string path) : path_(std::move(path)) {}

  base::Result<std::optional<std::string>> load() override;
  base::Result<void> save(const std::string& text) override;
  // As "<path>.unreadable-N", at most nine of them: the last is then replaced. When the file still
  // has this text it is moved, which needs no room on the disk.
  base::Result<void> set_aside(const std::string& text) override;

  [[nodiscard]] std::string lock_path() const { return path_ + ".lock"; }

 private:
  const std::string path_;
};

}  // namespace cdom::agent
