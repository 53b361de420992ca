// Listed: what a list brings to a Store, and what of it is news.
//
// Objects lie in the form in which the store keeps them, and never all of them are unpacked.
#pragma once

#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

#include "compute_domain/kube/kept.h"

namespace cdom::kube {

// One change of a store: null `before` means added, null `after` deleted. Where objects are packed
// and nothing but the resource version has changed, `before` is `after`.
template <class T>
struct Change {
  std::shared_ptr<const T> before, after;
};

// Objects in the order in which they were listed, in the slots from 0 on.
template <class T, template <class> class Form>
class Listed {
 public:
  using Kept = typename Form<T>::Kept;
  using Shelf = typename Form<T>::Shelf;

  Listed() = default;
  Listed(const std::vector<Kept>& objects) {  // NOLINT(google-explicit-constructor): the same
    for (const Kept& object : objects) push_back(object);
  }
  void push_back(const Kept& object) { shelf_.set(size_++, object); }

  [[nodiscard]] Slot size() const { return size_; }
  [[nodiscard]] const Shelf& shelf() const { return shelf_; }

 private:
  Shelf shelf_;
  Slot size_ = 0;
};

// Which of them were not in the store as they are, and which of the store they were not.
template <class T, template <class> class Form>
class ListChanges {
 public:
  using Kept = typename Form<T>::Kept;

  explicit ListChanges(Listed<T, Form> listed) : listed_(std::move(listed)) {}
  void add(Kept before, Slot after) { changes_.push_back({std::move(before), after}); }
  void add_gone(Kept before) { changes_.push_back({std::move(before), kGone}); }

  [[nodiscard]] const Listed<T, Form>& listed() const { return listed_; }
  [[nodiscard]] std::size_t size() const { return changes_.size(); }
  // Shows each as a Change<T>, one after the other.
  template <class Visit>
  void for_each(const Visit& visit) const {
    for (const auto& [before, slot] : changes_) {
      const Kept after = slot == kGone ? Kept{} : listed_.shelf().at(slot);
      const auto now = Form<T>::open(after);
      const bool is_newer =
          before && after && Form<T>::difference(before, after) != Difference::Unknown;
      visit(Change<T>{is_newer ? now : Form<T>::open(before), now});
    }
  }

 private:
  static constexpr Slot kGone = ~Slot{0};
  struct KeptChange {
    Kept before;
    Slot after;
  };

  Listed<T, Form> listed_;
  std::vector<KeptChange> changes_;
};

}  // namespace cdom::kube
