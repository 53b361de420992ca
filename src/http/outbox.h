// Outbox: what a streamed reply still has to send, between the threads that write it and the I/O
// thread that sends it.
//
// Pieces are shared, not copied, so that one event to a thousand watchers is one text. Bounded: a
// writer that asks has_room() keeps to the pace of the peer; otherwise a peer that falls 1,000
// pieces or 8 MiB behind loses its connection. Thread-safe.
#pragma once

#include <cstddef>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "compute_domain/http/server.h"

namespace cdom::http {

class Outbox : public StreamWriter {
 public:
  using Piece = std::shared_ptr<const std::string>;

  // `wake` asks the I/O thread to look here; it is called with a lock held and must only post.
  explicit Outbox(std::function<void()> wake) : wake_(std::move(wake)) {}

  bool write(Piece text) override;
  [[nodiscard]] bool has_room() const override;
  void when_room(std::function<void()> on_room) override;
  void finish() override;
  void abort() override;
  void on_closed(std::function<void()> callback) override;

  // For the I/O thread.
  struct Batch {
    std::vector<Piece> pieces;
    bool is_last = false;  // the reply ends with these pieces
    bool broken = false;   // aborted or overrun: break the connection
  };
  // Calls the callback of when_room() when there is room then.
  Batch take(std::size_t most);
  // Aborted or overrun; to be asked also while a write is under way.
  [[nodiscard]] bool is_broken() const;
  // Nothing more is taken. Calls the callback of on_closed() unless the reply had been finished.
  void close();

 private:
  enum class State { Open, Finished, Broken, Closed };
  [[nodiscard]] bool has_room_locked() const;
  void wake();
  void break_off();

  mutable std::mutex mutex_;
  State state_ = State::Open;
  std::function<void()> wake_;
  std::function<void()> on_closed_;
  std::function<void()> on_room_;  // set while somebody waits for room
  std::deque<Piece> pieces_;
  std::size_t bytes_ = 0;
  bool woken_ = false;
};

}  // namespace cdom::http
