#include "compute_domain/base/file_lock.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>

#include <cerrno>

#include "compute_domain/base/system_error.h"
#include "compute_domain/base/text.h"

namespace cdom::base {

namespace {

bool is_still_at(const std::string& path, int fd) {
  struct stat opened {};
  struct stat there {};
  return fstat(fd, &opened) == 0 && stat(path.c_str(), &there) == 0 &&
         opened.st_dev == there.st_dev && opened.st_ino == there.st_ino;
}

}  // namespace

Result<FileLock> FileLock::try_acquire(const std::string& path) {
  constexpr int kMostRemovals = 10;
  for (int i = 0; i < kMostRemovals; ++i) {
    Descriptor file(open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
    // A lock needs no write: it works on a disk that takes none, too.
    if (!file && errno == EROFS) file = Descriptor(open(path.c_str(), O_RDONLY | O_CLOEXEC));
    if (!file) return system_error(cat("cannot open ", path));
    if (flock(file.get(), LOCK_EX | LOCK_NB) != 0) {
      if (errno != EWOULDBLOCK) return system_error(cat("cannot lock ", path));
      return Error{ErrorKind::Conflict, cat("another process holds ", path)};
    }
    // When the file was removed in between, this lock is on a file that no other process can open.
    if (is_still_at(path, file.get())) return FileLock(std::move(file));
  }
  return Error{ErrorKind::Unavailable,
               cat("cannot lock ", path, ": it is removed again and again")};
}

}  // namespace cdom::base
