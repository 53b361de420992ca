#include "imex/process/control_tool.h"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <utility>

namespace cdom::imex {

namespace {
// Room for the output of a domain of a thousand nodes; a tool that prints more is broken.
constexpr std::size_t kMostOutput = std::size_t{64} << 20;
// Processes that were killed and have not ended; more of them would not help.
constexpr std::size_t kMostDying = 4;
}  // namespace

void ControlTool::ask(Command command, base::Duration patience) {
  forget();
  (void)has_dying();
  if (dying_.size() >= kMostDying) {
    failed_ = ToolAnswer{ToolAnswer::Outcome::Silence, {}};
    return;
  }
  output_.clear();
  is_drained_ = false;
  command.captures_output = true;
  deadline_ = clock_.elapsed() + patience;
  auto started = Child::start(command);
  if (started) {
    child_.emplace(std::move(*started));
  } else {
    // A tool that is not there may have gone with what it would ask.
    const bool is_gone = started.error().kind == base::ErrorKind::NotFound;
    failed_ = ToolAnswer{is_gone ? ToolAnswer::Outcome::Refusal : ToolAnswer::Outcome::Unasked,
                         started.error().message, /*has_run=*/false};
  }
}

std::optional<ToolAnswer> ControlTool::poll() {
  if (failed_) return std::exchange(failed_, std::nullopt);
  if (!child_) return std::nullopt;
  drain();
  if (const auto ending = child_->reap()) {
    drain();
    child_.reset();
    if (ending->code == 0 && ending->signal == 0) {
      return ToolAnswer{ToolAnswer::Outcome::Answer, std::move(output_)};
    }
    return ToolAnswer{ToolAnswer::Outcome::Refusal,
                      output_.empty() ? "it " + to_string(*ending) : std::move(output_),
                      /*has_run=*/true, ending->code};
  }
  if (clock_.elapsed() < deadline_ && output_.size() <= kMostOutput) return std::nullopt;
  forget();
  return ToolAnswer{ToolAnswer::Outcome::Silence, std::move(output_)};
}

void ControlTool::forget() {
  failed_.reset();
  if (!child_) return;
  child_->signal(SIGKILL);
  dying_.push_back(*std::move(child_));
  child_.reset();
}

bool ControlTool::has_dying() {
  dying_.remove_if([](Child& child) { return child.reap().has_value(); });
  return !dying_.empty();
}

bool ControlTool::has(pid_t pid) const {
  return (child_ && child_->pid() == pid) ||
         std::ranges::any_of(dying_, [&](const Child& one) { return one.pid() == pid; });
}

void ControlTool::drain() {
  char block[4096];
  while (!is_drained_ && output_.size() <= kMostOutput) {
    const ssize_t got = read(child_->output_descriptor(), block, sizeof block);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return;
    if (got == 0) is_drained_ = true;
    output_.append(block, static_cast<std::size_t>(got));
  }
}

std::optional<base::Duration> ControlTool::next_due() const {
  if (failed_) return clock_.elapsed();
  return child_ ? std::optional(deadline_) : std::nullopt;
}

}  // namespace cdom::imex
