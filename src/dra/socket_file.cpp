#include "dra/socket_file.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <utility>

#include "compute_domain/base/system_error.h"
#include "compute_domain/base/text.h"

namespace cdom::dra {

using base::cat;

base::Result<SocketFile> SocketFile::listen(const std::string& path) {
  SocketFile file(path);
  if (auto done = file.put_back(); !done) return done.error();
  return file;
}

SocketFile::~SocketFile() {
  if (socket_ && state() == State::Ours) unlink(path_.c_str());
}

base::Result<std::optional<base::Descriptor>> SocketFile::accept() {
  for (;;) {
    base::Descriptor accepted(
        accept4(socket_.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
    if (accepted) return std::optional(std::move(accepted));
    if (errno == EAGAIN) return std::optional<base::Descriptor>();
    if (errno != EINTR && errno != ECONNABORTED) {
      return base::system_error(cat("cannot accept a connection on ", path_));
    }
  }
}

SocketFile::State SocketFile::state() const {
  struct stat found {};
  if (lstat(path_.c_str(), &found) != 0) return State::Missing;
  return found.st_dev == device_ && found.st_ino == inode_ ? State::Ours : State::Anothers;
}

base::Result<void> SocketFile::put_back() {
  struct stat found {};
  if (lstat(path_.c_str(), &found) == 0 && !S_ISSOCK(found.st_mode)) {
    return base::invalid(cat("cannot listen on ", path_, ": it is not a socket; remove it"));
  }
  const auto slash = path_.rfind('/');
  const std::string folder = path_.substr(0, slash);
  const base::Descriptor at(open(folder.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (!at) {
    return base::system_error(
        cat("cannot listen on ", path_, " (is ", folder, " kubelet's own, mounted here?)"));
  }
  // Under a name that kubelet does not look at, until it accepts; and short, as the path is one of
  // a socket as well.
  const std::string draft = cat(".", base::hex64(base::fnv1a64(path_)), ".sock");
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::snprintf(address.sun_path, sizeof address.sun_path, "/proc/self/fd/%d/%s", at.get(),
                draft.c_str());
  base::Descriptor socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  unlinkat(at.get(), draft.c_str(), 0);
  // As many may wait as the kernel lets: where the queue is full, kubelet's connection is refused.
  if (!socket || bind(socket.get(), reinterpret_cast<sockaddr*>(&address), sizeof address) != 0 ||
      fchmodat(at.get(), draft.c_str(), 0600, 0) != 0 || ::listen(socket.get(), SOMAXCONN) != 0 ||
      fstatat(at.get(), draft.c_str(), &found, AT_SYMLINK_NOFOLLOW) != 0 ||
      renameat(at.get(), draft.c_str(), at.get(), path_.c_str() + slash + 1) != 0) {
    const base::Error error = base::system_error(cat("cannot listen on ", path_));
    unlinkat(at.get(), draft.c_str(), 0);
    return error;
  }
  socket_ = std::move(socket);
  device_ = found.st_dev;
  inode_ = found.st_ino;
  return {};
}

}  // namespace cdom::dra
