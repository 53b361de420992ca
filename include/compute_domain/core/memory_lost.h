// What the end of an IMEX daemon means for pods that used it: agents write this text into their
// reports, and the controller and the kubectl plugin find it there and name the pods.
#pragma once

#include <string_view>

namespace cdom::core {

inline constexpr char kMemoryLost[] =
    "pods there have lost the memory that they imported and have to start again";

inline bool tells_of_loss(std::string_view text) {
  return text.find(kMemoryLost) != std::string_view::npos;
}

}  // namespace cdom::core
