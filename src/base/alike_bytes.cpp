#include "compute_domain/base/alike_bytes.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

#include "likeness.h"

namespace cdom::base {

namespace {

constexpr std::size_t kPieces = 32;            // in a page
constexpr std::size_t kLongestSample = 2048;   // the beginning of a piece that is longer
constexpr std::size_t kLongestWritten = 4096;  // a longer one lies apart

// How a page begins. Behind it come the sample, and the pieces as they are written.
struct Head {
  std::uint32_t sample = 0;   // its length
  std::uint32_t settled = 0;  // the length of all pieces when the sample was last thought over
  std::array<std::uint16_t, kPieces> lengths{};  // 0: none
};
constexpr std::uint16_t kApart = 0xffff;  // instead of a length: the piece is not here

std::size_t length_of(std::uint16_t length) { return length == kApart ? 0 : length; }

std::size_t sum_of(const Head& head, std::size_t pieces) {
  std::size_t sum = 0;
  for (std::size_t i = 0; i < pieces; ++i) sum += length_of(head.lengths[i]);
  return sum;
}

}  // namespace

class AlikeBytes::Page {
 public:
  // None is a page without pieces.
  explicit Page(const SharedBytes& bytes) {
    if (!bytes) return;
    std::memcpy(&head, bytes.view().data(), sizeof head);
    sample = bytes.view().substr(sizeof head, head.sample);
    pieces = bytes.view().substr(sizeof head + head.sample);
  }

  [[nodiscard]] bool is_empty() const { return head.lengths == decltype(head.lengths){}; }
  [[nodiscard]] std::string_view written(std::size_t piece) const {
    return pieces.substr(sum_of(head, piece), length_of(head.lengths[piece]));
  }
  // The same page with `written` in the place of a piece; `length` is its own, or kApart.
  [[nodiscard]] SharedBytes with(std::size_t piece, std::string_view written,
                                 std::uint16_t length) const {
    Head changed = head;
    changed.sample = static_cast<std::uint32_t>(sample.size());
    changed.lengths[piece] = length;
    const std::size_t begin = sum_of(head, piece);
    const std::size_t end = begin + length_of(head.lengths[piece]);
    const std::string_view parts[] = {{reinterpret_cast<const char*>(&changed), sizeof changed},
                                      sample,
                                      pieces.substr(0, begin),
                                      written,
                                      pieces.substr(end)};
    std::size_t size = 0;
    for (const std::string_view part : parts) size += part.size();
    return {size, [&](char* out) {
              for (const std::string_view part : parts)
                out = std::copy(part.begin(), part.end(), out);
            }};
  }

  Head head;
  std::string_view sample, pieces;
};

SharedBytes AlikeBytes::at(Number number) const {
  if (number / kPieces >= pages_.size()) return {};
  const Page page(pages_[number / kPieces]);
  const std::uint16_t length = page.head.lengths[number % kPieces];
  if (length == kApart) return apart_.at(number);
  if (length == 0) return {};
  const std::string_view written = page.written(number % kPieces);
  const std::size_t size = likeness::size_of(written);
  return {size, [&](char* out) { likeness::read(page.sample, written, size, out); }};
}

void AlikeBytes::read_begin(Number number, std::size_t count, std::string& begin) const {
  begin.clear();
  if (number / kPieces >= pages_.size()) return;
  const Page page(pages_[number / kPieces]);
  const std::uint16_t length = page.head.lengths[number % kPieces];
  if (length == kApart) {
    begin = apart_.at(number).view().substr(0, count);
  } else if (length != 0) {
    const std::string_view written = page.written(number % kPieces);
    begin.resize(std::min(count, likeness::size_of(written)));
    likeness::read(page.sample, written, begin.size(), begin.data());
  }
}

void AlikeBytes::set(Number number, std::string_view bytes) {
  const std::size_t piece = number % kPieces;
  if (number / kPieces >= pages_.size()) pages_.resize(number / kPieces + 1);
  SharedBytes& stored = pages_[number / kPieces];
  Page page(stored);
  const std::string_view itself = bytes.substr(0, kLongestSample);
  if (!stored) page.sample = itself;
  std::string written;
  if (page.sample.size() + bytes.size() <= likeness::kLongest) {
    likeness::write(page.sample, bytes, written);
  }
  const bool is_apart = written.empty() || written.size() > kLongestWritten;
  if (is_apart) {
    apart_[number] = SharedBytes(bytes);
    stored = page.with(piece, {}, kApart);
    return;
  }
  if (page.head.lengths[piece] == kApart) apart_.erase(number);
  stored = page.with(piece, written, static_cast<std::uint16_t>(written.size()));
  // What is first in a page is often not yet what all of them will be like.
  const std::size_t length = sum_of(Page(stored).head, kPieces);
  if (length > page.head.settled * std::size_t{3} / 2 + 1024) stored = settled(stored, itself);
}

void AlikeBytes::clear(Number number) {
  if (number / kPieces >= pages_.size()) return;
  SharedBytes& stored = pages_[number / kPieces];
  const Page page(stored);
  const std::size_t piece = number % kPieces;
  if (page.head.lengths[piece] == 0) return;
  if (page.head.lengths[piece] == kApart) apart_.erase(number);
  SharedBytes rest = page.with(piece, {}, 0);
  stored = Page(rest).is_empty() ? SharedBytes() : std::move(rest);
}

std::size_t AlikeBytes::taken() const {
  std::size_t taken = 0;
  for (const SharedBytes& page : pages_) taken += page.view().size();
  for (const auto& [number, piece] : apart_) taken += piece.view().size();
  return taken;
}

SharedBytes AlikeBytes::settled(const SharedBytes& stored, std::string_view sample) {
  Page page(stored), other = page;
  other.sample = sample;
  std::string piece, pieces;
  bool is_better = true;
  for (std::size_t i = 0; is_better && i < kPieces; ++i) {
    const std::string_view written = page.written(i);
    if (written.empty()) continue;
    piece.resize(likeness::size_of(written));
    likeness::read(page.sample, written, piece.size(), piece.data());
    const std::size_t before = pieces.size();
    is_better = sample.size() + piece.size() <= likeness::kLongest;
    if (!is_better) break;
    likeness::write(sample, piece, pieces);
    is_better = pieces.size() - before <= kLongestWritten;
    other.head.lengths[i] = static_cast<std::uint16_t>(pieces.size() - before);
  }
  other.pieces = pieces;
  const auto size_of = [](const Page& of) { return of.sample.size() + of.pieces.size(); };
  if (is_better && size_of(other) < size_of(page)) page = other;
  page.head.settled = static_cast<std::uint32_t>(page.pieces.size());
  return page.with(0, page.written(0), page.head.lengths[0]);
}

}  // namespace cdom::base
