// PageCursor: how far a list in pages has come, and how many objects its next page brings.
//
// Tenants decide how long their objects are: while a page is longer than an answer may be, half as
// many are asked for, and twice as many again once pages are short. A value, for one thread.
#pragma once

#include <algorithm>
#include <cstddef>

namespace cdom::kube {

class PageCursor {
 public:
  // The longest page of a list: a page takes several times as much memory while it is decoded.
  static constexpr std::size_t kMostBytes = std::size_t{16} << 20;

  explicit PageCursor(std::size_t page_size) : page_size_(page_size), limit_(page_size) {}

  [[nodiscard]] std::size_t limit() const { return limit_; }
  // Objects that came before.
  [[nodiscard]] std::size_t position() const { return position_; }

  // The page was too long. False: it was to be one object.
  [[nodiscard]] bool halve() {
    if (limit_ <= 1) return false;
    limit_ /= 2;
    return true;
  }
  void took(std::size_t objects, std::size_t bytes) {
    position_ += objects;
    if (bytes < kMostBytes / 4) limit_ = std::min(limit_ * 2, page_size_);
  }

 private:
  std::size_t page_size_;
  std::size_t limit_;
  std::size_t position_ = 0;
};

}  // namespace cdom::kube
