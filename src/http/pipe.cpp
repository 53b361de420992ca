#include "http/pipe.h"

#include <algorithm>
#include <utility>

namespace cdom::http {
namespace {

using base::Error;
using base::ErrorKind;

constexpr base::Duration kLongest = std::chrono::hours(1);  // keeps wait_for from overflowing

Error cancelled() { return {ErrorKind::Cancelled, "the request was cancelled"}; }

}  // namespace

// The reader is woken when the lock is free. Woken before, it would only wait for the lock.
void Pipe::set_head(Response head) {
  {
    const std::lock_guard lock(mutex_);
    head_ = std::move(head);
  }
  changed_.notify_all();
}

template <class Add>
bool Pipe::take(const Add& add) {
  bool goes_on = true;
  {
    const std::lock_guard lock(mutex_);
    if (cancelled_ || ended_ || error_) return true;
    add(bytes_);
    goes_on = has_room();
  }
  tell();
  return goes_on;
}

bool Pipe::write(std::string_view bytes) {
  return take([&](std::string& waiting) { waiting += bytes; });
}

bool Pipe::hand_over(std::string& bytes) {
  const bool goes_on = take([&](std::string& waiting) {
    if (waiting.empty()) {
      waiting.swap(bytes);
    } else {
      waiting += bytes;
    }
  });
  bytes.clear();
  return goes_on;
}

void Pipe::when_room(std::function<void()> on_room) {
  {
    const std::lock_guard lock(mutex_);
    if (!has_room()) {
      on_room_ = std::move(on_room);
      return;
    }
  }
  on_room();
}

void Pipe::end() {
  {
    const std::lock_guard lock(mutex_);
    ended_ = true;
  }
  tell();
}

void Pipe::fail(Error error) {
  {
    const std::lock_guard lock(mutex_);
    if (ended_ || error_) return;
    error_ = std::move(error);
  }
  tell();
}

std::optional<base::Result<Response>> Pipe::wait_for_head(base::Duration wait) {
  std::unique_lock lock(mutex_);
  changed_.wait_for(lock, std::min(wait, kLongest),
                    [this] { return cancelled_ || head_ || ended_ || error_; });
  if (cancelled_) return cancelled();
  if (head_) return *head_;
  if (error_) return *error_;
  if (!ended_) return std::nullopt;
  return Error{ErrorKind::Unavailable, "the connection ended before an answer"};
}

base::Result<Pipe::Piece> Pipe::read(base::Duration wait) {
  std::function<void()> on_room;
  Piece piece;
  {
    std::unique_lock lock(mutex_);
    changed_.wait_for(lock, std::min(wait, kLongest),
                      [this] { return cancelled_ || !bytes_.empty() || ended_ || error_; });
    if (cancelled_) return cancelled();
    if (bytes_.empty() && error_) return *error_;
    piece.is_end = bytes_.empty() && ended_;
    piece.bytes.swap(bytes_);
    bytes_.swap(spare_);
    on_room.swap(on_room_);
  }
  if (on_room) on_room();
  return piece;
}

void Pipe::give_back(std::string bytes) {
  // Enough for a reader that is behind. The room for one larger piece is not kept as long as the
  // stream lasts.
  constexpr std::size_t kMostSpare = 2 * kBound;
  if (bytes.capacity() > kMostSpare) return;
  bytes.clear();
  const std::lock_guard lock(mutex_);
  spare_ = std::move(bytes);
}

base::Result<std::optional<std::string>> Pipe::read_all(std::size_t most) {
  return read_all(most, kLongest, {ErrorKind::Unavailable, "the answer has no end"});
}

base::Result<std::optional<std::string>> Pipe::read_all(std::size_t most, base::Duration wait,
                                                        const Error& late) {
  const base::SystemClock clock;
  const base::Duration end = clock.elapsed() + std::min(wait, kLongest);
  std::string all;
  while (true) {
    auto piece = read(std::max(end - clock.elapsed(), base::Duration::zero()));
    if (!piece) return piece.error();
    if (piece->is_end) return std::optional(std::move(all));
    if (clock.elapsed() >= end) return late;
    if (piece->bytes.size() > most - all.size()) return std::optional<std::string>();
    all += piece->bytes;
  }
}

void Pipe::cancel() {
  std::function<void()> on_room;
  {
    const std::lock_guard lock(mutex_);
    cancelled_ = true;
    bytes_.clear();
    on_room.swap(on_room_);
  }
  changed_.notify_all();
  if (on_room) on_room();
}

bool Pipe::is_cancelled() const {
  const std::lock_guard lock(mutex_);
  return cancelled_;
}

bool Pipe::is_over() const {
  const std::lock_guard lock(mutex_);
  return ended_ || error_;
}

}  // namespace cdom::http
