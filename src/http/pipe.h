// Pipe: one response on its way from the connection to the thread that asked for it.
//
// The writer is a thread of the HTTP library and is never blocked: when the reader is kBound bytes
// behind, write() says so, and the writer goes on when when_room() calls it back. That is how a
// slow reader slows the server down instead of filling memory. One writer, one reader; cancel()
// from any thread.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "compute_domain/base/clock.h"
#include "compute_domain/base/result.h"
#include "compute_domain/http/message.h"

namespace cdom::http {

class Pipe {
 public:
  static constexpr std::size_t kBound = 128u << 10;

  Pipe() = default;
  // `on_news` is called by the writer, after each thing that the reader can have.
  explicit Pipe(std::function<void()> on_news) : on_news_(std::move(on_news)) {}

  // What one read() gave: bytes, the end, or neither within the wait.
  struct Piece {
    std::string bytes;
    bool is_end = false;
  };

  // Writer. The head comes first; after end() or fail() nothing more is taken.
  void set_head(Response head);
  // False when the writer should wait for room.
  [[nodiscard]] bool write(std::string_view bytes);
  // The same; `bytes` is empty then, with memory that the writer can use again.
  [[nodiscard]] bool hand_over(std::string& bytes);
  // Calls `on_room` once: at once when there is room, else from the reader or from cancel().
  void when_room(std::function<void()> on_room);
  void end();
  void fail(base::Error error);

  // Reader. Both give the error once all bytes before it have been read, and Cancelled at once.
  // nullopt: no head has come within this time.
  std::optional<base::Result<Response>> wait_for_head(base::Duration wait);
  base::Result<Piece> read(base::Duration wait);
  // Memory of a piece that has been read, for one to come.
  void give_back(std::string bytes);
  // All that is still to come, up to the end; nullopt once it is more than `most` bytes.
  base::Result<std::optional<std::string>> read_all(std::size_t most);
  // The same; `late` when the end has not come within `wait`.
  base::Result<std::optional<std::string>> read_all(std::size_t most, base::Duration wait,
                                                    const base::Error& late);

  void cancel();
  [[nodiscard]] bool is_cancelled() const;
  // All has come, or nothing more will.
  [[nodiscard]] bool is_over() const;

 private:
  // Takes what is to be read by `add`, which gets the bytes that wait.
  template <class Add>
  bool take(const Add& add);
  [[nodiscard]] bool has_room() const { return bytes_.size() < kBound; }
  void tell() {
    changed_.notify_all();
    if (on_news_) on_news_();
  }

  const std::function<void()> on_news_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::optional<Response> head_;
  std::string bytes_, spare_;      // spare_ is empty, with room
  std::function<void()> on_room_;  // set while the writer waits for the reader
  std::optional<base::Error> error_;
  bool ended_ = false;
  bool cancelled_ = false;
};

}  // namespace cdom::http
