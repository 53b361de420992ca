// Ending: what ends a controller's work, whichever thread sees it first: a signal, the loss of
// leadership, or a predecessor. Thread-safe.
#pragma once

#include <functional>
#include <mutex>
#include <stop_token>
#include <string>

namespace cdom::program {

class Ending {
 public:
  explicit Ending(std::stop_token signals);

  void leadership_lost();
  void predecessor_found(const std::string& predecessor);

  [[nodiscard]] std::stop_token token() const { return leave_.get_token(); }
  // For who runs the program; "" after a signal.
  [[nodiscard]] std::string fault() const;

 private:
  void leave(std::string fault);

  std::stop_source leave_;
  mutable std::mutex mutex_;
  std::string fault_;
  std::stop_callback<std::function<void()>> on_signal_;
};

// "another ComputeDomain controller is at work (…": with the remedy.
std::string at_work(const std::string& predecessor);

}  // namespace cdom::program
