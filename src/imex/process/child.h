// Child: a process that this one started, seen through a pidfd.
//
// It cannot outlive its supervisor: the kernel kills it when the thread that started it ends, and
// so does the destructor, which waits two seconds at most: a process inside a driver's call may not
// die, and one that is traced is its tracer's at first. One thread.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <vector>

#include "compute_domain/base/descriptor.h"
#include "compute_domain/base/result.h"

namespace cdom::imex {

struct BindMount {
  std::string source, target;  // files
};

struct Command {
  std::vector<std::string> arguments;    // the first is the path of the program
  std::vector<std::string> environment;  // "NAME=value", and nothing else
  std::vector<BindMount> mounts;         // seen by the child alone
  bool captures_output = false;          // both outputs; else they are the supervisor's
  int kept_descriptor = -1;              // of the supervisor, that it inherits; -1: none
};

struct Ending {
  int code = 0;    // of the exit
  int signal = 0;  // that ended it, or 0
};
// "exited with code 1", "was ended by SIGKILL".
std::string to_string(const Ending& ending);

class Child {
 public:
  // Returns when the program runs. Errors name the step that failed.
  static base::Result<Child> start(const Command& command);
  ~Child();
  Child(Child&&) noexcept = default;
  Child& operator=(Child&&) = delete;

  // Becomes readable when the child has ended.
  [[nodiscard]] int exit_descriptor() const { return pidfd_.get(); }
  // Not blocking; -1 when nothing is captured.
  [[nodiscard]] int output_descriptor() const { return output_.get(); }
  [[nodiscard]] pid_t pid() const { return pid_; }
  void signal(int number) const;
  // Once: nullopt while it runs, or is still its tracer's.
  std::optional<Ending> reap();

 private:
  Child(pid_t pid, base::Descriptor pidfd, base::Descriptor output)
      : pid_(pid), pidfd_(std::move(pidfd)), output_(std::move(output)) {}

  pid_t pid_;
  base::Descriptor pidfd_, output_;  // without pidfd: reaped
};

}  // namespace cdom::imex
