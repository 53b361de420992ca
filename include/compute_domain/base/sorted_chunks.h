// SortedChunks: many small values in an order, in little more memory than they take themselves.
//
// They lie in chunks of up to 256, so that it costs the same few steps to find, to add and to
// remove one of a dozen and one of a million. The order is its user's: each call brings a question
// that says which values come earlier. Where it takes long to answer that of a value, a chunk may
// have a mark of its last one, of which it can be asked faster. Not thread-safe.
#pragma once

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <utility>
#include <vector>

namespace cdom::base {

struct Unmarked {};

template <class T, class Mark = Unmarked>
class SortedChunks {
  struct Chunk {
    std::vector<T> values;  // never none
    [[no_unique_address]] Mark last{};
  };

 public:
  // A place among the values. It is lost when a value is added or removed.
  class Place {
   public:
    const T& operator*() const { return (*chunks_)[chunk_].values[at_]; }
    Place& operator++() {
      if (++at_ == (*chunks_)[chunk_].values.size()) {
        ++chunk_;
        at_ = 0;
      }
      return *this;
    }
    friend bool operator==(const Place& a, const Place& b) {
      return a.chunk_ == b.chunk_ && a.at_ == b.at_;
    }

   private:
    friend SortedChunks;
    Place(const std::vector<Chunk>& chunks, std::size_t chunk, std::size_t at)
        : chunks_(&chunks), chunk_(chunk), at_(at) {}

    const std::vector<Chunk>* chunks_;
    std::size_t chunk_, at_;
  };

  [[nodiscard]] Place begin() const { return {chunks_, 0, 0}; }
  [[nodiscard]] Place end() const { return {chunks_, chunks_.size(), 0}; }
  [[nodiscard]] std::size_t size() const { return size_; }

  // The first value of which `is_earlier` is false; it is true of all values before that one.
  template <class IsEarlier>
  [[nodiscard]] Place first_not(const IsEarlier& is_earlier) const {
    return first_in(is_earlier,
                    [&](const Chunk& chunk) { return is_earlier(chunk.values.back()); });
  }
  // The same; `is_marked_earlier` answers for the value that a mark is of.
  template <class IsEarlier, class IsMarkedEarlier>
  [[nodiscard]] Place first_not(const IsEarlier& is_earlier,
                                const IsMarkedEarlier& is_marked_earlier) const {
    return first_in(is_earlier, [&](const Chunk& chunk) { return is_marked_earlier(chunk.last); });
  }

  // The value that `is_it` says is the one, or end(). It looks at one chunk alone, at each value in
  // it: of use where `is_it` says mostly no, and that fast.
  template <class IsMarkedEarlier, class IsIt>
  [[nodiscard]] Place find(const IsMarkedEarlier& is_marked_earlier, const IsIt& is_it) const {
    const auto chunk = std::ranges::partition_point(
        chunks_, [&](const Chunk& each) { return is_marked_earlier(each.last); });
    if (chunk == chunks_.end()) return end();
    const auto at = std::ranges::find_if(chunk->values, is_it);
    if (at == chunk->values.end()) return end();
    return {chunks_, static_cast<std::size_t>(chunk - chunks_.begin()),
            static_cast<std::size_t>(at - chunk->values.begin())};
  }

  // Adds a value in front of `place`; `mark_of` makes the mark of a value.
  template <class MarkOf>
  void insert(Place place, T value, const MarkOf& mark_of);
  template <class MarkOf>
  void erase(const Place& place, const MarkOf& mark_of);
  void insert(Place place, T value) { insert(place, std::move(value), kUnmarked); }
  void erase(const Place& place) { erase(place, kUnmarked); }

 private:
  static constexpr std::size_t kMost = 256;
  static constexpr auto kUnmarked = [](const T& /*value*/) { return Unmarked{}; };

  template <class IsEarlier, class IsEarlierChunk>
  [[nodiscard]] Place first_in(const IsEarlier& is_earlier,
                               const IsEarlierChunk& is_earlier_chunk) const {
    const auto chunk = std::ranges::partition_point(chunks_, is_earlier_chunk);
    if (chunk == chunks_.end()) return end();
    const auto at = std::ranges::partition_point(chunk->values, is_earlier);
    return {chunks_, static_cast<std::size_t>(chunk - chunks_.begin()),
            static_cast<std::size_t>(at - chunk->values.begin())};
  }

  std::vector<Chunk> chunks_;
  std::size_t size_ = 0;
};

template <class T, class Mark>
template <class MarkOf>
void SortedChunks<T, Mark>::insert(Place place, T value, const MarkOf& mark_of) {
  if (place == end()) {
    if (chunks_.empty() || chunks_.back().values.size() == kMost) {
      // What comes in order fills chunk after chunk.
      Chunk rest{{}, mark_of(value)};
      rest.values.push_back(std::move(value));
      chunks_.push_back(std::move(rest));
      ++size_;
      return;
    }
    place = {chunks_, chunks_.size() - 1, chunks_.back().values.size()};
  }
  if (chunks_[place.chunk_].values.size() == kMost) {
    // What does not come in order halves one.
    constexpr std::size_t kKept = kMost / 2;
    Chunk& full = chunks_[place.chunk_];
    const auto from = full.values.begin() + static_cast<std::ptrdiff_t>(kKept);
    Chunk rest{std::vector<T>(from, full.values.end()), full.last};
    Mark last = mark_of(full.values[kKept - 1]);
    chunks_.insert(chunks_.begin() + static_cast<std::ptrdiff_t>(place.chunk_) + 1,
                   std::move(rest));
    Chunk& kept = chunks_[place.chunk_];
    kept.values.erase(kept.values.begin() + static_cast<std::ptrdiff_t>(kKept), kept.values.end());
    kept.last = std::move(last);
    if (place.at_ >= kKept) place = {chunks_, place.chunk_ + 1, place.at_ - kKept};
  }
  Chunk& chunk = chunks_[place.chunk_];
  std::vector<T>& values = chunk.values;
  if (place.at_ == values.size()) {
    Mark last = mark_of(value);
    values.push_back(std::move(value));
    chunk.last = std::move(last);
  } else {
    values.insert(values.begin() + static_cast<std::ptrdiff_t>(place.at_), std::move(value));
  }
  ++size_;
}

template <class T, class Mark>
template <class MarkOf>
void SortedChunks<T, Mark>::erase(const Place& place, const MarkOf& mark_of) {
  --size_;
  Chunk& chunk = chunks_[place.chunk_];
  std::vector<T>& values = chunk.values;
  values.erase(values.begin() + static_cast<std::ptrdiff_t>(place.at_));
  const auto here = chunks_.begin() + static_cast<std::ptrdiff_t>(place.chunk_);
  if (values.empty()) {
    chunks_.erase(here);
    return;
  }
  if (place.at_ == values.size()) chunk.last = mark_of(values.back());
  if (here + 1 != chunks_.end() && values.size() + here[1].values.size() <= kMost / 2) {
    values.insert(values.end(), here[1].values.begin(), here[1].values.end());
    chunk.last = std::move(here[1].last);
    chunks_.erase(here + 1);
  }
}

}  // namespace cdom::base
