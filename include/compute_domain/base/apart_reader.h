// ApartReader: reads files whose reading may never return, as those of a driver that hangs.
//
// A process reads for the caller, who waits only so long. One that is inside the driver may not die
// when it is killed: until it does, every read fails at once. Such a process holds no file of this
// one, and no lock. One thread.
#pragma once

#include <sys/types.h>

#include <string>

#include "compute_domain/base/clock.h"
#include "compute_domain/base/result.h"

namespace cdom::base {

class ApartReader {
 public:
  ApartReader() = default;
  ~ApartReader();
  ApartReader(const ApartReader&) = delete;
  ApartReader& operator=(const ApartReader&) = delete;

  // As read_file(), of at most 64 KiB, which is what a pipe takes. Unavailable: it took longer than
  // `patience`, or an earlier read still has not ended.
  Result<std::string> read(const std::string& path, Duration patience);
  // Whether the last read did not end in time.
  [[nodiscard]] bool hangs() const { return stuck_ != 0; }
  // Whether that is the process of such a read.
  [[nodiscard]] bool has(pid_t pid) const { return hangs() && pid == stuck_; }

 private:
  bool is_stuck();

  pid_t stuck_ = 0;  // 0: none
  std::string stuck_path_;
};

}  // namespace cdom::base
