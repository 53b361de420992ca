// AlikeBytes: very many short pieces of bytes that are like each other, by number.
//
// 32 neighbours lie in one page. Of each only that is written which is neither in the page's sample
// nor earlier in the piece itself: often a third. A piece is put together again for each who asks.
// Copies share their pages, so that one shows for little what was there when it was made. Not
// thread-safe; but copies are nothing to each other.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "compute_domain/base/shared_bytes.h"

namespace cdom::base {

class AlikeBytes {
 public:
  using Number = std::uint32_t;

  // Those of a number; none where none were set. Any number may be asked for.
  [[nodiscard]] SharedBytes at(Number number) const;
  // Makes `begin` their first `count` bytes, or all when there are not so many; empty for none.
  void read_begin(Number number, std::size_t count, std::string& begin) const;
  // Numbers are best used one after the other: a page costs the same for one piece and for 32.
  void set(Number number, std::string_view bytes);
  void clear(Number number);
  // Bytes, with what copies share.
  [[nodiscard]] std::size_t taken() const;

 private:
  class Page;

  // The page, with this sample instead of its own if it gets shorter by that.
  static SharedBytes settled(const SharedBytes& page, std::string_view sample);

  std::vector<SharedBytes> pages_;
  std::map<Number, SharedBytes> apart_;  // pieces too long to be copied with their neighbours
};

}  // namespace cdom::base
