// JsonPath: where a field stands in an object, as it is written in documentation:
// "status.nodeInfo.bootID", or "status.conditions[type=Ready].status" for the element of a list
// that has a key. Parsed at compile time; a value.
#pragma once

#include <array>
#include <stdexcept>
#include <string_view>

#include "api/json/json_name.h"

namespace cdom::api {

struct JsonStep {
  JsonName name;
  // In a list: takes the element whose member `key` is `value`. Empty: not a list.
  JsonName key;
  std::string_view value;

  [[nodiscard]] constexpr bool is_selection() const { return !key.text.empty(); }
};

class JsonPath {
 public:
  consteval JsonPath(const char* text) {  // NOLINT(google-explicit-constructor)
    for (std::string_view rest = text; !rest.empty();) rest = parse_step(rest);
  }

  [[nodiscard]] constexpr const JsonStep* begin() const { return steps_.data(); }
  [[nodiscard]] constexpr const JsonStep* end() const { return steps_.data() + size_; }

 private:
  // Takes one step off `rest`; a selection's value may hold dots, a name may not.
  constexpr std::string_view parse_step(std::string_view rest) {
    if (size_ == steps_.size()) throw std::logic_error("path too deep");
    JsonStep& step = steps_[size_++];
    const auto name_end = rest.find_first_of(".[");
    step.name = JsonName(rest.substr(0, name_end));
    if (name_end == std::string_view::npos) return {};
    if (rest[name_end] == '.') return rest.substr(name_end + 1);

    const auto equals = rest.find('=', name_end);
    const auto close = rest.find(']', equals);
    step.key = JsonName(rest.substr(name_end + 1, equals - name_end - 1));
    step.value = rest.substr(equals + 1, close - equals - 1);
    return close + 1 < rest.size() ? rest.substr(close + 2) : std::string_view{};
  }

  std::array<JsonStep, 4> steps_{};
  std::size_t size_ = 0;
};

}  // namespace cdom::api
