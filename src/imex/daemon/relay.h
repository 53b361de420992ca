// Relay: what the daemon prints, on its way to the supervisor's log, and its last words.
//
// It never waits. It takes what has come, and passes on what the log takes at once. When the log is
// read more slowly, it keeps 64 KiB; what comes while they wait is left out, and the log says how
// much. One thread.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "imex/daemon/last_words.h"

namespace cdom::imex {

class Relay {
 public:
  // The log stays the caller's. Writing to one that nobody reads any more must not end the process
  // (SIGPIPE).
  explicit Relay(int log) : log_(log) {}

  // What comes from now on is another daemon's.
  void begin();
  // Takes what has come from `output`, which does not block: a bounded part of it, as there may
  // always be more. How many lines have ended with it.
  std::size_t take(int output, base::Duration now);
  void give();

  // Whether there may be more to take, and to give.
  [[nodiscard]] bool has_output() const { return !is_drained_; }
  [[nodiscard]] bool has_backlog() const { return !backlog_.empty(); }
  [[nodiscard]] std::string last_words(base::Duration now) const { return words_.text(now); }

 private:
  void keep(std::string_view bytes);
  void drop_backlog();
  void tell_what_is_left_out();

  const int log_;
  LastWords words_;
  std::string backlog_;
  std::size_t left_out_ = 0;
  bool is_drained_ = true;
};

}  // namespace cdom::imex
