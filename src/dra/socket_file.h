// SocketFile: a unix socket that is listened on, and its file, which may vanish and be put back.
//
// The file appears when the socket already accepts: nobody who sees it is refused. It is for its
// owner only (0600), replaces what a crashed process has left, and goes with this object, unless it
// is another process's by then. One thread.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>

#include "compute_domain/base/descriptor.h"
#include "compute_domain/base/result.h"

namespace cdom::dra {

class SocketFile {
 public:
  enum class State { Ours, Missing, Anothers };

  // The folder must exist; `path` is one that socket_paths() gives.
  static base::Result<SocketFile> listen(const std::string& path);
  ~SocketFile();
  SocketFile(SocketFile&&) noexcept = default;
  SocketFile& operator=(SocketFile&&) = delete;

  [[nodiscard]] const std::string& path() const { return path_; }
  [[nodiscard]] int descriptor() const { return socket_.get(); }
  // A connection that has come; nullopt when there is none, and an error when none can be taken.
  base::Result<std::optional<base::Descriptor>> accept();

  [[nodiscard]] State state() const;
  // With a new socket: descriptor() changes. Connections that were accepted go on.
  base::Result<void> put_back();

 private:
  explicit SocketFile(std::string path) : path_(std::move(path)) {}

  std::string path_;
  base::Descriptor socket_;
  dev_t device_ = 0;
  ino_t inode_ = 0;
};

}  // namespace cdom::dra
