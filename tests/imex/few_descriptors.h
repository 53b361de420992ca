// FewDescriptors: this process can open so many files and no more, while it lives.
#pragma once

#include <sys/resource.h>
#include <unistd.h>

namespace cdom::imex {

class FewDescriptors {
 public:
  explicit FewDescriptors(int more) {
    getrlimit(RLIMIT_NOFILE, &before_);
    // The lowest that is free is the next that is taken.
    const int lowest = dup(STDIN_FILENO);
    close(lowest);
    rlimit few = before_;
    few.rlim_cur = static_cast<rlim_t>(lowest) + static_cast<rlim_t>(more);
    setrlimit(RLIMIT_NOFILE, &few);
  }
  ~FewDescriptors() { setrlimit(RLIMIT_NOFILE, &before_); }
  FewDescriptors(const FewDescriptors&) = delete;
  FewDescriptors& operator=(const FewDescriptors&) = delete;

 private:
  rlimit before_{};
};

}  // namespace cdom::imex
