#include "http/outbox.h"

#include <utility>

namespace cdom::http {
namespace {

constexpr std::size_t kMostPieces = 1'000;
constexpr std::size_t kMostBytes = 8u << 20;
// Enough to keep the connection busy until the writer runs again.
constexpr std::size_t kRoomPieces = 64;
constexpr std::size_t kRoomBytes = 256u << 10;

}  // namespace

bool Outbox::write(Piece text) {
  const std::lock_guard lock(mutex_);
  if (state_ != State::Open) return false;
  if (text->empty()) return true;  // an empty chunk would end the reply
  const bool fits =
      pieces_.size() < kMostPieces && (pieces_.empty() || bytes_ + text->size() <= kMostBytes);
  if (fits) {
    bytes_ += text->size();
    pieces_.push_back(std::move(text));
    wake();
  } else {
    break_off();
  }
  return fits;
}

bool Outbox::has_room() const {
  const std::lock_guard lock(mutex_);
  return has_room_locked();
}

bool Outbox::has_room_locked() const {
  return state_ == State::Open && pieces_.size() < kRoomPieces && bytes_ < kRoomBytes;
}

void Outbox::when_room(std::function<void()> on_room) {
  const std::lock_guard lock(mutex_);
  if (state_ != State::Open) return;
  on_room_ = std::move(on_room);
  if (has_room_locked()) wake();
}

void Outbox::finish() {
  const std::lock_guard lock(mutex_);
  if (state_ != State::Open) return;
  state_ = State::Finished;
  wake();
}

void Outbox::abort() {
  const std::lock_guard lock(mutex_);
  if (state_ != State::Closed) break_off();
}

// Wakes also when an earlier wake has not been answered: the I/O thread may be in a write that
// never ends, as the peer does not read.
void Outbox::break_off() {
  state_ = State::Broken;
  pieces_.clear();
  if (wake_) wake_();
}

bool Outbox::is_broken() const {
  const std::lock_guard lock(mutex_);
  return state_ == State::Broken;
}

void Outbox::on_closed(std::function<void()> callback) {
  const std::lock_guard lock(mutex_);
  on_closed_ = std::move(callback);
}

Outbox::Batch Outbox::take(std::size_t most) {
  Batch batch;
  std::function<void()> on_room;
  {
    const std::lock_guard lock(mutex_);
    woken_ = false;
    while (!pieces_.empty() && batch.pieces.size() < most) {
      bytes_ -= pieces_.front()->size();
      batch.pieces.push_back(std::move(pieces_.front()));
      pieces_.pop_front();
    }
    batch.is_last = state_ == State::Finished && pieces_.empty();
    batch.broken = state_ == State::Broken;
    if (has_room_locked()) on_room.swap(on_room_);
  }
  if (on_room) on_room();
  return batch;
}

void Outbox::close() {
  std::function<void()> on_closed;
  {
    const std::lock_guard lock(mutex_);
    if (state_ != State::Finished) on_closed.swap(on_closed_);
    state_ = State::Closed;
    on_closed_ = on_room_ = nullptr;
    wake_ = nullptr;
    pieces_.clear();
  }
  if (on_closed) on_closed();
}

void Outbox::wake() {
  if (woken_ || !wake_) return;
  woken_ = true;
  wake_();
}

}  // namespace cdom::http
