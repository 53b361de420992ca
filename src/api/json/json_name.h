// JsonName: the name of a member, with its beginning in one word, so that names are compared
// without a call. A value; the text has to outlive it.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace cdom::api {

struct JsonName {
  std::string_view text;
  std::uint64_t head = 0;  // its first characters, and zeros

  constexpr JsonName() = default;
  constexpr explicit JsonName(std::string_view name) : text(name) {
    for (std::size_t i = 0; i < kHead && i < name.size(); ++i) {
      head |= std::uint64_t{static_cast<unsigned char>(name[i])} << (8 * i);
    }
  }
  // The same of one behind which there are bytes that may be looked at.
  static JsonName padded(std::string_view name) {
    static_assert(std::endian::native == std::endian::little);
    JsonName padded;
    padded.text = name;
    std::memcpy(&padded.head, name.data(), kHead);
    if (name.size() < kHead) padded.head &= (std::uint64_t{1} << (8 * name.size())) - 1;
    return padded;
  }

  // One of 64 bits, which few other names have.
  [[nodiscard]] constexpr std::uint64_t bit() const {
    return std::uint64_t{1} << ((head + text.size()) * 0x9E3779B97F4A7C15U >> 58U);
  }

  friend bool operator==(const JsonName& a, const JsonName& b) {
    const std::size_t size = a.text.size();
    return a.head == b.head && size == b.text.size() &&
           (size <= kHead ||
            std::memcmp(a.text.data() + kHead, b.text.data() + kHead, size - kHead) == 0);
  }

 private:
  static constexpr std::size_t kHead = 8;
};

}  // namespace cdom::api
