// Which reasons of the Ready condition are worse than a domain that forms. Pure.
#pragma once

#include <string_view>

namespace cdom::core {

bool is_severe(std::string_view reason);

}  // namespace cdom::core
