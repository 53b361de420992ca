// FileCheckpointStore: the checkpoint as a file on the node's disk.
//
// Beside it lie "<path>.lock", which the holder of a Hold has locked, and "<path>.agent-<name>",
// which the agent of that name keeps locked for as long as it lives. One thread.
#pragma once

#include <optional>
#include <string>

#include "compute_domain/agent/checkpoint_store.h"
#include "compute_domain/base/file_lock.h"

namespace cdom::agent {

class FileCheckpointStore : public CheckpointStore {
 public:
  explicit FileCheckpointStore(std::string path) : path_(std::move(path)) {}
  // The agent that has entered leaves.
  ~FileCheckpointStore() override;
  FileCheckpointStore(const FileCheckpointStore&) = delete;
  FileCheckpointStore& operator=(const FileCheckpointStore&) = delete;

  base::Result<std::unique_ptr<Hold>> hold() override;
  // Clears away what agents have left that were killed.
  base::Result<void> enter(const std::string& agent) override;
  bool is_there(const std::string& agent) override;

  base::Result<std::optional<std::string>> load() override;
  base::Result<void> save(const std::string& text) override;
  // Removes also its locks and what was set aside, and its directory when nothing else is in it.
  base::Result<void> clear_away() override;
  // Keeps the text as "<path>.unreadable-N", N from 1 to 9; when all are taken, the last one is
  // replaced. A file that still has this text is moved, which needs no room on the disk.
  base::Result<std::string> set_aside(const std::string& text) override;

  [[nodiscard]] std::string lock_path() const { return path_ + ".lock"; }

 private:
  [[nodiscard]] std::string life_path(const std::string& agent) const;
  [[nodiscard]] std::string aside_path(int number) const;
  // Removes what those have left that were killed. Whether another one lives.
  bool clear_away_the_dead() const;

  const std::string path_;
  std::string agent_;                   // that has entered, or ""
  std::optional<base::FileLock> life_;  // its
};

}  // namespace cdom::agent
