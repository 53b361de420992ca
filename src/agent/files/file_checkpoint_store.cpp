#include "compute_domain/agent/file_checkpoint_store.h"

#include <cstdio>
#include <filesystem>

#include "compute_domain/base/files.h"
#include "compute_domain/base/system_error.h"
#include "compute_domain/base/text.h"

namespace cdom::agent {

namespace fs = std::filesystem;
using base::cat;
using base::ErrorKind;
using base::Result;

namespace {

constexpr int kMostAside = 9;

class FileHold : public CheckpointStore::Hold {
 public:
  explicit FileHold(base::FileLock lock) : lock_(std::move(lock)) {}

 private:
  const base::FileLock lock_;
};

// Whether a living process has the lock; without the file nobody has.
bool is_held(const std::string& path) {
  if (!fs::exists(path)) return false;
  const auto lock = base::FileLock::try_acquire(path);
  return !lock && lock.error().kind == ErrorKind::Conflict;
}

}  // namespace

FileCheckpointStore::~FileCheckpointStore() {
  if (life_) std::remove(life_path(agent_).c_str());
}

std::string FileCheckpointStore::life_path(const std::string& agent) const {
  return cat(path_, ".agent-", agent);
}

std::string FileCheckpointStore::aside_path(int number) const {
  return cat(path_, ".unreadable-", number);
}

Result<std::unique_ptr<CheckpointStore::Hold>> FileCheckpointStore::hold() {
  auto lock = base::FileLock::try_acquire(lock_path());
  if (!lock && lock.error().kind != ErrorKind::Conflict) {
    if (auto made = base::make_directories(fs::path(path_).parent_path()); !made) {
      return made.error();
    }
    lock = base::FileLock::try_acquire(lock_path());
  }
  if (!lock) return lock.error();
  return std::unique_ptr<Hold>(std::make_unique<FileHold>(*std::move(lock)));
}

Result<void> FileCheckpointStore::enter(const std::string& agent) {
  if (life_) {
    std::remove(life_path(agent_).c_str());
    life_.reset();
  }
  clear_away_the_dead();
  auto life = base::FileLock::try_acquire(life_path(agent));
  if (!life) return life.error();
  life_.emplace(*std::move(life));
  agent_ = agent;
  return {};
}

bool FileCheckpointStore::is_there(const std::string& agent) {
  return agent == agent_ || is_held(life_path(agent));
}

bool FileCheckpointStore::clear_away_the_dead() const {
  const std::string prefix = life_path("");
  const std::string own = life_ ? life_path(agent_) : "";
  bool is_another_there = false;
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(fs::path(path_).parent_path(), ignored)) {
    const std::string path = entry.path();
    if (!path.starts_with(prefix) || path == own) continue;
    if (is_held(path)) {
      is_another_there = true;
    } else {
      std::remove(path.c_str());
    }
  }
  return is_another_there;
}

Result<std::optional<std::string>> FileCheckpointStore::load() {
  auto text = base::read_file(path_);
  if (text) return std::optional(*std::move(text));
  if (text.error().kind == ErrorKind::NotFound) return std::optional<std::string>();
  return text.error();
}

// Not synced to the disk, which may take as long as kubelet's call: what a loss of power takes is
// of a boot that has ended.
Result<void> FileCheckpointStore::save(const std::string& text) {
  return base::replace_file(path_, text);
}

// An agent that comes in between finds no lock, and makes folder and lock again (hold).
Result<void> FileCheckpointStore::clear_away() {
  if (clear_away_the_dead()) {
    return base::Error{ErrorKind::Conflict, "another agent of this node is there"};
  }
  if (life_) {
    std::remove(life_path(agent_).c_str());
    life_.reset();
  }
  std::vector<std::string> paths{path_};
  for (int i = 1; i <= kMostAside; ++i) paths.push_back(aside_path(i));
  paths.push_back(lock_path());
  for (const std::string& path : paths) {
    if (auto done = base::remove_file(path); !done) return done;
  }
  std::error_code not_empty;
  fs::remove(fs::path(path_).parent_path(), not_empty);
  return {};
}

Result<std::string> FileCheckpointStore::set_aside(const std::string& text) {
  std::string aside;
  for (int i = 1; i <= kMostAside; ++i) {
    aside = aside_path(i);
    const auto there = base::read_file(aside);
    if (!there || *there == text) break;
  }
  const auto now = base::read_file(path_);
  if (now && *now == text) {
    if (std::rename(path_.c_str(), aside.c_str()) != 0) {
      return base::system_error(cat("cannot move ", path_, " to ", aside));
    }
  } else if (auto kept = base::replace_file_durably(aside, text); !kept) {
    return kept.error();
  }
  return aside;
}

}  // namespace cdom::agent
