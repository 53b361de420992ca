// SortedChunks: many small values in an order, in little more memory than they take themselves.
//
// They lie in chunks of up to 256, so that it costs the same few steps to find, to add and to
// remove one of a dozen and one of a million. The order is its user's: each call brings a question
// that says which values come earlier. Not thread-safe.
#pragma once

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <utility>
#include <vector>

namespace cdom::base {

template <class T>
class SortedChunks {
 public:
  // A place among the values. It is lost when a value is added or removed.
  class Place {
   public:
    const T& operator*() const { return (*chunks_)[chunk_][at_]; }
    Place& operator++() {
      if (++at_ == (*chunks_)[chunk_].size()) {
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
    Place(const std::vector<std::vector<T>>& chunks, std::size_t chunk, std::size_t at)
        : chunks_(&chunks), chunk_(chunk), at_(at) {}

    const std::vector<std::vector<T>>* chunks_;
    std::size_t chunk_, at_;
  };

  [[nodiscard]] Place begin() const { return {chunks_, 0, 0}; }
  [[nodiscard]] Place end() const { return {chunks_, chunks_.size(), 0}; }
  [[nodiscard]] std::size_t size() const { return size_; }

  // The first value of which `is_earlier` is false; it is true of all values before that one.
  template <class IsEarlier>
  [[nodiscard]] Place first_not(const IsEarlier& is_earlier) const {
    const auto chunk = std::ranges::partition_point(
        chunks_, [&](const std::vector<T>& values) { return is_earlier(values.back()); });
    if (chunk == chunks_.end()) return end();
    const auto at = std::ranges::partition_point(*chunk, is_earlier);
    return {chunks_, static_cast<std::size_t>(chunk - chunks_.begin()),
            static_cast<std::size_t>(at - chunk->begin())};
  }

  // Adds a value in front of `place`.
  void insert(Place place, T value);
  void erase(const Place& place);

 private:
  static constexpr std::size_t kMost = 256;

  std::vector<std::vector<T>> chunks_;  // none is empty
  std::size_t size_ = 0;
};

template <class T>
void SortedChunks<T>::insert(Place place, T value) {
  ++size_;
  if (chunks_.empty()) {
    chunks_.push_back({std::move(value)});
    return;
  }
  if (place == end()) place = {chunks_, chunks_.size() - 1, chunks_.back().size()};
  if (chunks_[place.chunk_].size() == kMost) {
    // What comes in order fills chunk after chunk; what does not halves one.
    const bool is_last = place.chunk_ + 1 == chunks_.size() && place.at_ == kMost;
    const std::size_t kept = is_last ? kMost : kMost / 2;
    std::vector<T> rest;
    rest.reserve(kMost);
    const auto from = chunks_[place.chunk_].begin() + static_cast<std::ptrdiff_t>(kept);
    std::move(from, chunks_[place.chunk_].end(), std::back_inserter(rest));
    chunks_[place.chunk_].erase(from, chunks_[place.chunk_].end());
    chunks_.insert(chunks_.begin() + static_cast<std::ptrdiff_t>(place.chunk_) + 1,
                   std::move(rest));
    if (place.at_ >= kept) place = {chunks_, place.chunk_ + 1, place.at_ - kept};
  }
  std::vector<T>& chunk = chunks_[place.chunk_];
  chunk.insert(chunk.begin() + static_cast<std::ptrdiff_t>(place.at_), std::move(value));
}

template <class T>
void SortedChunks<T>::erase(const Place& place) {
  --size_;
  std::vector<T>& chunk = chunks_[place.chunk_];
  chunk.erase(chunk.begin() + static_cast<std::ptrdiff_t>(place.at_));
  const auto here = chunks_.begin() + static_cast<std::ptrdiff_t>(place.chunk_);
  if (chunk.empty()) {
    chunks_.erase(here);
  } else if (here + 1 != chunks_.end() && chunk.size() + here[1].size() <= kMost / 2) {
    chunk.insert(chunk.end(), here[1].begin(), here[1].end());
    chunks_.erase(here + 1);
  }
}

}  // namespace cdom::base
