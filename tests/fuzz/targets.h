// Fuzz targets: the decoders of bytes that come from outside, each with the laws that hold whatever
// comes. One that is broken ends the process, as a crash does.
#pragma once

#include <string_view>
#include <vector>

namespace cdom::fuzz {

struct Target {
  std::string_view name;  // of its folder in tests/fuzz/corpus
  void (*run)(std::string_view bytes);
};
const std::vector<Target>& targets();

}  // namespace cdom::fuzz
