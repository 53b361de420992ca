// WantedIndex: what of a document is read (json_text.h), to be asked for each member that comes.
// Immutable: may be shared.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "api/json/json_name.h"
#include "api/json/json_text.h"

namespace cdom::api {

class WantedIndex {
 public:
  explicit WantedIndex(const Wanted& wanted);
  WantedIndex(WantedIndex&&) noexcept = default;

  // Also of members that nobody has named.
  [[nodiscard]] bool is_everything() const { return everything_; }
  [[nodiscard]] bool is_text() const { return as_text_; }
  // What is read of a member; nullptr: nothing.
  struct Member {
    const WantedIndex* wanted;
    std::size_t index;  // that no other has, or kNoIndex
  };
  static constexpr std::size_t kNoIndex = SIZE_MAX;
  [[nodiscard]] Member of(const JsonName& name) const {
    for (std::size_t i = 0; i < names_.size(); ++i) {
      if (names_[i] == name) return {&members_[i], i};
    }
    return {everything_ ? &all() : nullptr, kNoIndex};
  }

 private:
  static const WantedIndex& all();

  bool everything_, as_text_;
  std::vector<std::string> texts_;
  std::vector<JsonName> names_;       // in texts_
  std::vector<WantedIndex> members_;  // in the same order
};

// The same in the form that each of the two readers takes.
struct WantedDocument {
  explicit WantedDocument(Wanted wanted) : all(std::move(wanted)), index(all) {}

  Wanted all;
  WantedIndex index;
};

}  // namespace cdom::api
