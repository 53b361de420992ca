// Intern: values by number, so that a State can hold them as bytes. Equal values have one number.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "core/model/state.h"

namespace cdom::core::model {

template <class T>
class Intern {
 public:
  // `text` says all of the value.
  Id put(const std::string& text, T value) {
    const auto [it, is_new] = ids_.try_emplace(text, static_cast<Id>(values_.size() + 1));
    if (is_new) values_.push_back(std::move(value));
    return it->second;
  }
  [[nodiscard]] const T& at(Id id) const { return values_.at(id - 1); }

 private:
  std::map<std::string, Id> ids_;
  std::vector<T> values_;
};

}  // namespace cdom::core::model
