// LateResponse: the way of one response from the thread that makes it to the I/O thread.
//
// Whoever makes it may outlive the connection and the server: what comes after close() is dropped.
// Thread-safe.
#pragma once

#include <functional>
#include <mutex>

#include "compute_domain/http/message.h"

namespace cdom::http {

class LateResponse {
 public:
  // `deliver` is called at most once, with a lock held, and must only post.
  explicit LateResponse(std::function<void(Response)> deliver) : deliver_(std::move(deliver)) {}

  // Only the first one counts.
  void give(Response response);
  // For the I/O thread: nobody waits for it any more.
  void close();

 private:
  std::mutex mutex_;
  std::function<void(Response)> deliver_;
};

}  // namespace cdom::http
