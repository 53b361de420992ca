#include "cli/signals.h"

#include <csignal>
#include <ctime>

namespace cdom::cli {

namespace {

sigset_t stop_signals() {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGINT);
  sigaddset(&set, SIGTERM);
  return set;
}

}  // namespace

Signals::Signals() {
  const sigset_t set = stop_signals();
  pthread_sigmask(SIG_BLOCK, &set, nullptr);
  signal(SIGPIPE, SIG_IGN);
  waiter_ = std::jthread([this, set](const std::stop_token& own) {
    while (sigwaitinfo(&set, nullptr) < 0) {
    }
    if (!own.stop_requested()) stop_.request_stop();
  });
}

Signals::~Signals() {
  waiter_.request_stop();
  // Wakes it and ends nobody: the signal is blocked everywhere.
  pthread_kill(waiter_.native_handle(), SIGTERM);  // NOLINT(bugprone-bad-signal-to-kill-thread)
}

}  // namespace cdom::cli
