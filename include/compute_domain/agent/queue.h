// Queue: values of one type on their way from one side to another. Thread-safe.
#pragma once

#include <deque>
#include <functional>
#include <mutex>
#include <optional>
#include <utility>

namespace cdom::agent {

template <class T>
class Queue {
 public:
  // `on_post` wakes the side that takes.
  explicit Queue(std::function<void()> on_post = [] {}) : on_post_(std::move(on_post)) {}

  void post(T value) {
    {
      const std::lock_guard lock(mutex_);
      values_.push_back(std::move(value));
    }
    on_post_();
  }
  // The oldest; nullopt when there is none.
  std::optional<T> take() {
    const std::lock_guard lock(mutex_);
    if (values_.empty()) return std::nullopt;
    std::optional<T> value(std::move(values_.front()));
    values_.pop_front();
    return value;
  }
  [[nodiscard]] bool is_empty() const {
    const std::lock_guard lock(mutex_);
    return values_.empty();
  }

 private:
  const std::function<void()> on_post_;
  mutable std::mutex mutex_;
  std::deque<T> values_;
};

}  // namespace cdom::agent
