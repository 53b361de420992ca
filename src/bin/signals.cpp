#include "bin/signals.h"

#include <csignal>
#include <ctime>

namespace cdom::bin {

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
    const timespec wait{.tv_sec = 0, .tv_nsec = 200'000'000};
    while (!own.stop_requested()) {
      if (sigtimedwait(&set, nullptr, &wait) > 0) {
        stop_.request_stop();
        return;
      }
    }
  });
}

Signals::~Signals() = default;

}  // namespace cdom::bin
