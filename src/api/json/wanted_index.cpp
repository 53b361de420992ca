#include "wanted_index.h"

namespace cdom::api {

WantedIndex::WantedIndex(const Wanted& wanted)
    : everything_(wanted.everything), as_text_(wanted.as_text) {
  texts_.reserve(wanted.members.size());
  members_.reserve(wanted.members.size());
  for (const auto& [name, member] : wanted.members) {
    names_.emplace_back(texts_.emplace_back(name));
    members_.emplace_back(member);
  }
}

const WantedIndex& WantedIndex::all() {
  static const WantedIndex all(Wanted{.everything = true});
  return all;
}

}  // namespace cdom::api
