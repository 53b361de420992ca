// SharedBytes: bytes that never change, or none; copies of it are one, and each takes a pointer.
//
// For those who keep very many short ones: together with its count and its length each takes a
// single piece of memory. Thread-safe as a std::shared_ptr is.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <new>
#include <string_view>
#include <utility>

namespace cdom::base {

class SharedBytes {
 public:
  SharedBytes() = default;
  // At most 4 GiB.
  explicit SharedBytes(std::string_view bytes)
      : SharedBytes(bytes.size(),
                    [&](char* place) { std::copy_n(bytes.data(), bytes.size(), place); }) {}
  // `write` writes all of them to the place that it is given.
  template <class Write>
  SharedBytes(std::size_t size, const Write& write)
      : block_(new (::operator new(sizeof(Block) + size)) Block) {
    block_->size = static_cast<std::uint32_t>(size);
    write(reinterpret_cast<char*>(block_ + 1));
  }
  SharedBytes(const SharedBytes& other) noexcept : block_(other.block_) {
    if (block_ != nullptr) block_->users.fetch_add(1, std::memory_order_relaxed);
  }
  SharedBytes(SharedBytes&& other) noexcept : block_(std::exchange(other.block_, nullptr)) {}
  SharedBytes& operator=(SharedBytes other) noexcept {
    std::swap(block_, other.block_);
    return *this;
  }
  ~SharedBytes() {
    if (block_ != nullptr && block_->users.fetch_sub(1, std::memory_order_acq_rel) == 1) {
      ::operator delete(block_);
    }
  }

  // False: there are none, which is not the same as an empty one.
  explicit operator bool() const { return block_ != nullptr; }
  // As long as any copy of it lives; empty when there are none.
  [[nodiscard]] std::string_view view() const {
    if (block_ == nullptr) return {};
    return {reinterpret_cast<const char*>(block_ + 1), block_->size};
  }

 private:
  struct Block {
    std::atomic<std::uint32_t> users = 1;
    std::uint32_t size = 0;
    // The bytes follow.
  };

  Block* block_ = nullptr;
};

}  // namespace cdom::base
