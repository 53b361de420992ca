// LiveStream: the body of an answer that goes on: a watch or a followed log.
//
// take() gives the next piece without ever blocking; next() cuts pieces into lines and waits for
// them. Pieces are shared, so that one event goes to a thousand watchers without a copy.
#pragma once

#include <atomic>
#include <condition_variable>
#include <memory>
#include <string>

#include "compute_domain/http/client.h"
#include "sandbox/apiserver/storage/api_state.h"

namespace cdom::sandbox::server {

struct Piece {
  enum class What {
    Text,     // whole lines, each with its newline
    Nothing,  // none for now
    End,      // the server ends the stream properly
    Broken,   // the connection breaks; `text` may hold half a line that was still sent
  };
  What what = What::Nothing;
  std::shared_ptr<const std::string> text = nullptr;
};

class LiveStream : public http::Stream {
 public:
  explicit LiveStream(std::shared_ptr<ApiState> state) : state_(std::move(state)) {}

  // The next piece. Called with the state's mutex held.
  virtual Piece take() = 0;
  // False: take() has nothing to give. Needs no mutex, so that looking at many streams in vain is
  // cheap, and waits for no request; for the thread that takes.
  [[nodiscard]] virtual bool has_news() const { return true; }

  // What is notified when take() may have something to give.
  [[nodiscard]] virtual std::condition_variable& waker() const { return state_->changed; }

  base::Result<http::StreamRead> next(base::Duration wait) final;
  void cancel() final;

  [[nodiscard]] ApiState& state() const { return *state_; }

 private:
  // Makes line_ the next line of what has been taken, if there is a whole one.
  bool cut_line();

  const std::shared_ptr<ApiState> state_;
  std::atomic<bool> cancelled_ = false;
  std::string pending_, line_;
  std::size_t pending_at_ = 0;
};

}  // namespace cdom::sandbox::server
