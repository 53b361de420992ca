// Signals: SIGINT and SIGTERM as a stop token. Construct it before any other thread starts, as
// threads inherit the mask that keeps the signals for this one.
#pragma once

#include <stop_token>
#include <thread>

namespace cdom::cli {

class Signals {
 public:
  Signals();
  ~Signals();
  Signals(const Signals&) = delete;
  Signals& operator=(const Signals&) = delete;

  [[nodiscard]] std::stop_token token() const { return stop_.get_token(); }
  void request_stop() { stop_.request_stop(); }

 private:
  std::stop_source stop_;
  std::jthread waiter_;
};

}  // namespace cdom::cli
