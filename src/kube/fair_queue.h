// FairQueue: what waits, by whose it is. Owners take turns, each with its oldest first.
//
// It holds a bounded number. When it is full, the owner that has most in it loses its newest in
// favour of one that has fewer, so that none can keep out the others. One thread.
#pragma once

#include <algorithm>
#include <cstddef>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <utility>

namespace cdom::kube {

template <class T>
class FairQueue {
 public:
  explicit FairQueue(std::size_t limit) : limit_(limit) {}

  [[nodiscard]] bool is_empty() const { return turns_.empty(); }
  // Whether there is room for one more of this owner, or another one can make room.
  [[nodiscard]] bool has_place(const std::string& owner) const {
    return size_ < limit_ || items_.at(fullest()).size() > count_of(owner) + 1;
  }
  // There has to be a place. Gives what made room for it: never the first of its owner.
  std::optional<T> push(const std::string& owner, T item) {
    std::optional<T> lost;
    if (size_ >= limit_) {
      std::deque<T>& most = items_.at(fullest());
      lost = std::move(most.back());
      most.pop_back();
      --size_;
    }
    std::deque<T>& own = items_[owner];
    if (own.empty()) turns_.push_back(owner);
    own.push_back(std::move(item));
    ++size_;
    return lost;
  }
  // Whose turn it is: there has to be one.
  [[nodiscard]] const T& front() const { return items_.at(turns_.front()).front(); }
  // Ends that turn. With `again` the item comes once more, after the others of its owner.
  void pop(bool again) {
    const auto own = items_.find(turns_.front());
    turns_.pop_front();
    if (again) {
      own->second.push_back(own->second.front());
    } else {
      --size_;
    }
    own->second.pop_front();
    if (own->second.empty()) {
      items_.erase(own);
    } else {
      turns_.push_back(own->first);
    }
  }

 private:
  [[nodiscard]] std::size_t count_of(const std::string& owner) const {
    const auto it = items_.find(owner);
    return it == items_.end() ? 0 : it->second.size();
  }
  [[nodiscard]] const std::string& fullest() const {
    return std::ranges::max_element(items_, {}, [](const auto& of) { return of.second.size(); })
        ->first;
  }

  const std::size_t limit_;
  std::size_t size_ = 0;
  std::map<std::string, std::deque<T>> items_;  // by owner; none is empty
  std::deque<std::string> turns_;               // the owners that have items
};

}  // namespace cdom::kube
