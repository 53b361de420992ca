// What the end of an IMEX daemon means for those who used it: said by agents in their reports, and
// known again by the controller, which tells the pods.
#pragma once

namespace cdom::core {

inline constexpr char kMemoryLost[] =
    "pods there have lost the memory that they imported and have to start again";

}  // namespace cdom::core
