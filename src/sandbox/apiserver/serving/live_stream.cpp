#include "sandbox/apiserver/serving/live_stream.h"

#include <algorithm>

namespace cdom::sandbox::server {

using What = http::StreamRead::What;

namespace {

// Faults and deadlines wake nobody.
constexpr std::chrono::seconds kLongestSleep{1};

}  // namespace

bool LiveStream::cut_line() {
  const auto newline = pending_.find('\n', pending_at_);
  if (newline == std::string::npos) return false;
  line_.assign(pending_, pending_at_, newline - pending_at_);
  pending_at_ = newline + 1;
  if (pending_at_ == pending_.size()) {
    pending_.clear();
    pending_at_ = 0;
  }
  return true;
}

base::Result<http::StreamRead> LiveStream::next(base::Duration wait) {
  if (wait <= base::Duration::zero() && pending_.empty() && !cancelled_ && !has_news()) {
    return http::StreamRead{.what = What::Nothing};
  }
  // How long a reader waits is real time: a manual clock would never end the wait.
  const auto until = std::chrono::steady_clock::now() + wait;
  std::unique_lock lock(state_->mutex);
  while (true) {
    if (cancelled_) {
      return base::Error{.kind = base::ErrorKind::Cancelled, .message = "the stream was cancelled"};
    }
    if (cut_line()) return http::StreamRead{.what = What::Line, .line = line_};
    Piece piece = take();
    switch (piece.what) {
      case Piece::What::Text:
        pending_ += *piece.text;
        continue;
      case Piece::What::End:
        return http::StreamRead{.what = What::End};
      case Piece::What::Broken:
        return base::Error{.kind = base::ErrorKind::Unavailable,
                           .message = "the connection was reset in the middle of the stream"};
      case Piece::What::Nothing:
        break;
    }
    // Whoever polls many streams must not pay for a wait on each.
    if (wait <= base::Duration::zero()) return http::StreamRead{.what = What::Nothing};
    const auto now = std::chrono::steady_clock::now();
    if (now >= until) return http::StreamRead{.what = What::Nothing};
    waker().wait_until(lock, std::min(until, now + kLongestSleep));
  }
}

void LiveStream::cancel() {
  {
    const std::lock_guard lock(state_->mutex);
    cancelled_ = true;
  }
  waker().notify_all();
}

}  // namespace cdom::sandbox::server
