// Shared: a value that never changes, or none; copies of it are one. Two are equal when their
// values are. Thread-safe.
#pragma once

#include <memory>
#include <utility>

namespace cdom::base {

template <class T>
class Shared {
 public:
  Shared() = default;
  // NOLINTNEXTLINE(google-explicit-constructor): a value is a Shared of itself, as with optional.
  Shared(T value) : value_(std::make_shared<const T>(std::move(value))) {}

  explicit operator bool() const { return value_ != nullptr; }
  // Undefined when there is none.
  const T& operator*() const { return *value_; }
  const T* operator->() const { return value_.get(); }

  friend bool operator==(const Shared& a, const Shared& b) {
    if (a.value_ == b.value_) return true;
    return a.value_ && b.value_ && *a.value_ == *b.value_;
  }

 private:
  std::shared_ptr<const T> value_;
};

}  // namespace cdom::base
