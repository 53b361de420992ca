#include "imex/daemon/relay.h"

#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <utility>

#include "compute_domain/base/log.h"

namespace cdom::imex {

namespace {

constexpr std::size_t kMostBacklog = std::size_t{64} << 10;
// All that a pipe holds, so that nothing of a daemon that has ended is missed.
constexpr int kMostBlocks = 16;

// Whole lines as far as there are any, so that the supervisor's own come between them. No more than
// a pipe takes without waiting when it has room at all (pipe(7)).
std::size_t portion(const std::string& backlog) {
  const std::size_t most = std::min<std::size_t>(backlog.size(), PIPE_BUF);
  const std::size_t end = std::string_view(backlog).substr(0, most).rfind('\n');
  return end == std::string_view::npos ? most : end + 1;
}

}  // namespace

void Relay::begin() {
  words_ = {};
  is_drained_ = false;
}

std::size_t Relay::take(int output, base::Duration now) {
  char block[4096];
  std::size_t lines = 0;
  for (int blocks = 0; !is_drained_ && blocks < kMostBlocks; ++blocks) {
    const ssize_t got = read(output, block, sizeof block);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0 && errno == EAGAIN) break;
    if (got <= 0) {
      is_drained_ = true;
      break;
    }
    const std::string_view bytes(block, static_cast<std::size_t>(got));
    lines += static_cast<std::size_t>(std::ranges::count(bytes, '\n'));
    words_.hear(bytes, now);
    keep(bytes);
    give();
  }
  return lines;
}

void Relay::keep(std::string_view bytes) {
  if (left_out_ == 0 && backlog_.size() + bytes.size() <= kMostBacklog) {
    backlog_ += bytes;
    return;
  }
  if (left_out_ == 0 && !backlog_.ends_with('\n')) backlog_ += '\n';
  left_out_ += bytes.size();
}

void Relay::give() {
  while (!backlog_.empty()) {
    pollfd log{.fd = log_, .events = POLLOUT, .revents = 0};
    if (poll(&log, 1, 0) <= 0) return;
    if ((log.revents & POLLOUT) == 0) return drop_backlog();
    const ssize_t given = write(log_, backlog_.data(), portion(backlog_));
    if (given < 0 && errno == EINTR) continue;
    if (given < 0 && errno == EAGAIN) return;
    if (given < 0) return drop_backlog();
    backlog_.erase(0, static_cast<std::size_t>(given));
  }
  tell_what_is_left_out();
}

// Nobody can read the log any more.
void Relay::drop_backlog() {
  backlog_.clear();
  left_out_ = 0;
}

void Relay::tell_what_is_left_out() {
  if (left_out_ == 0) return;
  base::log_warning("the log was not read in time: left out what nvidia-imex has printed",
                    {{"bytes", std::to_string(std::exchange(left_out_, 0))}});
}

}  // namespace cdom::imex
