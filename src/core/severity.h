// Which reasons of the Ready condition are worse than a domain that forms. Pure.
#pragma once

#include <string_view>

namespace cdom::core {

bool is_severe(std::string_view reason);

// Of two states of one member that both have an Event.
bool is_worse(std::string_view reason, std::string_view than);

}  // namespace cdom::core
