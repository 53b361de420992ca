// Outbox: what a streamed reply still has to send, between the threads that write it and the I/O
// thread that sends it.
//
// Pieces are shared, not copied, so that one event to a thousand watchers is one text. Bounded: a
// peer that falls behind by 1,000 pieces or 8 MiB loses its connection. Thread-safe.
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
  void finish() override;
  void abort() override;
  void on_closed(std::function<void()> callback) override;

  // For the I/O thread.
  struct Batch {
    std::vector<Piece> pieces;
    bool is_last = false;  // the reply ends with these pieces
    bool broken = false;   // aborted or overrun: break the connection
  };
  Batch take(std::size_t most);
  // Aborted or overrun; to be asked also while a write is under way.
  [[nodiscard]] bool is_broken() const;
  // Nothing more is taken. Calls the callback of on_closed() unless the reply had been finished.
  void close();

 private:
  enum class State { Open, Finished, Broken, Closed };
  void wake();
  void break_off();

  mutable std::mutex mutex_;
  State state_ = State::Open;
  std::function<void()> wake_;
  std::function<void()> on_closed_;
  std::deque<Piece> pieces_;
  std::size_t bytes_ = 0;
  bool woken_ = false;
};

}  // namespace cdom::http
