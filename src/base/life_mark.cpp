#include "compute_domain/base/life_mark.h"

#include <fcntl.h>

#include "compute_domain/base/system_error.h"
#include "compute_domain/base/text.h"

namespace cdom::base {

namespace {

struct flock whole_file(short type) {
  struct flock lock {};
  lock.l_type = type;
  lock.l_whence = SEEK_SET;
  return lock;
}

}  // namespace

Result<LifeMark> LifeMark::hold(const std::string& path) {
  Descriptor file(open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
  if (!file) return system_error(cat("cannot open ", path));
  struct flock lock = whole_file(F_RDLCK);
  if (fcntl(file.get(), F_OFD_SETLK, &lock) != 0) return system_error(cat("cannot lock ", path));
  return LifeMark(std::move(file));
}

bool LifeMark::is_free(const std::string& path) {
  const Descriptor file(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file) return false;
  // Whether somebody's lock would stand in the way of one for writing.
  struct flock lock = whole_file(F_WRLCK);
  return fcntl(file.get(), F_OFD_GETLK, &lock) == 0 && lock.l_type == F_UNLCK;
}

}  // namespace cdom::base
