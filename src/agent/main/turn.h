// Turn: two threads share what is for one: each takes the turn while it works on it, and gives it
// away while it waits for an answer of the API server.
#pragma once

#include <atomic>
#include <mutex>
#include <thread>

#include "compute_domain/http/client.h"

namespace cdom::program {

class Turn {
 public:
  // A lock, for std::lock_guard.
  void lock() {
    mutex_.lock();
    owner_ = std::this_thread::get_id();
  }
  void unlock() {
    owner_ = std::thread::id();
    mutex_.unlock();
  }
  // Whether it is this thread's.
  [[nodiscard]] bool is_mine() const { return owner_ == std::this_thread::get_id(); }

 private:
  std::mutex mutex_;
  std::atomic<std::thread::id> owner_;
};

// An http::Client whose callers give the turn away for as long as an exchange lasts. Thread-safe.
class TurnClient : public http::Client {
 public:
  TurnClient(http::Client& client, Turn& turn) : client_(client), turn_(turn) {}

  base::Result<http::Response> send(const http::Request& request) override;
  base::Result<http::Opened> open(const http::Request& request) override;
  void shut_down() override { client_.shut_down(); }

 private:
  http::Client& client_;
  Turn& turn_;
};

}  // namespace cdom::program
