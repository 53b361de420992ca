// ControlTool: one question at a time to nvidia-imex-ctl, without waiting for it.
//
// A tool that does not end in time is killed, and its answer is Silence, with what it had printed.
// Nobody waits for its end, as a tool that is stuck inside a driver may never end. One thread.
#pragma once

#include <list>
#include <optional>
#include <string>

#include "compute_domain/base/clock.h"
#include "imex/process/child.h"
#include "imex/process/tool_answer.h"

namespace cdom::imex {

class ControlTool {
 public:
  explicit ControlTool(const base::Clock& clock) : clock_(clock) {}

  // Forgets an earlier question.
  void ask(Command command, base::Duration patience);
  void forget();
  // The answer, once. Call it when a descriptor is readable, or after next_due().
  std::optional<ToolAnswer> poll();
  [[nodiscard]] std::optional<base::Duration> next_due() const;
  // nullptr while nothing is asked.
  [[nodiscard]] const Child* child() const { return child_ ? &*child_ : nullptr; }
  // Whether this is one of its processes.
  [[nodiscard]] bool has(pid_t pid) const;
  // Whether an earlier process was killed and has not ended yet.
  bool has_dying();
  // Whether the running tool may still have output. Once it has ended there is none to wait for.
  [[nodiscard]] bool has_output() const { return !is_drained_; }

 private:
  void drain();

  const base::Clock& clock_;
  std::optional<Child> child_;
  std::list<Child> dying_;
  std::optional<ToolAnswer> failed_;  // to start
  std::string output_;
  bool is_drained_ = false;
  base::Duration deadline_{};
};

}  // namespace cdom::imex
