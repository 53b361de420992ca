// FairQueue: what waits, by whose it is. Owners take turns, each with its oldest first; one that is
// put off is passed over until it is due.
//
// It holds a bounded number. When it is full, the owner that has most in it loses its newest in
// favour of one that has fewer, so that none can keep out the others. Nothing is kept of an owner
// that has nothing in it. All times are of Clock::elapsed(). One thread.
#pragma once

#include <algorithm>
#include <cstddef>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "compute_domain/base/clock.h"

namespace cdom::kube {

template <class T>
class FairQueue {
 public:
  explicit FairQueue(std::size_t limit) : limit_(limit) {}

  [[nodiscard]] bool is_empty() const { return turns_.empty(); }
  // Whether there is room for one more of this owner, or another one can make room.
  [[nodiscard]] bool has_place(const std::string& owner) const {
    return size_ < limit_ || owners_.at(fullest()).items.size() > count_of(owner) + 1;
  }
  // There has to be a place. Gives what made room for it: never the first of its owner.
  std::optional<T> push(const std::string& owner, T item) {
    std::optional<T> lost;
    if (size_ >= limit_) {
      std::deque<T>& most = owners_.at(fullest()).items;
      lost = std::move(most.back());
      most.pop_back();
      --size_;
    }
    std::deque<T>& own = owners_[owner].items;
    if (own.empty()) turns_.push_back(owner);
    own.push_back(std::move(item));
    ++size_;
    return lost;
  }
  // Whose turn it is; nullopt: nobody is due.
  [[nodiscard]] std::optional<std::string> due(base::Duration now) const {
    const auto it = std::ranges::find_if(
        turns_, [&](const std::string& owner) { return owners_.at(owner).not_before <= now; });
    if (it == turns_.end()) return std::nullopt;
    return *it;
  }
  // When the first of them is due; nullopt: it is empty.
  [[nodiscard]] std::optional<base::Duration> next_due() const {
    std::optional<base::Duration> earliest;
    for (const auto& [name, owner] : owners_) {
      earliest = std::min(earliest.value_or(owner.not_before), owner.not_before);
    }
    return earliest;
  }

  // Of an owner that has something in it, here and below.
  [[nodiscard]] const T& front(const std::string& owner) const {
    return owners_.at(owner).items.front();
  }
  // How often that one has been put off.
  [[nodiscard]] int times_put_off(const std::string& owner) const {
    return owners_.at(owner).times_put_off;
  }
  // Ends the owner's turn. With `again` the item comes once more, after the others of its owner.
  void pop(const std::string& owner, bool again) {
    end_turn(owner);
    Owner& own = owners_.at(owner);
    own.times_put_off = 0;
    if (again) {
      own.items.push_back(own.items.front());
    } else {
      --size_;
    }
    own.items.pop_front();
    if (!own.items.empty()) return;
    owners_.erase(owner);
    turns_.pop_back();
  }
  // Ends the owner's turn with the same item in front; its next one comes no sooner than that.
  void put_off(const std::string& owner, base::Duration not_before) {
    end_turn(owner);
    Owner& own = owners_.at(owner);
    own.not_before = not_before;
    ++own.times_put_off;
  }

 private:
  struct Owner {
    std::deque<T> items;
    base::Duration not_before{};
    int times_put_off = 0;  // the first of them
  };

  void end_turn(const std::string& owner) {
    const auto it = std::ranges::find(turns_, owner);
    std::rotate(it, it + 1, turns_.end());
  }
  [[nodiscard]] std::size_t count_of(const std::string& owner) const {
    const auto it = owners_.find(owner);
    return it == owners_.end() ? 0 : it->second.items.size();
  }
  [[nodiscard]] const std::string& fullest() const {
    return std::ranges::max_element(owners_, {},
                                    [](const auto& of) { return of.second.items.size(); })
        ->first;
  }

  const std::size_t limit_;
  std::size_t size_ = 0;
  std::map<std::string, Owner> owners_;  // that have items
  std::deque<std::string> turns_;        // the same
};

}  // namespace cdom::kube
